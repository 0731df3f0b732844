import type { Position } from './positions.ts'

const OPENING = /"""\r?\n?|'''\r?\n?|["']/y
/** A backslash at the end of a line swallows all blanks that follow; every other escape is one character. */
const ESCAPE = /\\(?:([ \t]*\r?\n\s*)|u[\da-f]{4}|U[\da-f]{8}|x[\da-f]{2}|.)/iy

/** Where the character at `offset` of a string is written in the file, for a value that begins at `start`. */
export function positionInString(toml: string, start: Position, offset: number): Position {
  const lines = toml.split('\n')
  let at = lines.slice(0, start.line - 1).join('\n').length + (start.line === 1 ? 0 : 1) + start.column - 1
  OPENING.lastIndex = at
  const [opening = ''] = OPENING.exec(toml) ?? []
  at += opening.length
  for (let left = offset; left > 0 && at < toml.length; ) {
    ESCAPE.lastIndex = at
    const [escaped = '', blanks] = (opening.startsWith('"') ? ESCAPE.exec(toml) : null) ?? []
    at += Math.max(escaped.length, 1)
    if (blanks === undefined) left -= 1
  }
  const before = toml.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
