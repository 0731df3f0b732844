/** `$X` and `${X...}`: what the line itself says about variables, HOME, PWD and OLDPWD; nothing else is known. */
import type { ParameterExpansionPart, Word } from 'unbash'
import type { Arg } from './args.ts'
import type { Scope } from './state.ts'
import type { Piece } from './words.ts'

/** Variables of the environment whose usual value an attacker relies on (`rm${IFS}-rf${IFS}/`, `$SHELL -c`). */
const USUAL: Readonly<Record<string, string>> = {
  IFS: ' ',
  SHELL: '/bin/bash',
  BASH: '/bin/bash',
  '0': '$0',
  BASH_SOURCE: '$0',
  ROOT: '/',
}

export function variablePiece(name: string, scope: Scope, quoted: boolean): Piece {
  if (name === '?') return { kind: 'status' }
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

export function parameterPiece(
  part: ParameterExpansionPart,
  scope: Scope,
  quoted: boolean,
  resolve: (word: Word) => Arg,
): Piece {
  const plain = variablePiece(part.parameter, scope, quoted)
  const indexed = part.index !== undefined
  if (part.prefix === undefined && part.operation === undefined && !indexed) return plain
  if (plain.kind === 'status') return { kind: 'unknown', worst: ['0'], quoted }
  const guesses = plain.kind === 'unknown' ? plain.worst : [plain.text]
  const operation = part.operation
  if (part.prefix !== undefined || indexed || operation?.type !== 'Default') {
    return {
      kind: 'unknown',
      worst: operation === undefined && !indexed ? guesses : [...guesses, ''],
      quoted,
    }
  }
  const operand = resolve(operation.operand)
  // `${X:?}` stops the shell when X is empty, so it never becomes nothing.
  if (operation.operator.endsWith('?')) return { kind: 'unknown', worst: [guesses[0] || '\u0000'], quoted }
  if (operation.operator.endsWith('+')) return { kind: 'unknown', worst: [...operand.worst, ''], quoted }
  const known = guesses.filter(guess => guess !== '')
  return { kind: 'unknown', worst: known.length > 0 ? [...known, ...operand.worst] : operand.worst, quoted }
}
