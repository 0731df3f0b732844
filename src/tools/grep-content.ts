import { join } from 'node:path'
import { counted } from '../core/counted.ts'
import type { ToolContext, ToolOutput } from '../core/tool.ts'
import { dataOf, type GrepResult, type GrepView, headline, toResultPath } from './grep-output.ts'
import { shownPath } from './result-path.ts'
import { withLongLines } from './search/long-line.ts'
import { type MatchPage, matchPage } from './search/match-page.ts'
import { type FileMatches, type ShownLine, shownLines } from './search/match-stream.ts'
import { MOST_BYTES } from './search/page-limit.ts'

/** The lines of one file on the page. */
interface Group extends MatchPage {
  readonly path: string
  /** Matches in the whole file. */
  readonly matches: number
  readonly text: string
}

/** The mode content: matching lines in groups by file, at most 50 KB of them. */
export async function formatContent(
  result: GrepResult,
  wanted: GrepView,
  context: ToolContext,
): Promise<ToolOutput> {
  const groups = await groupsOf(result, wanted, context)
  const shown = groups.reduce((sum, group) => sum + group.shown, 0)
  const files = counted(result.fileCount, 'file')
  const what = wanted.multiline
    ? `${result.total === 1 ? 'match' : 'matches'}, ${counted(result.matchedLines, 'line')}, in ${files}`
    : `${result.total === 1 ? 'line matches' : 'lines match'} in ${files}`
  return {
    text: [headline(result, wanted, shown, what), ...groups.map(group => group.text)].join('\n'),
    data: {
      ...dataOf(result, wanted, shown),
      files: result.fileCount,
      matches: groups.map(({ path, lines, matches, leftOut }) => ({
        path,
        total: matches,
        lines: lines.map(({ line, text, isMatch }) => ({ line, text, match: isMatch })),
        ...(leftOut > 0 ? { context_left_out: leftOut } : {}),
      })),
    },
  }
}

async function groupsOf(result: GrepResult, wanted: GrepView, context: ToolContext): Promise<Group[]> {
  const toPath = toResultPath(result, context)
  const around = {
    before: wanted.before ?? wanted.context ?? 0,
    after: wanted.after ?? wanted.context ?? 0,
  }
  const groups: Group[] = []
  let skip = wanted.offset
  const room = { matches: wanted.head_limit, bytes: MOST_BYTES }
  for (const file of result.files) {
    if (room.matches === 0) break
    // Lines beyond the limit of one file count as passed: they are reached by naming the file, not by paging.
    if (skip >= file.keptMatches) {
      skip -= file.keptMatches
      continue
    }
    const lines = await linesOf(file, result, context)
    const page = matchPage(lines, skip, room, around)
    if (page.shown === 0) break
    const path = toPath(file.path)
    const text = [
      ...(result.file === undefined ? [shownPath(path)] : []),
      ...linesText(page.lines, wanted.line_numbers),
      ...notesOf(page, file, skip + page.shown, { ...wanted, isOnlyFile: result.file !== undefined }),
    ].join('\n')
    groups.push({ ...page, path, matches: file.matches, text })
    // What had no room comes first on the next page.
    if (skip + page.shown < file.keptMatches) break
    skip = 0
    room.matches -= page.shown
    room.bytes -= Buffer.byteLength(text) + 1
  }
  return groups
}

async function linesOf(
  file: FileMatches,
  { folder, encoding }: GrepResult,
  context: ToolContext,
): Promise<readonly ShownLine[]> {
  const lines = shownLines(file)
  // Places in text that ripgrep has recoded are not places in the file.
  return encoding === undefined ? withLongLines(lines, join(folder, file.path), context) : lines
}

function linesText(lines: readonly ShownLine[], numbers: boolean): string[] {
  const out: string[] = []
  const hasContext = lines.some(line => !line.isMatch)
  let previous: ShownLine | undefined
  for (const line of lines) {
    if (hasContext && previous !== undefined && line.line > previous.end + 1) out.push('--')
    const sign = line.isMatch ? ':' : '-'
    line.text.split('\n').forEach((text, index) => {
      out.push(numbers ? `${line.line + index}${sign}${text}` : text)
    })
    previous = line
  }
  return out
}

/** What of the file is not on the page. `seen` counts the matches up to the end of the page. */
function notesOf(
  { shown, leftOut }: MatchPage,
  { matches, reachable }: FileMatches,
  seen: number,
  { multiline, isOnlyFile }: { multiline: boolean; isOnlyFile: boolean },
): string[] {
  const notes: string[] = []
  if (leftOut > 0) {
    const lines = counted(leftOut, 'context line')
    notes.push(`[${lines} left out: a result has at most 50 KB; read_file shows them]`)
  }
  if (matches > shown) {
    const how = isOnlyFile ? 'raise max_per_file' : `pass this file as path, with offset: ${seen}`
    const rest = seen === reachable && reachable < matches ? `; for the rest ${how}` : ''
    notes.push(`[${shown} of ${matches} ${multiline ? 'matches' : 'matching lines'} of this file${rest}]`)
  }
  return notes
}
