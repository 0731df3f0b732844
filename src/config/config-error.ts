import type { Position } from './positions.ts'

/** A setting or a whole file that cannot be used. Nothing runs until it is put right. */
export class ConfigError extends Error {
  /** Path of the file, or the flag or variable. */
  readonly file: string
  readonly line: number | undefined
  readonly column: number | undefined
  /** The line with a caret under the place; empty when there is none. */
  readonly codeblock: string
  readonly hint: string | undefined

  constructor(message: string, place: Place, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'ConfigError'
    this.file = place.file
    this.line = place.position?.line
    this.column = place.position?.column
    this.codeblock = place.position === undefined ? '' : codeblock(place.text ?? '', place.position)
    this.hint = options.hint
  }
}

export interface Place {
  readonly file: string
  readonly text?: string
  readonly position?: Position | undefined
}

/** A setting that does not count, or not as it was meant. */
export interface Warning {
  readonly message: string
  readonly file?: string
  readonly line?: number
  readonly hint?: string
}

function codeblock(text: string, { line, column }: Position): string {
  const source = text.split('\n')[line - 1]?.replace(/\r$/, '')
  if (source === undefined || source.trim() === '') return ''
  const number = `${line} | `
  const shown = visible(withoutSecret(source)).slice(0, 200)
  // A caret behind the end of a shortened line would point at nothing.
  const caret = column <= shown.length + 1 ? `\n${' '.repeat(number.length + column - 1)}^` : ''
  return `${number}${shown}${caret}`
}

/** Error messages are copied into issues and CI logs, and somebody who writes a key into the file gets one. */
function withoutSecret(line: string): string {
  return line.replace(
    /((?:key|token|secret|password|passphrase)["']?\s*=\s*)(["'])(?!.*\benv\b).*$/i,
    '$1$2…',
  )
}

/** Text of a file that nobody has checked, made safe for a terminal: one column per character, no control codes. */
export function visible(text: string): string {
  return text.replaceAll('\t', ' ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
}
