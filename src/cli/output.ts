import { stripVTControlCharacters, styleText } from 'node:util'
import { toVisible } from '../core/visible.ts'

type Style = Parameters<typeof styleText>[0]

/** Data goes to stdout, everything else to stderr; nothing but data ever goes to stdout. */
export interface Output {
  readonly json: boolean
  /** One line, or several, of what Kogu says. */
  data(text: string): void
  /** What a tool returned: as it is for a program, made visible on a terminal. */
  result(text: string): void
  /** A JSON document on one line. */
  object(value: unknown): void
  /** For the person: progress and warnings. */
  note(text: string): void
  /** For the person who asked for --verbose. */
  detail(text: string): void
  /** For the person: a piece of what a tool prints while it works, wherever its lines end. */
  live(text: string): void
  /** For the person: what went wrong. Shown even when they want quiet. */
  problem(text: string): void
  /** Text of a file, a tool or a model, as it may be shown: on a terminal it must not be obeyed. */
  shown(text: string): string
  style(style: Style, text: string): string
  /** The same for text that goes to stderr. */
  noteStyle(style: Style, text: string): string
  readonly columns: number
  /** Marks of lines: symbols, or words with --plain. */
  readonly signs: typeof SYMBOLS
}

const SYMBOLS = { begins: '▶', agent: '▷', ok: '✓', failed: '✕', waits: '⧗', line: '─'.repeat(64) }

/** For screen readers, and terminals that have no more than letters. */
const WORDS: typeof SYMBOLS = {
  begins: 'begin:',
  agent: 'begin:',
  ok: 'ok:',
  failed: 'failed:',
  waits: 'waiting:',
  line: '',
}

export interface OutputOptions {
  json: boolean
  quiet: boolean
  verbose?: boolean
  /** No symbols and no lines of boxes. */
  plain?: boolean
  color: 'auto' | 'always' | 'never'
  /** From the environment: undefined when nothing is said. */
  wantsColor: boolean | undefined
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
}

export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr } = options
  const colored = (stream: NodeJS.WriteStream): boolean => {
    if (options.color !== 'auto') return options.color === 'always'
    return options.wantsColor ?? stream.isTTY === true
  }
  const painted = { out: colored(stdout) && !options.json, err: colored(stderr) }
  const paint = (on: boolean) => (style: Style, text: string) =>
    on ? styleText(style, text, { validateStream: false }) : text
  return {
    json: options.json,
    data: text => stdout.write(withLineEnd(guarded(text, painted.out))),
    result: text => stdout.write(withLineEnd(stdout.isTTY === true ? guarded(text, painted.out) : text)),
    object(value) {
      const text = JSON.stringify(value)
      stdout.write(`${stdout.isTTY === true ? escapeHidden(text) : text}\n`)
    },
    note(text) {
      if (!options.quiet) stderr.write(`${guarded(text, painted.err)}\n`)
    },
    detail(text) {
      if (options.verbose === true) stderr.write(`${guarded(text, painted.err)}\n`)
    },
    live(text) {
      if (!options.quiet) stderr.write(guarded(text, false))
    },
    problem: text => stderr.write(`${guarded(text, painted.err)}\n`),
    shown: text => (stdout.isTTY === true ? toVisible(text) : text),
    style: paint(painted.out),
    noteStyle: paint(painted.err),
    columns: stdout.columns ?? 100,
    signs: options.plain === true ? WORDS : SYMBOLS,
  }
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') || text === '' ? text : `${text}\n`
}

/** What `styleText` writes for the styles that commands use, and the room between the columns of a table. */
const PAINT = /(\x1b\[(?:[12]|22|3[1-6]|39)m| {41,})/
const ROOM = /( {41,})/
/** Nothing in it needs to be made visible: nearly all that is ever said. */
const PLAIN = /^[\t\n -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u27ff]*$/

/**
 * The last net under everything that is shown: whatever a command forgot to make visible cannot steer the terminal. It
 * cannot tell a foreign line from ours; `toLine` and `toBlock` see to that where the text comes in.
 */
function guarded(text: string, isPainted: boolean): string {
  if (PLAIN.test(text)) return text
  return text
    .split(isPainted ? PAINT : ROOM)
    .map((part, index) => (index % 2 === 1 ? part : toVisible(part)))
    .join('')
}

/** JSON that says the same without a character that a terminal would obey or hide. */
function escapeHidden(json: string): string {
  return json.replaceAll(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu, character =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** Rows in columns as wide as their longest cell; the last column is as long as it is. No cell has a second line. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map(row => row.map(cell => cell.replaceAll('\n', '⟨U+000A⟩')))
  const widths: number[] = []
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell))
    })
  }
  return rows
    .map(row =>
      row
        .map((cell, index) => cell + ' '.repeat(Math.max(0, (widths[index] ?? 0) - displayWidth(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** How many columns of a terminal a text takes: colours none, marks on a letter none, Chinese and emoji two. */
export function displayWidth(text: string): number {
  const shown = stripVTControlCharacters(text)
  // Nearly all cells; the rest needs tables of all scripts, which take milliseconds to load.
  if (/^[ -~]*$/.test(shown)) return shown.length
  let width = 0
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(shown)) {
    if (/^[\p{Cc}\p{Default_Ignorable_Code_Point}\p{M}]*$/u.test(segment)) continue
    width += WIDE.test(segment) || /^\p{Emoji_Presentation}|\uFE0F/u.test(segment) ? 2 : 1
  }
  return width
}

// The blocks that Unicode's EastAsianWidth.txt calls wide or fullwidth.
const WIDE =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1F200}-\u{1F265}\u{20000}-\u{3FFFD}]/u
