import { ToolError } from '../../core/errors.ts'
import { endsWithCarriageReturn, type Line, splitLines } from '../edit/lines.ts'
import type { Chunk } from './parse-patch.ts'

/** The text with the chunks applied, in their order. Lines that stay keep their bytes, line ends included. */
export function applyChunks(text: string, chunks: readonly Chunk[], shown: string): string {
  const lines = splitLines(text, endsWithCarriageReturn(text))
  const lineEnd = lines.find(line => line.eol !== '')?.eol ?? '\n'
  const out: Line[] = []
  let at = 0
  for (const [index, chunk] of chunks.entries()) {
    const place = findPlace(lines, chunk, at)
    if (place === undefined) throw notFound(chunk, index, shown)
    out.push(...lines.slice(at, place), ...replaced(lines, place, chunk, lineEnd))
    at = place + chunk.old.length
  }
  out.push(...lines.slice(at))
  return join(out, lineEnd, text)
}

/** From the strictest comparison to the loosest, as Codex does. */
const SAME: readonly ((line: string) => string)[] = [
  line => line,
  line => line.trimEnd(),
  line => line.trim(),
]

function findPlace(lines: readonly Line[], chunk: Chunk, from: number): number | undefined {
  for (const key of SAME) {
    let start: number | undefined = from
    for (const anchor of chunk.anchors) {
      const found: number = lines.findIndex(
        (line, index) => index >= (start ?? 0) && key(line.text) === key(anchor),
      )
      const loose: number =
        found === -1
          ? lines.findIndex((line, index) => index >= (start ?? 0) && line.text.trim() === anchor.trim())
          : found
      start = loose === -1 ? undefined : loose + 1
      if (start === undefined) break
    }
    if (start === undefined) continue
    if (chunk.old.length === 0) return chunk.anchors.length > 0 ? start : lines.length
    const wanted = chunk.old.map(key)
    const fits = (place: number): boolean =>
      wanted.every((line, offset) => key(lines[place + offset]?.text ?? '\0') === line)
    const last = lines.length - wanted.length
    if (chunk.atEnd && last >= start && fits(last)) return last
    for (let place = start; place <= last; place += 1) if (fits(place)) return place
  }
  return undefined
}

/** Context is the file's own; only what is new is the patch's. */
function replaced(lines: readonly Line[], place: number, { old, next }: Chunk, lineEnd: string): Line[] {
  const result: Line[] = []
  let used = 0
  for (const text of next) {
    const kept = old.indexOf(text, used)
    const own = kept === -1 ? undefined : lines[place + kept]
    if (own === undefined) result.push({ text, eol: lineEnd })
    else {
      result.push(own)
      used = kept + 1
    }
  }
  return result
}

function join(lines: readonly Line[], lineEnd: string, before: string): string {
  const endsOpen = before !== '' && !/[\r\n]$/.test(before)
  return lines
    .map(({ text, eol }, index) => {
      const isLast = index === lines.length - 1
      return text + (isLast && endsOpen ? '' : eol || lineEnd)
    })
    .join('')
}

function notFound({ old, anchors }: Chunk, index: number, shown: string): ToolError {
  const first = old.find(line => line.trim() !== '') ?? anchors[0] ?? ''
  return new ToolError(
    'conflict',
    `Change ${index + 1} does not fit ${shown}: its lines are missing, or come before the previous change. It begins with "${first.slice(0, 120)}".`,
    { hint: 'Read the file again and write the patch for what it holds now.' },
  )
}
