/**
 * Checks on the text before the parser sees it: length, nesting, characters that hide something. unbash overflows on
 * thousands of nested `"$(` and needs seconds for 20,000 `{a,`, so openers are counted first. Closers do not count
 * against them: `"$(: ')'` repeated would hide the depth.
 */
export const MAX_FULL = 8 * 1024
const MAX_PARSE = 64 * 1024

const MAX_SUBSTITUTIONS = 60
const MAX_OPENERS = 400

export interface Guard {
  parse: boolean
  reasons: string[]
}

export function guardLine(line: string): Guard {
  const reasons: string[] = []
  if (line.length > MAX_FULL) reasons.push('The line is longer than 8 KB and is not analysed in full.')
  const hidden = hiddenCharacter(line)
  if (hidden !== null)
    reasons.push(`The line contains ${hidden}, which can make it look like something else.`)
  if (line.length > MAX_PARSE || line.includes('\u0000')) return { parse: false, reasons }
  if (isTooNested(line)) {
    reasons.push('The line has too many nested parts to be analysed.')
    return { parse: false, reasons }
  }
  return { parse: true, reasons }
}

function isTooNested(line: string): boolean {
  if (line.length < MAX_SUBSTITUTIONS) return false
  let substitutions = 0
  let openers = 0
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i)
    if (code !== 40 && code !== 123 && code !== 96) continue
    openers += 1
    const before = line.charCodeAt(i - 1)
    if (code === 96 || before === 36 || before === 60 || before === 62 || before === 40) substitutions += 1
    // A continuation may stand between `$` and `(`.
    if (before === 10 && line.charCodeAt(i - 2) === 92) substitutions += 1
  }
  return substitutions > MAX_SUBSTITUTIONS || openers > MAX_OPENERS
}

/** Names the first character that a person cannot see or that reorders text; tab and newline are fine. */
function hiddenCharacter(line: string): string | null {
  // One cheap test for the usual line of printable ASCII.
  if (/^[\t\n\x20-\x7e]*$/.test(line)) return null
  for (const character of line) {
    const code = character.codePointAt(0) ?? 0
    const name = characterName(code)
    if (name !== null) return `${name} (U+${code.toString(16).toUpperCase().padStart(4, '0')})`
  }
  return null
}

function characterName(code: number): string | null {
  if (code === 9 || code === 10) return null
  if (code === 13) return 'a carriage return'
  if (code < 32 || code === 127 || (code >= 0x80 && code < 0xa0)) return 'a control character'
  if (code >= 0xd800 && code <= 0xdfff) return 'a lone surrogate'
  if (code === 0x61c || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) {
    return 'a character that changes the direction of text'
  }
  if (isInvisible(code)) return 'an invisible character'
  if (isBlank(code)) return 'an unusual space character'
  return code >= 0xe000 && code <= 0xf8ff ? 'a private-use character' : null
}

function isInvisible(code: number): boolean {
  if (code === 0xad || code === 0x34f || code === 0x180e || code === 0xfeff) return true
  if (code >= 0x200b && code <= 0x200f) return true
  if (code >= 0x2060 && code <= 0x206f) return true
  // U+FE0F follows common emoji.
  if (code >= 0xfe00 && code <= 0xfe0e) return true
  if (code >= 0xfff0 && code <= 0xfffb) return true
  return code === 0x115f || code === 0x1160 || code === 0x3164 || code === 0xffa0 || code >= 0xe0000
}

function isBlank(code: number): boolean {
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  )
}

const RAW_FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [
    /\brm\s{1,9}(?:-\S{1,20}\s{1,9}){0,4}-{1,2}[a-z]{0,9}[rR]\w{0,9}\s{1,9}(?:-\S{1,20}\s{1,9}){0,4}["']?(?:\/|~|\$HOME)[/*]{0,3}["']?(?:[\s;&|)]|$)/,
    'a recursive delete of / or a home',
  ],
  [/:\s{0,3}\(\s{0,3}\)\s{0,3}\{\s{0,3}:\s{0,3}\|\s{0,3}:\s{0,3}&/, 'a fork bomb'],
  [/\bmkfs(?:\.\w{1,9})?\s{1,9}\S/, 'the formatting of a disk'],
  [/\bof=\/dev\/(?:[shv]d|nvme|mmcblk)/, 'a write to a disk'],
  [/>\s{0,3}\/dev\/(?:[shv]d|nvme|mmcblk)/, 'a write to a disk'],
  [/[<>]&?\s{0,3}\/dev\/(?:tcp|udp)\//, 'a raw network connection of the shell'],
]

/** For text that is not parsed: the plainest spellings of what is never allowed. Every repeat is bounded, so the time is linear. */
export function rawForbidden(line: string): string | null {
  const hit = RAW_FORBIDDEN.find(([pattern]) => pattern.test(line))
  return hit === undefined ? null : hit[1]
}
