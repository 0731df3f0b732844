/** Whether a single name (no slashes) matches. */
export type NameTest = (name: string) => boolean

/**
 * The one engine for wildcards. Compiles `*`, `?` and `[…]` for one name. The time is at most the product of the two lengths: patterns come from models
 * and from `.gitignore` files of strangers, and a regular expression with six stars can run for days on a long name.
 */
export function compileWildcard(pattern: string, isLiteralToo = pattern.includes('[')): NameTest {
  const tokens = tokenize(pattern)
  const stars = tokens.filter(token => token === STAR).length
  if (stars === 0 && tokens.every(token => typeof token === 'string')) {
    const literal = tokens.join('')
    return name => name === literal
  }
  const affix = stars === 1 ? affixTest(tokens) : undefined
  if (affix !== undefined) return affix
  // Folders may really be called `[id]`.
  return name => matchTokens(tokens, Array.from(name)) || (isLiteralToo && name === pattern)
}

/** Whether a `[` begins a set of characters that nothing ends. */
export function hasOpenClass(pattern: string): boolean {
  const characters = Array.from(pattern)
  for (let at = 0; at < characters.length; at += 1) {
    if (characters[at] === '\\') at += 1
    else if (characters[at] === '[') {
      const end = classEnd(characters, at)
      if (end === -1) return true
      at = end
    }
  }
  return false
}

/** `*` and `?` in a text of any kind, slashes and line ends included; everything else stands for itself. */
export function compileText(pattern: string): NameTest {
  return compileWildcard(pattern.replaceAll(/[[\\]/g, '\\$&'), false)
}

/** A pattern for this very name, in which signs of a pattern stand for themselves. */
export function exactName(name: string): string {
  return name.replaceAll(/[*?[\]{}\\]/g, '\\$&')
}

const STAR = { kind: 'star' } as const
const ANY = { kind: 'any' } as const
type Token = string | typeof STAR | typeof ANY | { kind: 'class'; test: (character: string) => boolean }

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = []
  const characters = Array.from(pattern)
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i] ?? ''
    if (character === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR)
    } else if (character === '?') tokens.push(ANY)
    else if (character === '\\' && i + 1 < characters.length) {
      i += 1
      tokens.push(characters[i] ?? '')
    } else {
      const end = character === '[' ? classEnd(characters, i) : -1
      if (end === -1) tokens.push(character)
      else {
        tokens.push({ kind: 'class', test: classTest(characters.slice(i + 1, end)) })
        i = end
      }
    }
  }
  return tokens
}

/** Index of the bracket that closes the class; -1 when nothing does, and the bracket is a character like others. */
function classEnd(characters: readonly string[], start: number): number {
  let at = start + 1
  if (characters[at] === '!' || characters[at] === '^') at += 1
  if (characters[at] === ']') at += 1
  for (; at < characters.length; at += 1) {
    if (characters[at] === '\\') at += 1
    else if (characters[at] === ']') return at
  }
  return -1
}

function classTest(body: readonly string[]): (character: string) => boolean {
  const isNegated = body[0] === '!' || body[0] === '^'
  const items = isNegated ? body.slice(1) : body
  const ranges: (readonly [number, number])[] = []
  for (let i = 0; i < items.length; i += 1) {
    if (items[i] === '\\') i += 1
    const from = code(items[i])
    const hasRange = items[i + 1] === '-' && i + 2 < items.length
    ranges.push([from, hasRange ? code(items[i + 2]) : from])
    if (hasRange) i += 2
  }
  return character =>
    ranges.some(([from, to]) => code(character) >= from && code(character) <= to) !== isNegated
}

function code(character: string | undefined): number {
  return character?.codePointAt(0) ?? 0
}

/** `prefix*suffix`: nearly every pattern that is used. */
function affixTest(tokens: readonly Token[]): NameTest | undefined {
  if (!tokens.every(token => typeof token === 'string' || token === STAR)) return undefined
  const at = tokens.indexOf(STAR)
  const prefix = tokens.slice(0, at).join('')
  const suffix = tokens.slice(at + 1).join('')
  const least = prefix.length + suffix.length
  return name => name.length >= least && name.endsWith(suffix) && name.startsWith(prefix)
}

/** Goes back to the last star only, which is enough: an earlier star could take nothing that the last one cannot. */
function matchTokens(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0
  let at = 0
  let star = -1
  let resume = 0
  while (at < name.length) {
    const current = tokens[token]
    if (current === STAR) {
      star = token
      resume = at
      token += 1
    } else if (current !== undefined && matchesOne(current, name[at] ?? '')) {
      token += 1
      at += 1
    } else if (star !== -1) {
      token = star + 1
      resume += 1
      at = resume
    } else return false
  }
  while (tokens[token] === STAR) token += 1
  return token === tokens.length
}

function matchesOne(token: Token, character: string): boolean {
  if (typeof token === 'string') return token === character
  return token.kind === 'class' ? token.test(character) : true
}

/** Where the pattern may end in the name, when it begins at any of these places. */
export function startsAfter(
  pattern: string,
  name: readonly string[],
  from: ReadonlySet<number>,
): ReadonlySet<number> {
  let places = from
  for (const token of tokenize(pattern)) {
    const next = new Set<number>()
    if (token === STAR) {
      const first = Math.min(...places)
      if (places.size > 0) for (let at = first; at <= name.length; at += 1) next.add(at)
    } else {
      for (const at of places) if (at < name.length && matchesOne(token, name[at] ?? '')) next.add(at + 1)
    }
    places = next
  }
  return places
}
