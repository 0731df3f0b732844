import { toVisible } from '../core/visible.ts'
import type { Position } from './positions.ts'

/** A setting or a whole file that cannot be used. Nothing runs until it is put right. */
export class ConfigError extends Error {
  /** The message without the place. */
  readonly detail: string
  /** Path of the file, or the flag or variable. */
  readonly file: string
  readonly line: number | undefined
  readonly column: number | undefined
  /** The line with a caret under the place; empty when there is none. */
  readonly codeblock: string
  readonly hint: string | undefined

  constructor(detail: string, place: Place, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(`${nameOf(place)}: ${detail}`, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'ConfigError'
    this.detail = detail
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
  /** With its place and what to do. */
  readonly message: string
  readonly file: string
  readonly line: number | undefined
}

export function toWarning(detail: string, place: Place, hint?: string): Warning {
  const { file, position } = place
  const line = position?.line
  const where = line === undefined ? file : `${file}:${line}`
  return { message: `${where}: ${detail}${hint === undefined ? '' : ` ${hint}`}`, file, line }
}

function nameOf({ file, position }: Place): string {
  return position === undefined ? file : `${file}:${position.line}:${position.column}`
}

function codeblock(text: string, { line, column }: Position): string {
  const source = withoutSecret(text.split('\n')[line - 1]?.replace(/\r$/, '') ?? '').slice(0, 200)
  if (source.trim() === '') return ''
  const number = `${line} | `
  const shown = toVisible(source).replaceAll('\t', ' ')
  // Where characters had to be made visible, or the line was cut, the caret would point at something else.
  const fits = shown.length === source.length && column <= shown.length + 1
  return `${number}${shown}${fits ? `\n${' '.repeat(number.length + column - 1)}^` : ''}`
}

/** Messages are copied into issues and CI logs, and somebody who writes a secret into the file gets one. */
function withoutSecret(line: string): string {
  return line.replace(/((?:key|token|secret|password|passphrase)["']?\s*=\s*["']).*$/i, '$1…')
}
