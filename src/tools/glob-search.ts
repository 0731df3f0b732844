import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { counted } from '../core/counted.ts'
import { ToolError } from '../core/errors.ts'
import { compileGlob } from '../core/glob.ts'
import { absolutePath, realPathOf } from '../core/real-path.ts'
import { defineTool, type ToolContext, type ToolOutput } from '../core/tool.ts'
import { toolPath } from './file-path.ts'
import { labelOf, resultPath, shownPath } from './result-path.ts'
import { modificationTimes } from './search/modification-times.ts'
import { countFitting } from './search/page-limit.ts'
import { type WalkResult, walk } from './search/walk.ts'

const TIME_LIMIT_MS = 30_000
/** For finding out why nothing matches. */
const HINT_MS = 1000
const MOST_RESULTS = 100_000

const input = () =>
  z.object({
    pattern: z
      .string()
      .min(1)
      .max(4096)
      .describe(
        'Glob over the path below base_dir: "**/*.ts", "src/**/*.{js,jsx}", "**/@(a|b)*.md". "*.ts" matches only in base_dir itself.',
      ),
    base_dir: z
      .string()
      .min(1)
      .default('.')
      .describe('Folder to search in; the working folder when left out.'),
    max_results: z.int().min(1).default(1000).describe('Maximum number of paths to return, up to 100,000.'),
    offset: z.int().min(0).default(0).describe('Paths to skip: next_offset of the call before.'),
    sort: z
      .enum(['modified', 'path', 'none'])
      .default('modified')
      .describe('modified: newest first. none: fastest, in no particular order.'),
    include_ignored: z
      .boolean()
      .default(false)
      .describe('Also files that .gitignore leaves out, .git and .kogu.'),
    include_hidden: z.boolean().default(true).describe('Also names that begin with a dot.'),
  })

type Input = z.output<ReturnType<typeof input>>

export const globSearch = defineTool({
  name: 'glob_search',
  aliases: ['Glob', 'glob', 'find_files'],
  parameterAliases: {
    path: 'base_dir',
    directory: 'base_dir',
    cwd: 'base_dir',
    limit: 'max_results',
    head_limit: 'max_results',
    no_ignore: 'include_ignored',
    cursor: { to: 'offset', convert: value => (typeof value === 'string' ? Number(value) : value) },
  },
  title: 'Find files',
  description:
    'Find files by name with a glob pattern, newest first. Leaves out what .gitignore names, .git and .kogu; hidden files are included. Finds files only, does not follow links. ' +
    'Use grep_search to search inside files, list_directory for one folder.',
  category: 'ReadOnly',
  risk: 'low',
  parallel: true,
  input,
  output: {
    files: { type: 'array', items: { type: 'string' } },
    total: { type: 'integer' },
    truncated: { type: 'boolean' },
  },
  access: (wanted, { cwd }) => [{ kind: 'file_read', path: startOf(wanted, cwd) }],
  run: search,
})

/** The folder that the walk begins in: the base folder with the literal beginning of the pattern. */
function startOf({ pattern, base_dir }: Pick<Input, 'pattern' | 'base_dir'>, cwd: string): string {
  return absolutePath(compileGlob(pattern).root || '.', toolPath(base_dir, cwd))
}

async function search(given: Input, context: ToolContext): Promise<ToolOutput> {
  context.signal.throwIfAborted()
  const wanted = { ...given, max_results: Math.min(given.max_results, MOST_RESULTS) }
  const started = performance.now()
  const asked = startOf(wanted, context.cwd)
  const start = context.permit.judged(asked)
  if (start === undefined) throw new ToolError('forbidden', `This call may not search ${asked}`)
  requireFolder(wanted, start, context)
  const found = await findFiles(start, wanted, started + TIME_LIMIT_MS, context)
  const { files } = found
  const hidden =
    files.length === 0 && !wanted.include_hidden
      ? await findFiles(start, { ...wanted, include_hidden: true }, performance.now() + HINT_MS, context)
      : undefined
  const page = await pageOf(files, wanted, start, context.signal)
  return toOutput(
    wanted,
    { ...found, start, total: files.length, page, hidden: hidden?.files.length ?? 0 },
    context,
  )
}

