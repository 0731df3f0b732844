import { join } from 'node:path'
import { counted } from '../core/counted.ts'
import type { ToolContext, ToolOutput } from '../core/tool.ts'
import { resultPath, shownPath } from './result-path.ts'
import type { FileMatches } from './search/match-stream.ts'
import { modificationTimes } from './search/modification-times.ts'
import { countFitting } from './search/page-limit.ts'

/** What of the input matters for showing the result. */
export interface GrepView {
  readonly output_mode: string
  readonly head_limit: number
  readonly offset: number
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly context?: number | undefined
  readonly line_numbers: boolean
  readonly multiline: boolean
}

/** Whether the caller wants to see lines around the matches. */
export function asksForLines({
  before,
  after,
  context,
}: Pick<GrepView, 'before' | 'after' | 'context'>): boolean {
  return [before, after, context].some(count => (count ?? 0) > 0)
}

export interface GrepResult {
  readonly folder: string
  readonly file: string | undefined
  /** What ripgrep was told to read files in. */
  readonly encoding: string | undefined
  readonly files: readonly FileMatches[]
  readonly fileCount: number
  /** What head_limit and offset count: files, or matching lines in the mode content. */
  readonly total: number
  readonly matches: number
  /** Lines of all matches: more than matches when these go across lines. */
  readonly matchedLines: number
  /** How far paging comes. */
  readonly reachable: number
  readonly timedOut: boolean
  /** Something could not be read. */
  readonly incomplete: boolean
  /** Ignored files that match, when no other does; 50 stands for 50 or more. */
  readonly ignored: number
  /** Files that match, when no other does, but are taken for binary or are in another encoding. */
  readonly unsearched: readonly string[]
}

/** Above this many, the time of every file would cost more than the search. */
const MOST_SORTED_BY_TIME = 5000

export async function formatFiles(
  result: GrepResult,
  wanted: GrepView,
  context: ToolContext,
): Promise<ToolOutput> {
  const paths = result.files.map(file => file.path)
  const byTime = paths.length <= MOST_SORTED_BY_TIME
  const sorted = byTime ? await newestFirst(paths, result.folder, context) : paths.toSorted()
  const found = sorted
    .slice(wanted.offset, wanted.offset + wanted.head_limit)
    .map(toResultPath(result, context))
  const lines = found.map(shownPath)
  const page = found.slice(0, countFitting(lines))
  const head = headline(result, wanted, page.length, result.total === 1 ? 'file matches' : 'files match')
  return {
    text: [head, ...lines.slice(0, page.length)].join('\n'),
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
  const found = sorted
    .slice(wanted.offset, wanted.offset + wanted.head_limit)
    .map(file => ({ path: toPath(file.path), count: file.matches }))
  const lines = found.map(each => `${shownPath(each.path)}:${each.count}`)
  const page = found.slice(0, countFitting(lines))
  const inAll = wanted.multiline
    ? counted(result.matches, 'match', 'matches')
    : counted(result.matches, 'line')
  const what = `${result.total === 1 ? 'file matches' : 'files match'}, ${inAll} in all`
  return {
    text: [headline(result, wanted, page.length, what), ...lines.slice(0, page.length)].join('\n'),
    data: { ...dataOf(result, wanted, page.length), matches: result.matches, counts: page },
  }
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

export function toResultPath(
  { folder }: Pick<GrepResult, 'folder'>,
  context: ToolContext,
): (path: string) => string {
  const base = resultPath(folder, context)
  return path => (base === '.' ? path : join(base, path))
}

export function headline(result: GrepResult, wanted: GrepView, shown: number, what: string): string {
  const { next } = nextOf(result, wanted, shown)
  const notes = [
    result.total === 0 ? 'No matches.' : `${result.total} ${what}.`,
    rangeNote(result, wanted, shown),
    next === null
      ? ''
      : `Continue with offset: ${next}${shown < wanted.head_limit ? ' (a result has at most 50 KB)' : ''}.`,
    result.ignored > 0 ? `${ignoredFiles(result.ignored)}; pass no_ignore: true to see them.` : '',
    unsearchedNote(result.unsearched),
    result.timedOut ? 'The search was stopped after 30 seconds: there may be more.' : '',
    result.incomplete ? 'Some files or folders could not be read.' : '',
    wanted.output_mode !== 'content' && asksForLines(wanted)
      ? `No context lines are shown with output_mode: "${wanted.output_mode}"; pass output_mode: "content" for them.`
      : '',
  ]
  return notes.filter(note => note !== '').join(' ')
}

function unsearchedNote(paths: readonly string[]): string {
  if (paths.length === 0) return ''
  const what = counted(paths.length, 'file that is', 'files that are')
  const names = paths.slice(0, 3).map(shownPath).join(', ')
  const more = paths.length > 3 ? ', …' : ''
  const verb = paths.length === 1 ? 'matches' : 'match'
  return `${what} binary, or text in another encoding, ${verb}: ${names}${more}. Search one of them by its path.`
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

export function dataOf(result: GrepResult, wanted: GrepView, shown: number): Record<string, unknown> {
  const { next } = nextOf(result, wanted, shown)
  return {
    mode: wanted.output_mode,
    total: result.total,
    returned: shown,
    truncated: next !== null,
    next_offset: next,
    timed_out: result.timedOut,
    ignored_files: result.ignored,
    unsearched_files: result.unsearched,
  }
}
