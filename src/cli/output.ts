import { stripVTControlCharacters, styleText } from 'node:util'
import { toVisible } from '../core/visible.ts'

type Style = Parameters<typeof styleText>[0]

/** Data goes to stdout, everything else to stderr; nothing but data ever goes to stdout. */
export interface Output {
  readonly json: boolean
  /** One line, or several, of data. */
  data(text: string): void
  /** A JSON document on one line. */
  object(value: unknown): void
  /** For the person: progress and warnings. */
  note(text: string): void
  /** For the person: what went wrong. Shown even when they want quiet. */
  problem(text: string): void
  /** Text of a file, a tool or a model, as it may be shown: on a terminal it must not be obeyed. */
  shown(text: string): string
  style(style: Style, text: string): string
  /** The same for text that goes to stderr. */
  noteStyle(style: Style, text: string): string
  readonly columns: number
}

export interface OutputOptions {
  json: boolean
  quiet: boolean
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
  const paint = (on: boolean) => (style: Style, text: string) =>
    on ? styleText(style, text, { validateStream: false }) : text
  return {
    json: options.json,
    data(text) {
      stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`)
    },
    object(value) {
      stdout.write(`${JSON.stringify(value)}\n`)
    },
    note(text) {
      if (!options.quiet) stderr.write(`${text}\n`)
    },
    problem(text) {
      stderr.write(`${text}\n`)
    },
    shown: text => (stdout.isTTY === true ? toVisible(text) : text),
    style: paint(colored(stdout) && !options.json),
    noteStyle: paint(colored(stderr)),
    columns: stdout.columns ?? 100,
  }
}

/** Rows in columns as wide as their longest cell; the last column is as long as it is. */
export function table(rows: readonly (readonly string[])[]): string {
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