/** What matches and may be read. */
async function findFiles(
  start: string,
  { pattern, include_ignored, include_hidden }: Input,
  deadline: number,
  { signal, permit: { mayRead } }: ToolContext,
): Promise<WalkResult> {
  const found = await walk(start, {
    pattern: compileGlob(pattern),
    includeIgnored: include_ignored,
    includeHidden: include_hidden,
    signal,
    deadline,
  })
  const prefix = start === '/' ? '/' : `${start}/`
  const files = found.files.filter(
    path => mayRead(prefix + path) && (!found.links.has(path) || leadsToReadable(prefix + path, mayRead)),
  )
  return { ...found, files }
}

/** A missing base folder is a mistake; a missing folder in the pattern only means that nothing matches. */
function requireFolder({ base_dir }: Input, start: string, context: ToolContext): void {
  const base = context.files.resolve(base_dir)
  const stat = lstatSync(realPathOf(base), { throwIfNoEntry: false })
  if (stat?.isDirectory() === true) return
  const what = stat === undefined ? 'No such folder' : 'This is not a folder'
  throw new ToolError(
    stat === undefined ? 'not_found' : 'invalid_input',
    `${what}: ${shownPath(resultPath(base, context))}`,
    {
      hint: start === base ? 'Look around with list_directory.' : 'base_dir must be an existing folder.',
    },
  )
}

/** A link to a file counts as what it leads to, which a rule may hide. */
function leadsToReadable(path: string, mayRead: (real: string) => boolean): boolean {
  try {
    const target = realPathOf(path)
    return mayRead(target) && lstatSync(target).isFile()
  } catch {
    // Leads nowhere.
    return false
  }
}

async function pageOf(
  files: string[],
  { sort, offset, max_results }: Input,
  start: string,
  signal: AbortSignal,
): Promise<string[]> {
  if (sort === 'none') return files.slice(offset, offset + max_results)
  if (sort === 'path') return files.sort().slice(offset, offset + max_results)
  const times = await modificationTimes(start, files, signal)
  // Only what can come on the page is sorted by path as well: numbers alone sort many times faster.
  const wanted = Math.min(files.length, offset + max_results)
  const oldest = times.toSorted()[files.length - wanted] ?? 0
  const newest = files.flatMap((path, index) =>
    (times[index] ?? 0) >= oldest ? [{ path, time: times[index] ?? 0 }] : [],
  )
  newest.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1))
  return newest.slice(offset, wanted).map(({ path }) => path)
}

interface Found {
  readonly start: string
  readonly page: readonly string[]
  readonly total: number
  /** Hidden files that match, when no other does and they were not asked for. */
  readonly hidden: number
  readonly unreadable: number
  readonly timedOut: boolean
}

function toOutput(
  wanted: Input,
  { start, page, total, hidden, unreadable, timedOut }: Found,
  context: ToolContext,
): ToolOutput {
  const base = resultPath(start, context)
  const found = page.map(path => (base === '.' ? path : join(base, path)))
  const lines = found.map(shownPath)
  const paths = found.slice(0, countFitting(lines))
  const next = wanted.offset + paths.length
  const truncated = next < total
  const isCut = paths.length < found.length ? ' (a result has at most 50 KB)' : ''
  const more = truncated
    ? ` Showing ${wanted.offset + 1} to ${next}; continue with offset: ${next}${isCut}.`
    : ''
  const notes = [
    timedOut ? 'The search was stopped after 30 seconds: there may be more.' : '',
    page.length === 0 && total > 0 ? `None from offset ${wanted.offset} on.` : '',
    unreadable > 0 ? `${counted(unreadable, 'folder')} could not be read.` : '',
    total === 0 && !wanted.pattern.includes('/')
      ? `"${wanted.pattern}" matches only in the folder itself; use "**/${wanted.pattern}" for all below it.`
      : '',
    hidden > 0
      ? `${counted(hidden, 'hidden file matches', 'hidden files match')}; pass include_hidden: true to see them.`
      : '',
    total === 0 && hidden === 0 && !wanted.include_ignored
      ? 'Files that .gitignore leaves out were not looked at (include_ignored).'
      : '',
  ].filter(note => note !== '')
  const head =
    total === 0
      ? `No files match ${wanted.pattern}.`
      : `${counted(total, 'file matches', 'files match')}.${more}`
  return {
    text: [[head, ...notes].join(' '), ...lines.slice(0, paths.length)].join('\n'),
    data: {
      base: start,
      files: paths,
      total,
      returned: paths.length,
      truncated,
      next_offset: truncated ? next : null,
      timed_out: timedOut,
      unreadable_folders: unreadable,
    },
    ...labelOf(start, context),
  }
}
