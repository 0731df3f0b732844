import { parse } from 'smol-toml'

/**
 * Where the keys of a TOML text are. The parser tells positions only of syntax errors, so this walks the text a second
 * time, recording every key, table header and array element. It expects text that the parser has accepted; on anything
 * else it stops early and knows fewer positions, but never throws and always ends.
 */
export function locateKeys(toml: string): KeyLocator {
  const scan = scanText(toml)
  const lineStarts = startsOfLines(toml)
  return path => {
    for (let length = path.length; length > 0; length -= 1) {
      const offsets = scan.found.get(pathId(path.slice(0, length)))
      if (offsets !== undefined) {
        return { ...toPosition(lineStarts, offsets.key), value: toPosition(lineStarts, offsets.value) }
      }
    }
    return undefined
  }
}

export type KeyPath = readonly (string | number)[]

export interface Position {
  /** Both count from 1. */
  readonly line: number
  readonly column: number
}

interface KeyPosition extends Position {
  readonly value: Position
}

/** Of the key itself, or of the nearest table around it that is written down. */
export type KeyLocator = (path: KeyPath) => KeyPosition | undefined

/** A pair `key = value`, by offsets. */
export interface Pair {
  readonly path: KeyPath
  readonly key: number
  readonly value: number
  readonly end: number
}

/** From its header to the next one. The first is what stands before all headers, with an empty path. */
export interface Section {
  readonly path: KeyPath
  readonly start: number
  readonly end: number
}

/** What a text is made of, for whoever changes it; see change-text.ts. */
export function outline(toml: string): {
  readonly pairs: readonly Pair[]
  readonly sections: readonly Section[]
} {
  const { pairs, headers } = scanText(toml)
  const all = [{ path: [], start: 0 }, ...headers]
  const sections = all.map((section, index) => ({ ...section, end: all[index + 1]?.start ?? toml.length }))
  return { pairs, sections }
}

/** The parts of a dotted key as TOML writes it: `providers.local.models."qwen3.5"`. Undefined when it is none. */
export function splitKey(text: string): string[] | undefined {
  const scan = newScan(text)
  const parts = scanKey(scan)
  return parts.length > 0 && scan.at === text.length ? parts : undefined
}

/** The reverse of `splitKey`. */
export function joinKey(path: KeyPath): string {
  return path.map(part => (/^[A-Za-z0-9_-]+$/.test(String(part)) ? part : JSON.stringify(part))).join('.')
}

interface Scan {
  readonly text: string
  at: number
  readonly found: Map<string, { key: number; value: number }>
  /** Arrays of tables by path → how many tables they have so far. */
  readonly tables: Map<string, number>
  readonly pairs: Pair[]
  readonly headers: { path: KeyPath; start: number }[]
}

function newScan(text: string): Scan {
  const at = text.startsWith('\uFEFF') ? 1 : 0
  return { text, at, found: new Map(), tables: new Map(), pairs: [], headers: [] }
}

function scanText(text: string): Scan {
  const scan = newScan(text)
  scanDocument(scan)
  return scan
}

function scanDocument(scan: Scan): void {
  let table: KeyPath = []
  for (skipBlank(scan); scan.at < scan.text.length; skipBlank(scan)) {
    const before = scan.at
    if (scan.text[scan.at] === '[') table = scanHeader(scan)
    else scanPair(scan, table)
    if (scan.at === before) return
  }
}

function scanHeader(scan: Scan): KeyPath {
  const start = scan.at
  const isArray = scan.text.startsWith('[[', start)
  scan.at += isArray ? 2 : 1
  const key = scanKey(scan)
  scan.at += isArray ? 2 : 1
  const path: (string | number)[] = []
  key.forEach((part, index) => {
    path.push(part)
    record(scan, path, start)
    const id = pathId(path)
    const count = scan.tables.get(id)
    if (isArray && index === key.length - 1) {
      scan.tables.set(id, (count ?? 0) + 1)
      path.push(count ?? 0)
    } else if (count !== undefined) {
      // `[a.b]` after `[[a]]` belongs to the last table of `a`.
      path.push(count - 1)
    }
  })
  record(scan, path, start)
  scan.headers.push({ path, start })
  return path
}

