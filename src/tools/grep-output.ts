import { join } from 'node:path'
import type { ToolContext, ToolOutput } from '../core/tool.ts'
import { resultPath, shownPath } from './result-path.ts'
import { type FileMatches, type ShownLine, shownLines } from './search/match-stream.ts'
import { modificationTimes } from './search/modification-times.ts'
import { counted } from './text/counted.ts'

/** What of the input matters for showing the result. */
export interface GrepView {
  readonly output_mode: string
  readonly head_limit: number
  readonly offset: number
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly context?: number | undefined
  readonly line_numbers: boolean
}

export interface GrepResult {
  readonly folder: string
  readonly file: string | undefined
  readonly files: readonly FileMatches[]
  readonly fileCount: number
  /** What head_limit and offset count: files, or matching lines in the mode content. */
  readonly total: number
  readonly matches: number
  /** How far paging comes. */
  readonly reachable: number
  readonly timedOut: boolean
  /** Something could not be read. */
  readonly incomplete: boolean
  /** Ignored files that match, when no other does; 50 stands for 50 or more. */
  readonly ignored: number
}

/** Above this many, the time of every file would cost more than the search. */
const MOST_SORTED_BY_TIME = 5000
/** Text of one result; the rest comes with the next offset. */
const MOST_CHARACTERS = 100_000

export async function formatFiles(
  result: GrepResult,
  wanted: GrepView,
  context: ToolContext,
): Promise<ToolOutput> {
  const paths = result.files.map(file => file.path)
  const byTime = paths.length <= MOST_SORTED_BY_TIME
  const sorted = byTime ? await newestFirst(paths, result.folder, context) : paths.toSorted()
  const page = sorted
    .slice(wanted.offset, wanted.offset + wanted.head_limit)
    .map(toResultPath(result, context))
  const head = headline(result, wanted, page.length, result.total === 1 ? 'file matches' : 'files match')
  return {
    text: [head, ...page.map(shownPath)].join('\n'),
    data: { ...dataOf(result, wanted, page.length), sorted_by: byTime ? 'modified' : 'path', files: page },
  }
}

export async function formatCounts(
  result: GrepResult,
  wanted: GrepView,
  context: ToolContext,
): Promise<ToolOutput> {
  const sorted = result.files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const toPath = toResultPath(result, context)
  const page = sorted
    .slice(wanted.offset, wanted.offset + wanted.head_limit)
    .map(file => ({ path: toPath(file.path), count: file.matches }))
  const what = `${result.total === 1 ? 'file matches' : 'files match'}, ${counted(result.matches, 'line')} in all`
  return {
    text: [
      headline(result, wanted, page.length, what),
      ...page.map(each => `${shownPath(each.path)}:${each.count}`),
    ].join('\n'),
    data: { ...dataOf(result, wanted, page.length), matches: result.matches, counts: page },
  }
}

export async function formatContent(
  result: GrepResult,
  wanted: GrepView,
  context: ToolContext,
): Promise<ToolOutput> {
  const toPath = toResultPath(result, context)
  const groups: { path: string; lines: ShownLine[]; matches: number; shown: number }[] = []
  let skip = wanted.offset
  let room = wanted.head_limit
  let characters = 0
  for (const file of result.files) {
    if (room === 0 || characters > MOST_CHARACTERS) break
    // Lines beyond the limit of one file count as passed: they are reached by raising the limit, not by paging.
    if (skip >= file.keptMatches) {
      skip -= file.keptMatches
      continue
    }
    const lines = pageOfFile(shownLines(file), skip, room, wanted)
    const shown = lines.filter(line => line.isMatch).length
    skip = 0
    room -= shown
    characters += lines.reduce((sum, line) => sum + line.text.length + 8, 0)
    groups.push({ path: toPath(file.path), lines, matches: file.matches, shown })
  }
  const shown = groups.reduce((sum, group) => sum + group.shown, 0)
  const files = result.fileCount
  const what = `${result.total === 1 ? 'line matches' : 'lines match'} in ${files} ${files === 1 ? 'file' : 'files'}`
  const text = groups.map(group => groupText(group, wanted.line_numbers, result.file !== undefined))
  return {
    text: [headline(result, wanted, shown, what), ...text].join('\n'),
    data: {
      ...dataOf(result, wanted, shown),
      files,
      matches: groups.map(({ path, lines, matches }) => ({
        path,
        total: matches,
        lines: lines.map(({ line, text, isMatch }) => ({ line, text, match: isMatch })),
      })),
    },
  }
}

