/**
 * From a parsed word to arguments, as bash would expand it. A word is exact only when nothing in it depends on the
 * moment of running; everything else keeps guesses (`worst`) that only the forbidden scan uses.
 */
import type { ParameterExpansionPart, Word, WordPart } from 'unbash'
import type { Arg } from './args.ts'
import type { Scope } from './state.ts'
import { staticOutput } from './static-output.ts'

type Piece =
  | { kind: 'text'; text: string; quoted: boolean }
  | { kind: 'glob'; pattern: string; text: string }
  | { kind: 'unknown'; worst: string[]; quoted: boolean }
  | { kind: 'value'; text: string }
  | { kind: 'brace'; text: string }

const MAX_GUESSES = 12
const MAX_BRACE_WORDS = 1000

export function resolveWord(word: Word, scope: Scope): Arg[] {
  const parts = word.parts
  // The common case first: a bare word without any quoting, pattern or expansion.
  if (parts === undefined && word.text === word.value && !/~|\$\[|\{.*\}/.test(word.text)) {
    return [{ raw: word.text, text: word.text, glob: null, worst: [word.text] }]
  }
  if (isOldArithmetic(word.text)) return [{ raw: word.text, text: null, glob: null, worst: [word.value] }]
  const only = parts?.length === 1 ? parts[0] : undefined
  if (only?.type === 'ProcessSubstitution') {
    const content = staticOutput(only.script, scope, resolveWord) ?? ''
    return [{ raw: word.text, text: null, glob: null, worst: ['/dev/fd/63'], content }]
  }
  const pieces = toPieces(word, scope)
  return expandPieces(pieces).flatMap(sequence => finish(sequence, word.text, scope))
}

/** For redirect targets, assignment values, here-strings: one word, no splitting, no patterns. */
export function resolveSingle(word: Word, scope: Scope): Arg {
  if (isOldArithmetic(word.text)) return { raw: word.text, text: null, glob: null, worst: [word.value] }
  const pieces = toPieces(word, scope).map(
    (piece): Piece =>
      piece.kind === 'unknown' || piece.kind === 'text'
        ? piece
        : { kind: 'text', text: piece.text, quoted: true },
  )
  const arg = finish(pieces, word.text, scope)[0]
  return arg ?? { raw: word.text, text: '', glob: null, worst: [''] }
}

/** `$[1+1]` is arithmetic to bash and plain text to the parser. */
function isOldArithmetic(text: string): boolean {
  return text.includes('$[') && !/^'[^']*'$/.test(text)
}

export function toPieces(word: Word, scope: Scope): Piece[] {
  if (isGlued(word)) return [{ kind: 'unknown', worst: [word.value], quoted: true }]
  if (word.parts === undefined) return unescapeText(word.text)
  return word.parts.flatMap(part => partPieces(part, scope, false))
}

