import { endsWithCarriageReturn, splitLines } from '../edit/lines.ts'

/**
 * Gives content with line feeds only the line ends of the file that it replaces: who reads a file cannot see which kind
 * it has. Lines that both begin or end with keep their own, those between get the most frequent one. Content that has
 * other line ends already says what it wants.
 */
export function keepLineEnds(content: string, old: string): string {
  const usual = usualLineEnd(content, old)
  if (usual === null) return content
  const isMixed = old.includes('\r\n') && /(?:^|[^\r])\n/.test(old)
  return isMixed ? keepEach(content, old, usual) : content.replaceAll('\n', usual)
}

/** The same for content that is added to a file. */
export function withUsualLineEnds(content: string, old: string): string {
  const usual = usualLineEnd(content, old)
  return usual === null ? content : content.replaceAll('\n', usual)
}

/** Null when the content stays as it is. */
function usualLineEnd(content: string, old: string): '\n' | '\r\n' | '\r' | null {
  // Nearly all files have line feeds only.
  if (!old.includes('\r')) return null
  if (endsWithCarriageReturn(old)) return content.includes('\r') ? null : '\r'
  // A return within a line is a character like others.
  if (content.includes('\r\n') || !old.includes('\r\n')) return null
  const returns = old.split('\r\n').length - 1
  const all = old.split('\n').length - 1
  return returns * 2 > all ? '\r\n' : '\n'
}

function keepEach(content: string, old: string, usual: string): string {
  const oldLines = splitLines(old, false)
  // Not by splitLines: it would take a return before a line feed from the line, and here there is none.
  const newLines = content.split('\n')
  const isFinished = newLines.at(-1) === ''
  if (isFinished) newLines.pop()
  const most = Math.min(oldLines.length, newLines.length)
  let head = 0
  while (head < most && oldLines[head]?.text === newLines[head]) head += 1
  let tail = 0
  while (tail < most - head && oldLines.at(-1 - tail)?.text === newLines.at(-1 - tail)) tail += 1
  const oldTail = oldLines.length - newLines.length
  return newLines
    .map((line, index) => {
      if (index === newLines.length - 1 && !isFinished) return line
      const isKept = index < head || index >= newLines.length - tail
      const own = isKept ? oldLines[index < head ? index : index + oldTail]?.eol : undefined
      return line + (own || usual)
    })
    .join('')
}
