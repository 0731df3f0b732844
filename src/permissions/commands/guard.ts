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
  return { parse: line.length <= MAX_PARSE && !line.includes('\u0000') && !isTooNested(line), reasons }
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

/** Names the first character that a person cannot see or that reorders text. U+FE0F follows common emoji. */
function hiddenCharacter(line: string): string | null {
  // One cheap test for the usual line of printable ASCII.
  if (/^[\t\n\x20-\x7e]*$/.test(line)) return null
  const code = HIDDEN.exec(line)?.[0].codePointAt(0)
  return code === undefined
    ? null
    : `a character that does not show (U+${code.toString(16).toUpperCase().padStart(4, '0')})`
}

const HIDDEN =
  /(?!\t|\n|\uFE0F)[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\uFFFC]/u

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