/** Places where what stands side by side is read differently by bash than part by part. */
function isGlued(word: Word): boolean {
  const parts = word.parts ?? []
  // A continuation may lie inside a name: `$HO\⏎ME`.
  if (word.text.includes('\\\n') && /[$~{]/.test(word.text)) return true
  // Braces come first: `$A{b,c}` is `$Ab $Ac`.
  return parts.some((part, i) => part.type === 'BraceExpansion' && parts[i - 1]?.type === 'SimpleExpansion')
}

/** Splits a bare text at its backslashes: what follows one is quoted. */
function unescapeText(text: string): Piece[] {
  if (!text.includes('\\')) return [{ kind: 'text', text, quoted: false }]
  const pieces: Piece[] = []
  for (const [piece] of text.matchAll(/\\[\s\S]?|[^\\]+/g)) {
    if (piece === '\\\n') continue
    const escaped = piece.startsWith('\\')
    pieces.push({ kind: 'text', text: escaped && piece.length > 1 ? piece.slice(1) : piece, quoted: escaped })
  }
  return pieces
}

function partPieces(part: WordPart, scope: Scope, quoted: boolean): Piece[] {
  switch (part.type) {
    case 'Literal':
      return quoted ? [{ kind: 'text', text: part.value, quoted }] : unescapeText(part.text)
    case 'SingleQuoted':
      return [{ kind: 'text', text: part.value, quoted: true }]
    case 'AnsiCQuoted':
      // U+FFFD stands for bytes that are not text: what the program would get is not known.
      return part.value.includes('\ufffd')
        ? [{ kind: 'unknown', worst: [part.value], quoted: true }]
        : [{ kind: 'text', text: part.value, quoted: true }]
    case 'DoubleQuoted': {
      const inner = part.parts.flatMap(child => partPieces(child, scope, true))
      return inner.length > 0 ? inner : [{ kind: 'text', text: '', quoted: true }]
    }
    case 'LocaleString':
      return [{ kind: 'unknown', worst: [part.text.slice(2, -1)], quoted: true }]
    case 'Glob':
      return [globPiece(part)]
    case 'BraceExpansion':
      return [{ kind: 'brace', text: part.text }]
    case 'SimpleExpansion':
      return [variablePiece(part.text.slice(1), scope, quoted)]
    case 'ParameterExpansion':
      return [parameterPiece(part, scope, quoted)]
    case 'CommandExpansion':
      return [{ kind: 'unknown', worst: [staticOutput(part.script, scope, resolveWord) ?? ''], quoted }]
    case 'ArithmeticExpansion':
      return [{ kind: 'unknown', worst: ['1'], quoted }]
    case 'ProcessSubstitution':
      return [{ kind: 'unknown', worst: ['/dev/fd/63'], quoted }]
    case 'ExtendedGlob':
      return [{ kind: 'unknown', worst: ['*'], quoted }]
  }
}

function globPiece(part: Extract<WordPart, { type: 'Glob' }>): Piece {
  // `**` is `*` in a shell without globstar.
  if (part.kind === 'star') return { kind: 'glob', pattern: '*', text: part.text }
  if (part.kind === 'question') return { kind: 'glob', pattern: '?', text: part.text }
  const plain = part.parts.every(inner => inner.type === 'Literal' && inner.text === inner.value)
  if (plain && !part.text.includes('/')) return { kind: 'glob', pattern: part.text, text: part.text }
  return { kind: 'unknown', worst: [part.value], quoted: false }
}

/** Multiplies braces out, as bash most likely does: no word of it is exact. Too many: one that nobody knows. */
function expandPieces(pieces: Piece[]): Piece[][] {
  let sequences: Piece[][] = [[]]
  for (const piece of pieces) {
    if (piece.kind !== 'brace') {
      for (const sequence of sequences) sequence.push(piece)
      continue
    }
    const guesses = expandBraces(piece.text.replace(/["'\\]/g, ''))
    if (guesses === null || guesses.length * sequences.length > MAX_BRACE_WORDS) {
      const first = sequences[0] ?? []
      return [[...first.slice(0, 50), { kind: 'unknown', worst: [''], quoted: true }]]
    }
    sequences = sequences.flatMap(sequence =>
      guesses.map((text): Piece[] => [...sequence, { kind: 'unknown', worst: [text], quoted: true }]),
    )
  }
  return sequences
}

/** The words of `{a,b}`, the innermost braces first: a guess for rules and hard limits. Null: too many. */
function expandBraces(text: string): string[] | null {
  let words = [text]
  for (;;) {
    const next = words.flatMap(expandOne)
    if (next.length > MAX_BRACE_WORDS) return null
    if (next.length === words.length) return words
    words = next
  }
}

function expandOne(text: string): string[] {
  const braces = /\{([^{}]*,[^{}]*)\}/.exec(text)
  if (braces === null) return [text]
  const [before, after] = [text.slice(0, braces.index), text.slice(braces.index + braces[0].length)]
  return (braces[1] ?? '').split(',').map(option => before + option + after)
}

function finish(sequence: Piece[], raw: string, scope: Scope): Arg[] {
  const pieces = expandTilde(sequence, scope)
  const unknown = pieces.some(
    piece => piece.kind === 'unknown' || (piece.kind === 'value' && isSplit(piece.text, scope)),
  )
  if (unknown || hasOddBraces(raw)) return guesses(pieces, raw)
  const literal = pieces.map(pieceText).join('')
  if (pieces.some(piece => piece.kind === 'glob')) {
    const pattern = pieces.map(piecePattern).join('')
    return [{ raw, text: null, glob: { pattern, literal }, worst: [literal] }]
  }
  // What is empty and not quoted leaves no word at all: `$EMPTY`, `{,x}`.
  if (literal === '' && pieces.every(piece => piece.kind !== 'text' || !piece.quoted)) return []
  return [{ raw, text: literal, glob: null, worst: [literal] }]
}

/** Text with braces that the parser takes as plain; bash may not. */
function hasOddBraces(raw: string): boolean {
  return /\{[\s\S]*(?:,|\.\.)[\s\S]*\}/.test(raw.replaceAll(/'[^']*'|"[^"$`]*"|\$\{[^}]*\}/g, ''))
}

/** Unquoted values with blanks, what IFS says instead, or pattern characters are split and matched: no one known word. */
function isSplit(text: string, { variables }: Scope): boolean {
  return variables.has('IFS') || /[\s*?[\\]/.test(text)
}

function guesses(pieces: Piece[], raw: string): Arg[] {
  let texts = ['']
  let splits = false
  for (const piece of pieces) {
    const options = piece.kind === 'unknown' ? piece.worst : [pieceText(piece)]
    if (piece.kind === 'value' || (piece.kind === 'unknown' && !piece.quoted)) {
      splits = splits || options.some(option => /\s/.test(option))
    }
    texts = texts.flatMap(text => options.map(option => text + option)).slice(0, MAX_GUESSES)
  }
  const unresolved = (worst: string[]): Arg => ({ raw, text: null, glob: null, worst })
  const first = texts[0] ?? ''
  // `rm${IFS}-rf${IFS}/` and `CMD="rm -rf /"; $CMD`: look at the words that bash would make of it.
  if (splits)
    return first
      .trim()
      .split(/\s+/)
      .slice(0, 200)
      .map(text => unresolved([text]))
  return [unresolved(texts)]
}

function pieceText(piece: Piece): string {
  return piece.kind === 'unknown' ? (piece.worst[0] ?? '') : piece.text
}

function piecePattern(piece: Piece): string {
  if (piece.kind === 'glob') return piece.pattern
  return pieceText(piece).replace(/[*?[\]\\]/g, '\\$&')
}

function expandTilde(pieces: Piece[], scope: Scope): Piece[] {
  const first = pieces[0]
  if (first?.kind !== 'text' || first.quoted || !first.text.includes('~')) return pieces
  const head = tildeStart(first.text)
  if (head === null) return pieces
  const prefix = first.text.slice(0, head)
  const slash = first.text.indexOf('/', head)
  const name = first.text.slice(head + 1, slash === -1 ? undefined : slash)
  const tail = slash === -1 ? '' : first.text.slice(slash)
  const rest = pieces.slice(1)
  const next = rest[0]
  // `~"user"` is not expanded by bash, `~$USER` neither: with more text right after it the word is not exact.
  if (slash === -1 && next !== undefined)
    return [{ kind: 'unknown', worst: [first.text], quoted: true }, ...rest]
  if (tail.includes(':~')) return [{ kind: 'unknown', worst: [first.text], quoted: true }, ...rest]
  const home = tildeValue(name, scope)
  const value: Piece = home.exact
    ? { kind: 'text', text: prefix + home.path, quoted: true }
    : { kind: 'unknown', worst: [prefix + home.path], quoted: true }
  return [value, { kind: 'text', text: tail, quoted: false }, ...rest]
}

/** Where a tilde that bash expands stands: at the start, or right after `NAME=`. */
function tildeStart(text: string): number | null {
  if (text.startsWith('~')) return 0
  const assignment = /^[A-Za-z_]\w*\+?=(?=~)/.exec(text)
  return assignment === null ? null : assignment[0].length
}

function tildeValue(name: string, scope: Scope): { path: string; exact: boolean } {
  const home = variablePiece('HOME', scope, true)
  const special = name === '' ? home : name === '+' ? variablePiece('PWD', scope, true) : null
  if (special?.kind === 'text') return { path: special.text, exact: true }
  if (special?.kind === 'unknown') return { path: special.worst[0] ?? '', exact: false }
  if (name === '-' && scope.oldCwd !== null) return { path: scope.oldCwd, exact: true }
  return { path: name === 'root' ? '/root' : `/home/${name}`, exact: false }
}

/** Variables of the environment whose usual value an attacker relies on (`rm${IFS}-rf${IFS}/`, `$SHELL -c`). */
const USUAL: Readonly<Record<string, string>> = {
  IFS: ' ',
  SHELL: '/bin/bash',
  BASH: '/bin/bash',
  ROOT: '/',
}

/** `$X` and `${X...}`: what the line itself says about variables, HOME, PWD and OLDPWD; nothing else is known. */
function variablePiece(name: string, scope: Scope, quoted: boolean): Piece {
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
function parameterPiece(part: ParameterExpansionPart, scope: Scope, quoted: boolean): Piece {
  const plain = variablePiece(part.parameter, scope, quoted)
  if (part.prefix === undefined && part.operation === undefined && part.index === undefined) return plain
  const guesses = plain.kind === 'unknown' ? plain.worst : [plain.text]
  // `${X:?}` stops the shell when X is empty, so it never becomes nothing.
  const stops = part.operation?.type === 'Default' && part.operation.operator.endsWith('?')
  return { kind: 'unknown', worst: stops ? [guesses[0] || '\u0000'] : [...guesses, ''], quoted }
}
