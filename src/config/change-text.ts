import { parse, stringify } from 'smol-toml'
import { joinKey, type KeyPath, outline, type Pair, type Section } from './positions.ts'
import type { Table } from './read-source.ts'
import { isTable, leaves, setPath, withoutPaths } from './tables.ts'

/**
 * A TOML text in which one key has another value; comments, order and everything else stay as they are. Several places
 * are tried, and what comes out is parsed: only a text that says exactly what it should is returned. Undefined: there is
 * none, for instance because the key is part of an inline table.
 */
export function setInText(text: string, path: readonly string[], value: unknown): string | undefined {
  const wanted = withoutPaths(parse(text), [path])
  setPath(wanted, path, value)
  return candidates(text, path, toInline(value)).find(candidate => says(candidate, wanted))
}

/** The same for a key, or a table with all that is in it, that is taken out. */
export function unsetInText(text: string, path: readonly string[]): string | undefined {
  const wanted = withoutPaths(parse(text), [path])
  const { pairs, sections } = outline(text)
  const own = sections.filter(section => isBelow(section.path, path))
  const single = pairs.filter(
    pair => isBelow(pair.path, path) && !own.some(section => contains(section, pair)),
  )
  if (single.some(pair => !hasOwnLine(text, pair))) return undefined
  const cuts = [
    ...own.map(section => ({ start: section.start, end: lastEnd(section, pairs, text) })),
    ...single.map(pair => ({ start: lineStart(text, pair.key), end: lineEnd(text, pair.end) })),
  ]
  const ordered = cuts.toSorted((a, b) => b.start - a.start)
  const cut = ordered.reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text)
  return says(cut, wanted) ? cut : undefined
}

/** Where the key could be written, the best place first. */
function candidates(text: string, path: readonly string[], value: string): string[] {
  const { pairs, sections } = outline(text)
  const pair = pairs.find(({ path: other }) => isSame(other, path))
  if (pair !== undefined) return [text.slice(0, pair.value) + value + text.slice(pair.end)]
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const inSection = (section: Section): string => {
    const line = `${joinKey(path.slice(section.path.length))} = ${value}`
    return insertLine(text, lastEnd(section, pairs, text), line, newline)
  }
  const around = sections
    .filter(section => isBelow(path, section.path))
    .toSorted((a, b) => b.path.length - a.path.length)
    .map(inSection)
  const parent = path.slice(0, -1)
  const table = `[${joinKey(parent)}]${newline}${joinKey(path.slice(-1))} = ${value}`
  const gap = text.trim() === '' ? '' : newline
  const added = parent.length === 0 ? [] : [insertLine(text, text.length, `${gap}${table}`, newline)]
  const isOwn = sections.some(section => isSame(section.path, parent))
  return isOwn ? around : [...added, ...around]
}

function insertLine(text: string, at: number, line: string, newline: string): string {
  const before = text.slice(0, at)
  const gap = before === '' || before.endsWith('\n') ? '' : newline
  return `${before}${gap}${line}${newline}${text.slice(at)}`
}

/** Behind the last pair of a section, or behind its header: comments that follow may belong to the next one. */
function lastEnd(section: Section, pairs: readonly Pair[], text: string): number {
  const ends = pairs.filter(pair => contains(section, pair)).map(pair => pair.end)
  if (ends.length > 0) return lineEnd(text, Math.max(...ends))
  return section.path.length === 0 ? section.end : lineEnd(text, section.start)
}

function contains(section: Section, { key }: Pair): boolean {
  return key >= section.start && key < section.end
}

/** Not part of an inline table: there, its line says other things as well. */
function hasOwnLine(text: string, { key, end }: Pair): boolean {
  const before = text.slice(lineStart(text, key), key)
  const after = text.slice(end, lineEnd(text, end))
  return before.trim() === '' && /^\s*(#.*)?$/.test(after.trimEnd())
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end + 1
}

function isSame(one: KeyPath, other: KeyPath): boolean {
  return one.length === other.length && isBelow(one, other)
}

function isBelow(path: KeyPath, above: KeyPath): boolean {
  return above.every((part, index) => path[index] === part)
}

/** An empty table that is left behind says nothing. */
function says(text: string, wanted: Table): boolean {
  try {
    return signature(parse(text)) === signature(wanted)
  } catch {
    // Not TOML any more: this was no place for it.
    return false
  }
}

function signature(data: Table): string {
  return leaves(data)
    .filter(({ value }) => !isTable(value))
    .map(({ path, value }) => JSON.stringify([path, value]))
    .toSorted()
    .join('\n')
}

function toInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toInline).join(', ')}]`
  if (isTable(value)) {
    const pairs = Object.entries(value).map(([key, part]) => `${joinKey([key])} = ${toInline(part)}`)
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
  }
  return stringify({ value }).slice('value = '.length).trimEnd()
}
