import type { Line, LineTable } from './lines.ts'
import type { Pair } from './replacement.ts'

/**
 * Turns the indentation of new lines into that of the file. The model wrote old and new text in one style; the pairs of
 * old line and file line show what that style stands for here.
 */
export function reindenter(
  table: LineTable,
  pairs: readonly Pair[],
  newLines: readonly Line[],
): (line: string, near: number) => string {
  const known = new Map<string, { index: number; file: string }[]>()
  for (const [index, { old, file }] of pairs.entries()) {
    if (old.text.trim() === '' || file.text.trim() === '') continue
    const indent = indentOf(old.text)
    const list = known.get(indent) ?? []
    known.set(indent, list)
    list.push({ index, file: indentOf(file.text) })
  }
  if ([...known].every(([old, places]) => places.every(({ file }) => file === old))) return line => line
  const writtenUnit = unitOf([...pairs.map(pair => pair.old.text), ...newLines.map(line => line.text)])
  const fileUnit = unitOf(pairs.map(pair => pair.file.text)) ?? unitOf(sampleOf(table))
  const convert = (indent: string): string => inUnits(indent, writtenUnit, fileUnit)
  return (line, near) => {
    if (line.trim() === '') return line
    const indent = indentOf(line)
    const rest = line.slice(indent.length)
    const nearest = [...known].map(([old, places]) => ({ old, ...closestTo(places, near) }))
    nearest.sort((a, b) => a.distance - b.distance)
    const same = nearest.find(place => place.old === indent)
    return (same?.file ?? relativeTo(nearest, indent, convert)) + rest
  }
}

function closestTo(
  places: readonly { index: number; file: string }[],
  near: number,
): { file: string; distance: number } {
  let best = { file: '', distance: Number.POSITIVE_INFINITY }
  for (const { index, file } of places) {
    const distance = Math.abs(index - near)
    if (distance < best.distance) best = { file, distance }
  }
  return best
}

type KnownIndent = { old: string; file: string }

/** The indentation of a line that is deeper or shallower than every known one. */
function relativeTo(
  known: readonly KnownIndent[],
  indent: string,
  convert: (indent: string) => string,
): string {
  const shallower = known
    .filter(pair => indent.startsWith(pair.old))
    .reduce<KnownIndent | undefined>(
      (best, pair) => (best && best.old.length >= pair.old.length ? best : pair),
      undefined,
    )
  if (shallower !== undefined) return shallower.file + convert(indent.slice(shallower.old.length))
  const deeper = known.find(pair => pair.old.startsWith(indent))
  if (deeper === undefined) return indent
  const surplus = convert(deeper.old.slice(indent.length))
  return deeper.file.endsWith(surplus)
    ? deeper.file.slice(0, deeper.file.length - surplus.length)
    : convert(indent)
}

function inUnits(indent: string, from: string | undefined, to: string | undefined): string {
  if (from === undefined || to === undefined || from === to || indent === '') return indent
  const depth = indent.length / from.length
  return Number.isInteger(depth) && indent === from.repeat(depth) ? to.repeat(depth) : indent
}

/** One step of indentation: a tab, or the greatest number of spaces that all indentations are multiples of. */
function unitOf(lines: readonly string[]): string | undefined {
  let spaces = 0
  for (const line of lines) {
    const indent = indentOf(line)
    if (indent === '' || line.trim() === '') continue
    if (indent.includes('\t')) return '\t'
    spaces = greatestCommonDivisor(indent.length, spaces)
  }
  return spaces === 0 ? undefined : ' '.repeat(spaces)
}

function sampleOf(table: LineTable): string[] {
  return table.lines.slice(0, 1000).map(line => line.text)
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
