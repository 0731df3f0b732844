/** `$X` and `${X...}`: what the line itself says about variables, HOME, PWD and OLDPWD; nothing else is known. */
import type { ParameterExpansionPart } from 'unbash'
import type { Scope } from './state.ts'
import type { Piece } from './words.ts'

/** Variables of the environment whose usual value an attacker relies on (`rm${IFS}-rf${IFS}/`, `$SHELL -c`). */
const USUAL: Readonly<Record<string, string>> = {
  IFS: ' ',
  SHELL: '/bin/bash',
  BASH: '/bin/bash',
  ROOT: '/',
}

export function variablePiece(name: string, scope: Scope, quoted: boolean): Piece {
  const value = lookup(name, scope)
  if (!value.exact) return { kind: 'unknown', worst: value.values.length > 0 ? value.values : [''], quoted }
  const text = value.values[0] ?? ''
  return quoted ? { kind: 'text', text, quoted: true } : { kind: 'value', text }
}

function lookup(name: string, scope: Scope): { values: string[]; exact: boolean } {
  const tracked = scope.variables.get(name)
  if (tracked !== undefined) return tracked
  if (name === 'PWD') return { values: scope.cwds ?? [], exact: scope.cwds?.length === 1 }
  if (name === 'OLDPWD' && scope.oldCwd !== null) return { values: [scope.oldCwd], exact: true }
  if (name === 'FUNCNAME' && scope.inFunction !== null) return { values: [scope.inFunction], exact: false }
  const usual = Object.hasOwn(USUAL, name) ? USUAL[name] : undefined
  return { values: [usual ?? ''], exact: false }
}

/** What an operation makes of the value is not known; that it may leave it as it is, or nothing, is the guess. */
export function parameterPiece(part: ParameterExpansionPart, scope: Scope, quoted: boolean): Piece {
  const plain = variablePiece(part.parameter, scope, quoted)
  if (part.prefix === undefined && part.operation === undefined && part.index === undefined) return plain
  const guesses = plain.kind === 'unknown' ? plain.worst : [plain.text]
  // `${X:?}` stops the shell when X is empty, so it never becomes nothing.
  const stops = part.operation?.type === 'Default' && part.operation.operator.endsWith('?')
  return { kind: 'unknown', worst: stops ? [guesses[0] || '\u0000'] : [...guesses, ''], quoted }
}