function scanPair(scan: Scan, table: KeyPath): void {
  const start = scan.at
  const key = scanKey(scan)
  if (scan.text[scan.at] !== '=') return
  scan.at += 1
  skipSpaces(scan)
  key.forEach((_, index) => {
    record(scan, [...table, ...key.slice(0, index + 1)], start, scan.at)
  })
  const value = scan.at
  const path = [...table, ...key]
  scanValue(scan, path)
  scan.pairs.push({ path, key: start, value, end: value + scan.text.slice(value, scan.at).trimEnd().length })
}

function scanKey(scan: Scan): string[] {
  const parts: string[] = []
  for (;;) {
    skipSpaces(scan)
    const start = scan.at
    const quote = scan.text[scan.at]
    if (quote === '"' || quote === "'") {
      scanString(scan)
      const part = unquote(scan.text.slice(start, scan.at))
      if (part === undefined) return []
      parts.push(part)
    } else {
      const bare = match(scan, /[A-Za-z0-9_-]+/y)
      if (bare === '') return []
      parts.push(bare)
    }
    skipSpaces(scan)
    if (scan.text[scan.at] !== '.') return parts
    scan.at += 1
  }
}

function scanValue(scan: Scan, path: KeyPath): void {
  const first = scan.text[scan.at]
  if (first === '"' || first === "'") scanString(scan)
  else if (first === '[') scanArray(scan, path)
  else if (first === '{') scanInlineTable(scan, path)
  else match(scan, /[^,\]}#\n]+/y)
}

function scanArray(scan: Scan, path: KeyPath): void {
  scan.at += 1
  for (let index = 0; ; index += 1) {
    skipBlank(scan)
    if (scan.at >= scan.text.length || scan.text[scan.at] === ']') break
    const before = scan.at
    record(scan, [...path, index], before)
    scanValue(scan, [...path, index])
    skipBlank(scan)
    if (scan.text[scan.at] === ',') scan.at += 1
    if (scan.at === before) return
  }
  scan.at += 1
}

function scanInlineTable(scan: Scan, path: KeyPath): void {
  scan.at += 1
  for (;;) {
    skipBlank(scan)
    if (scan.at >= scan.text.length || scan.text[scan.at] === '}') break
    const before = scan.at
    scanPair(scan, path)
    skipBlank(scan)
    if (scan.text[scan.at] === ',') scan.at += 1
    if (scan.at === before) return
  }
  scan.at += 1
}

/** Moves behind a string of any of the four kinds. */
function scanString(scan: Scan): void {
  const quote = scan.text[scan.at] ?? ''
  const triple = scan.text.startsWith(quote.repeat(3), scan.at)
  const end = triple ? quote.repeat(3) : quote
  scan.at += end.length
  while (scan.at < scan.text.length && !scan.text.startsWith(end, scan.at)) {
    scan.at += quote === '"' && scan.text[scan.at] === '\\' ? 2 : 1
  }
  scan.at = Math.min(scan.at + end.length, scan.text.length)
  // A multi-line string may end with quotes of its own: """say "yes""""
  for (let extra = 0; triple && extra < 2 && scan.text[scan.at] === quote; extra += 1) scan.at += 1
}

/** The parser itself decides what a quoted key says, so that escapes can never be read in two ways. */
function unquote(raw: string): string | undefined {
  try {
    const value = parse(`key = ${raw}`).key
    return typeof value === 'string' ? value : undefined
  } catch {
    // Not a string after all: an unfinished key given on the command line.
    return undefined
  }
}

function skipSpaces(scan: Scan): void {
  match(scan, /[ \t]*/y)
}

function skipBlank(scan: Scan): void {
  while (match(scan, /[ \t\r\n]+|#[^\n]*/y) !== '');
}

function match(scan: Scan, pattern: RegExp): string {
  pattern.lastIndex = scan.at
  const found = pattern.exec(scan.text)?.[0] ?? ''
  scan.at += found.length
  return found
}

function record(scan: Scan, path: KeyPath, key: number, value = key): void {
  const id = pathId(path)
  if (!scan.found.has(id)) scan.found.set(id, { key, value })
}

/** Numbers and strings stay apart: element 0 of a list is not the key "0". */
function pathId(path: KeyPath): string {
  return JSON.stringify(path)
}

function startsOfLines(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** A search by halves: counting lines from the top for each of a hostile file's rules would take minutes. */
function toPosition(lineStarts: readonly number[], offset: number): Position {
  let low = 0
  let high = lineStarts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((lineStarts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 }
}
