import { BARE, cover, type Mask, type Span } from './secret-mask.ts'

/**
 * Values given to a name that promises a secret: `PASSWORD=x`, `"api_key": "x"`, `token: x`, `--client-secret x`. The hard
 * part is what to leave: prose about passwords, types (`token: string`), and code that only passes a secret along
 * (`password = form.password`).
 */

const NAMES = [
  'passw(?:or)?d',
  'passphrase',
  'passcode',
  // Alone these are the result of a test and the current folder.
  '[_-]pass(?<=[a-z0-9][_-]pass|--pass)',
  '_pwd(?<=[a-z0-9]_pwd)',
  'secret(?:[ _-]?access)?(?:[ _-]?key)?',
  '(?:api|access|account|private|auth|encryption|signing|master)[ _-]?key',
  // Not where to go on reading, nor how many a model may write.
  'token(?<!(?:page|next|continue|continuation|cursor|sync|max|min|num|first|last)[_-]?token)',
  'credentials?',
].join('|')
const SUFFIX = String.raw`(?:[_-](?:prod|production|dev|development|staging|test|base|value|old|new)|[_-]?\d{1,3})?`

/** A key of an object whose text is a secret as a whole. Group 1 says what kind. */
export const SECRET_KEY = new RegExp(`(${NAMES}|authorization|cookie)${SUFFIX}$`, 'i')

export const ASSIGNMENT_TRIGGER = /pass[wpc]|[_-]pass|_pwd|secret|token|credential|[a-z][ _-]?key/i

// The name, the quote that closes it, and the sign; `==`, `===` and `::` compare and qualify.
const ASSIGNMENT = new RegExp(
  String.raw`(${NAMES})${SUFFIX}(?:["'\\\]]{0,4}([ \t]{0,4}(?:=>|:=|[=:](?![=:]))[ \t]{0,4})|(?<=--[a-z0-9-]{1,60})([ \t]{1,4}))`,
  'gi',
)
const QUOTE = /\\{0,3}["'`]/y
// A value is judged by its beginning, so that a text made of names costs no more than its length.
const BEGINNING = new RegExp(`${BARE}{1,128}`, 'y')
const BARE_REST = new RegExp(`${BARE}*`, 'y')
const LONGEST_PLACEHOLDER = 200
const MORE_OF_A_COMMAND = /["'`\\]*(?:[<>|&]|[ \t]+[^\s#])/y

export function maskAssigned(text: string, mask: Mask): string {
  return cover(text, ASSIGNMENT, mask, match => {
    const start = match.index + match[0].length
    const value = quotedValue(text, start) ?? bareValue(text, start, match)
    if (value === undefined) return undefined
    const isApart = /^=[ \t]/.test(match[2] ?? '')
    if (!mask.isWhole && isApart && mayBeProgram(text, value)) return undefined
    return { ...value, kind: secretKind(match[1] ?? '') }
  })
}

/** To a shell, `my_token= ./run` is an empty value and a program; in a file of settings, `TOKEN= Zx81kfPq` is a secret. */
function mayBeProgram(text: string, { start, end }: Span): boolean {
  MORE_OF_A_COMMAND.lastIndex = end
  return /[/$*?]|^[a-z][a-z0-9_.+-]{0,23}$/.test(text.slice(start, end)) || MORE_OF_A_COMMAND.test(text)
}

export function secretKind(name: string): string {
  if (/^[_-]?p(?:ass|wd)/i.test(name)) return 'password'
  return name
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '_')
    .replace(/_?key$/, '_key')
}

/** Text in the place of a secret that hides nothing: empty, a variable, a placeholder, already redacted. */
export function isPlaceholder(text: string): boolean {
  if (text.length > LONGEST_PLACEHOLDER) return false
  return /^(?:|\$\w+|\$\{[^{}]*\}|\$\([^()]*\)|%\w+%|<[^>]*>|\{\{.*\}\}|[*•.]+|x{3,}|‹secret:\w+(?:, [\w -]+)?›|include|omit|same-origin)$/i.test(
    text,
  )
}

function quotedValue(text: string, from: number): Span | undefined {
  QUOTE.lastIndex = from
  const quote = QUOTE.exec(text)?.[0]
  if (quote === undefined) return undefined
  const start = from + quote.length
  const end = closingQuote(text, start, quote)
  return isPlaceholder(text.slice(start, end)) ? undefined : { start, end }
}

/** Where the quoted text ends: at the same quote, not escaped any further; else at the end of the line. */
function closingQuote(text: string, start: number, quote: string): number {
  const sign = quote.at(-1)
  const escapes = quote.length - 1
  let backslashes = 0
  for (let index = start; index < text.length; index += 1) {
    const character = text[index]
    if (character === '\\') {
      backslashes += 1
      continue
    }
    if (character === '\n') return index
    // Inside, each level of quoting doubles the backslashes and adds one before a quote.
    if (character === sign && backslashes % (2 * (escapes + 1)) === escapes) return index - escapes
    backslashes = 0
  }
  return text.length
}

function bareValue(text: string, start: number, match: RegExpExecArray): Span | undefined {
  BEGINNING.lastIndex = start
  const value = BEGINNING.exec(text)?.[0]
  if (value === undefined || isPlaceholder(value) || isCode(value, text[start + value.length]))
    return undefined
  if (!isSecret(text, match, start, value)) return undefined
  BARE_REST.lastIndex = start
  BARE_REST.exec(text)
  return { start, end: BARE_REST.lastIndex }
}

function isSecret(text: string, match: RegExpExecArray, start: number, value: string): boolean {
  const sign = match[2]
  if (sign === undefined) return isFlagValue(value)
  if (sign === '=' || looksRandom(value)) return true
  return sign.startsWith(': ') && isWholeLine(text, match.index, start + value.length, value)
}

const WORDS_FOR_NOTHING =
  /^(?:true|false|yes|no|on|off|null|nil|none|undefined|string|str|text|number|int|bool|boolean|bytes|any|unknown|object|required|optional|await|new|this|self|\d{1,3})$/i

/** A type, a call, a member of something, or another variable that has the secret. */
function isCode(value: string, next: string | undefined): boolean {
  if (WORDS_FOR_NOTHING.test(value) || next === '(' || next === '[') return true
  if (/\d/.test(value)) return false
  return (
    /^[a-z_$][\w$]*(?:[.?:]+[a-z_$][\w$]*)+$/i.test(value) || (SECRET_KEY.test(value) && /^\w+$/.test(value))
  )
}

function looksRandom(value: string): boolean {
  return value.length >= 6 && /[0-9!@#$%^*+~]/.test(value)
}

/** `  password: hunter` as in YAML: the name begins the line and the value ends it. A capital letter begins a type. */
function isWholeLine(text: string, nameAt: number, end: number, value: string): boolean {
  if (/^[A-Z][A-Za-z]*$/.test(value)) return false
  const after = text.slice(end, end + 2)
  if (after !== '' && !/^(?:\r?\n| #|\r$)/.test(after)) return false
  const before = nameAt > 80 ? text.slice(nameAt - 80, nameAt) : `\n${text.slice(0, nameAt)}`
  return /\n[ \t]*(?:- )?["']?[\w.-]*$/.test(before)
}

/** After `--password` follows its value, or, in a sentence about it, one of these words. */
function isFlagValue(value: string): boolean {
  return !/^(?:-|(?:id|type|src|env|file|path)=|(?:a|an|and|are|as|at|be|but|by|can|flag|flags|for|from|has|if|in|instead|is|it|its|may|must|not|of|on|option|or|should|so|than|that|the|then|to|was|when|which|will|with)$)/i.test(
    value,
  )
}
