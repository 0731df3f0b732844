import { readdirSync } from 'node:fs'
import * as z from 'zod'
import { counted } from '../core/counted.ts'
import { ToolError } from '../core/errors.ts'
import type { DirectoryEntry } from '../core/files.ts'
import { defineTool, type ToolContext } from '../core/tool.ts'
import { toolPath } from './file-path.ts'
import { explainMissing } from './missing-file.ts'
import { labelOf, resultPath, shownPath } from './result-path.ts'
import { countFitting } from './search/page-limit.ts'

const input = () =>
  z.object({
    path: z.string().min(1).default('.').describe('Folder to list; the working folder when left out.'),
    limit: z.int().min(1).default(1000).describe('Maximum number of entries to return.'),
    offset: z.int().min(0).default(0).describe('Entries to skip: next_offset of the call before.'),
  })

export const listDirectory = defineTool({
  name: 'list_directory',
  aliases: ['LS', 'ls', 'list', 'list_dir', 'list_files'],
  parameterAliases: {
    directory: 'path',
    base_dir: 'path',
    dir: 'path',
    max_results: 'limit',
    head_limit: 'limit',
    cursor: { to: 'offset', convert: value => (typeof value === 'string' ? Number(value) : value) },
  },
  title: 'List folder',
  description:
    'List one folder: folders first (with a slash), then files with their size, hidden ones included. Use glob_search to find files in a whole tree.',
  category: 'ReadOnly',
  risk: 'low',
  parallel: true,
  input,
  output: {
    path: { type: 'string' },
    entries: { type: 'array', items: { type: 'object' } },
    total: { type: 'integer' },
    truncated: { type: 'boolean' },
  },
  access: ({ path }, { cwd }) => [{ kind: 'file_read', path: toolPath(path, cwd) }],
  async run({ path, limit, offset }, context) {
    const entries = await entriesOf(path, context)
    entries.sort((a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1))
    const lines = entries.slice(offset, offset + limit).map(lineOf)
    const page = entries.slice(offset, offset + countFitting(lines))
    const next = offset + page.length
    const truncated = next < entries.length
    const absolute = context.files.resolve(path)
    const real = context.permit.judged(absolute) ?? absolute
    const hidden = countHidden(real, entries.length)
    return {
      text: [
        headline(resultPath(real, context), entries.length, hidden, {
          offset,
          next,
          isCut: page.length < lines.length,
        }),
        ...lines.slice(0, page.length),
      ].join('\n'),
      data: {
        path: real,
        entries: page.map(({ name, kind, size, modifiedMs }) => ({
          name,
          kind,
          size: kind === 'file' ? size : null,
          modified: new Date(modifiedMs).toISOString(),
        })),
        total: entries.length,
        left_out: hidden,
        truncated,
        next_offset: truncated ? next : null,
      },
      ...labelOf(real, context),
    }
  },
})

/** How many entries the call may not read. Only their number is said, never a name. */
function countHidden(real: string, seen: number): number {
  return Math.max(0, readdirSync(real).length - seen)
}

function headline(
  path: string,
  total: number,
  hidden: number,
  { offset, next, isCut }: { offset: number; next: number; isCut: boolean },
): string {
  // Two dots and the full stop of the sentence would be three.
  const named = path.endsWith('.') ? `'${shownPath(path)}'` : shownPath(path)
  const folder = path === '.' ? 'the working folder' : named
  const notes = [
    total === 0 && hidden === 0
      ? `${path === '.' ? 'The working folder' : named} is empty.`
      : `${counted(total, 'entry', 'entries')} in ${folder}.`,
    next === offset && total > 0 ? `None from offset ${offset} on.` : '',
    next < total && next > offset
      ? `Showing ${offset + 1} to ${next}; continue with offset: ${next}${isCut ? ' (a result has at most 50 KB)' : ''}.`
      : '',
    hidden === 0
      ? ''
      : `${counted(hidden, 'entry', 'entries')} that may not be read ${hidden === 1 ? 'was' : 'were'} left out.`,
  ]
  return notes.filter(note => note !== '').join(' ')
}

async function entriesOf(path: string, context: ToolContext): Promise<DirectoryEntry[]> {
  try {
    return await context.files.list(path).catch(explainMissing(path, context))
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'invalid_input') throw error
    throw new ToolError('invalid_input', error.message, { hint: 'Use read_file to see what is in a file.' })
  }
}

function rankOf({ kind }: DirectoryEntry): number {
  return kind === 'directory' ? 0 : 1
}

function lineOf({ name, kind, size }: DirectoryEntry): string {
  const shown = shownPath(name)
  switch (kind) {
    case 'directory':
      return `${shown}/`
    case 'file':
      return `${shown}  ${counted(size, 'byte')}`
    case 'link':
      return `${shown}  (link)`
    case 'other':
      return `${shown}  (neither file nor folder)`
  }
}
