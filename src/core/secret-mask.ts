/**
 * What is put in the place of a secret, and how much of the text around it goes with it. A model that quotes a secret can
 * also write something that only looks like one: `Set-Cookie: a=1; cp …`. So there are two masks: results lose all that
 * could belong to a secret; what a person decides about, and the log, lose the value of one token and no code.
 */
export interface Mask {
  /** Whether all that was found is covered. */
  readonly isWhole: boolean
  /** Where the mask of what was found ends, at or after `start`; at `start` there is none. */
  end(text: string, found: Span): number
  /** What stands for these characters. `isKnown`: they are a secret for sure. */
  mark(kind: string, secret: string, isKnown?: boolean): string
}

/** Where a secret is in a text, as far as a rule can tell. */
export interface Span {
  readonly start: number
  readonly end: number
}

export const WHOLE_MASK: Mask = {
  isWhole: true,
  end: (_, { end }) => end,
  mark: kind => `‹secret:${kind}›`,
}

/**
 * Word by word, and each says how long the secret is, roughly: a mask has no room to hide something else. In
 * `my_token='cp a b; ls'; eval "$my_token"` it stays visible that the value is code.
 */
export const TOKEN_MASK: Mask = {
  isWhole: false,
  end: tokenEnd,
  // Split at single characters: a repeated class over megabytes can exhaust the stack of the pattern matcher.
  mark: (kind, secret, isKnown) =>
    secret
      .split(isKnown ? /([\r\n])/ : BREAK)
      .map((part, index) =>
        part === '' || index % 2 === 1 ? part : `‹secret:${kind}, ${sizeOf(part.length)}›`,
      )
      .join(''),
}

/** Characters that neither end a word of a shell or of code nor start something else in it. */
export const BARE = '[^\\s"\'`,;&|<>(){}[\\]\\\\‹›]'
const BREAK = new RegExp(`(${BARE.replace('^', '')})`)

/** Masks what each match of the pattern is about, if anything; the search goes on right behind the mask. */
export function cover(
  text: string,
  pattern: RegExp,
  mask: Mask,
  locate: (match: RegExpExecArray) => (Span & { readonly kind: string }) | undefined,
): string {
  let output = ''
  let position = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const found = locate(match)
    if (found === undefined) continue
    const end = mask.end(text, found)
    if (end > found.start) {
      output += text.slice(position, found.start) + mask.mark(found.kind, text.slice(found.start, end))
      position = end
    }
    pattern.lastIndex = Math.max(end, match.index + 1)
  }
  return position === 0 ? text : output + text.slice(position)
}

/** Code that makes the value: Perl and Ruby match, run a program, or read a file, without a blank or a bracket. */
const MADE_BY_CODE = /^(?:~|(?:qx|%x)\W|(?:do|eval|exec|readpipe|require|system)\+)/
/** A shell runs what it puts in the place of `${my_token:=./run}`. */
const IN_EXPANSION = /\$\{!?\w{1,80}:?[-=+?]?$/

function tokenEnd(text: string, { start, end }: Span): number {
  const string = stringEnd(text, start)
  if (string !== undefined && string <= end) return string
  const rest = text.slice(start, end)
  const stop = rest.search(BREAK)
  const run = stop < 0 ? rest : rest.slice(0, stop)
  if (MADE_BY_CODE.test(run) || IN_EXPANSION.test(text.slice(Math.max(0, start - 90), start))) return start
  const comment = run.search(/\*\/|\/\*/)
  if (comment >= 0) return start + comment
  const last = start + run.length
  const next = text[last]
  if (run.endsWith('$') && (next === '{' || next === '(')) return last - 1
  // What a shell takes for a command: `token=\`cp a b\``.
  if (text[start - 1] === '`' && (text[start - 2] === '=' || next !== '`')) return start
  // The value is what a function returns: code, and no secret.
  return next === '(' || next === '[' ? start : last
}

/** A text without anything that a language could see as code inside of a string. */
const PLAIN_STRING = /(?:(?!\*\/)[^"'`\\\r\n$<>{}‹›])+(?=(["']))/y
const FARTHEST_QUOTE = 10_000

/**
 * The end of a quoted string that is one token: blanks and semicolons too belong to the secret. Only the first quote of a text
 * opens a string for sure. Behind another one that depends on the language: `"my_token="; run(); x = "b"`.
 */
function stringEnd(text: string, start: number): number | undefined {
  if (start === 0 || start > FARTHEST_QUOTE || !/^[^"'`\\]*["']$/.test(text.slice(0, start))) return undefined
  PLAIN_STRING.lastIndex = start
  const match = PLAIN_STRING.exec(text)
  return match?.[1] === text[start - 1] ? PLAIN_STRING.lastIndex : undefined
}

const SIZES = [8, 16, 32, 64]

function sizeOf(length: number): string {
  const most = SIZES.find(size => length <= size)
  if (most === undefined) return 'over 64 characters'
  return `${(SIZES[SIZES.indexOf(most) - 1] ?? 0) + 1}-${most} characters`
}