/** The matches from `skip` on, with the context lines that belong to them. */
function pageOfFile(lines: readonly ShownLine[], skip: number, room: number, wanted: GrepView): ShownLine[] {
  const chosen = lines.filter(line => line.isMatch).slice(skip, skip + room)
  const isChosen = new Set(chosen)
  const before = wanted.before ?? wanted.context ?? 0
  const after = wanted.after ?? wanted.context ?? 0
  let next = 0
  return lines.filter(line => {
    if (line.isMatch) return isChosen.has(line)
    for (
      let match = chosen[next];
      match !== undefined && endOf(match) + after < line.line;
      match = chosen[next]
    )
      next += 1
    const match = chosen[next]
    return match !== undefined && line.line >= match.line - before
  })
}

/** A match across lines is one result of several lines. */
function endOf(line: ShownLine): number {
  return line.line + line.text.split('\n').length - 1
}

function groupText(
  {
    path,
    lines,
    matches,
    shown,
  }: { path: string; lines: readonly ShownLine[]; matches: number; shown: number },
  numbers: boolean,
  isOnlyFile: boolean,
): string {
  const out: string[] = isOnlyFile ? [] : [shownPath(path)]
  const hasContext = lines.some(line => !line.isMatch)
  let previous: ShownLine | undefined
  for (const line of lines) {
    if (hasContext && previous !== undefined && line.line > endOf(previous) + 1) out.push('--')
    const sign = line.isMatch ? ':' : '-'
    line.text.split('\n').forEach((text, index) => {
      out.push(numbers ? `${line.line + index}${sign}${text}` : text)
    })
    previous = line
  }
  if (matches > shown) out.push(`[${shown} of ${matches} matching lines of this file]`)
  return out.join('\n')
}

async function newestFirst(
  paths: readonly string[],
  folder: string,
  { signal }: ToolContext,
): Promise<string[]> {
  const times = await modificationTimes(folder, paths, signal)
  const order = paths.map((path, index) => ({ path, time: times[index] ?? 0 }))
  return order.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1)).map(each => each.path)
}

function toResultPath({ folder }: GrepResult, context: ToolContext): (path: string) => string {
  const base = resultPath(folder, context)
  return path => (base === '.' ? path : join(base, path))
}

function headline(result: GrepResult, wanted: GrepView, shown: number, what: string): string {
  const { next } = nextOf(result, wanted, shown)
  const notes = [
    result.total === 0 ? 'No matches.' : `${result.total} ${what}.`,
    rangeNote(result, wanted, shown),
    next === null ? '' : `Continue with offset: ${next}.`,
    result.ignored > 0 ? `${ignoredFiles(result.ignored)}; pass no_ignore: true to see them.` : '',
    result.timedOut ? 'The search was stopped after 30 seconds: there may be more.' : '',
    result.incomplete ? 'Some files or folders could not be read.' : '',
  ]
  return notes.filter(note => note !== '').join(' ')
}

function rangeNote(result: GrepResult, wanted: GrepView, shown: number): string {
  if (result.total === 0) return ''
  if (shown === 0) return `None from offset ${wanted.offset} on.`
  const isAll = wanted.offset === 0 && nextOf(result, wanted, shown).next === null
  return isAll ? '' : `Showing ${wanted.offset + 1} to ${wanted.offset + shown}.`
}

function ignoredFiles(count: number): string {
  if (count >= 50) return '50 or more files that .gitignore leaves out match'
  return counted(count, 'file that .gitignore leaves out matches', 'files that .gitignore leaves out match')
}

function nextOf(result: GrepResult, wanted: GrepView, shown: number): { next: number | null } {
  const next = wanted.offset + shown
  return { next: shown > 0 && next < result.reachable ? next : null }
}

function dataOf(result: GrepResult, wanted: GrepView, shown: number): Record<string, unknown> {
  const { next } = nextOf(result, wanted, shown)
  return {
    mode: wanted.output_mode,
    total: result.total,
    returned: shown,
    truncated: next !== null,
    next_offset: next,
    timed_out: result.timedOut,
    ignored_files: result.ignored,
  }
}
