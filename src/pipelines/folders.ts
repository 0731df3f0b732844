import { isAbsolute } from 'node:path'
import type { StepOutcome } from '../agents/pipelines/progress.ts'
import { ToolError } from '../core/errors.ts'
import { type Called, callOutcome } from './call-outcome.ts'

/** By the tools, so that what may not be read is not read, and the record says what was. */
type Call = (tool: string, input: unknown) => Promise<Called>

const MOST_FILES = 200
const FILE_CHARACTERS = 50_000
const MOST_CHARACTERS = 150_000
const LEFT_OUT =
  /(?:^|\/)(?:node_modules|\.git|\.svn|__pycache__|dist|build|target|\.DS_Store|Thumbs\.db)(?:\/|$)/

/** What a folder holds, three levels deep. */
export async function readFolder(folder: string, call: Call): Promise<StepOutcome> {
  const listed = await listFolder(folder, call)
  if (!listed.ok) return callOutcome(listed)
  const read: string[] = []
  let text = ''
  let untrusted: string | undefined
  for (const path of filesOf(listed, folder)) {
    if (text.length >= MOST_CHARACTERS) continue
    const file = callOutcome(await call('read_file', { path }))
    // Binary or sensitive files are left out, as a person's summary would.
    if (!file.ok) continue
    text += `## ${path}\n${file.text.slice(0, FILE_CHARACTERS)}\n\n`
    read.push(path)
    // A folder outside of the workspace holds words of others.
    untrusted ??= file.untrusted
  }
  const from = untrusted === undefined ? {} : { untrusted }
  return { ok: true, text: text.slice(0, MOST_CHARACTERS), data: { files: read }, ...from }
}

export function listFolder(folder: string, call: Call): Promise<Called> {
  return call('glob_search', { pattern: '{*,*/*,*/*/*}', base_dir: folder, max_results: MOST_FILES })
}

/** Those that are read, of what `listFolder` found. A repository can bring a link whose name looks like one of its folders. */
export function filesOf({ data }: Called, folder: string): string[] {
  const { files } = data as { files: string[] }
  const isOwn = !isAbsolute(folder) && !folder.split('/').includes('..')
  if (isOwn && files.some(path => isAbsolute(path)))
    throw new ToolError('forbidden', `The folder '${folder}' is a link that leads out of the workspace.`)
  return files.filter(path => !LEFT_OUT.test(path)).toSorted()
}
