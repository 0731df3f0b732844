import { styleText } from 'node:util'
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
      widths[index] = Math.max(widths[index] ?? 0, cell.length)
    })
  }
  return rows
    .map(row =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
