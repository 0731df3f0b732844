/** Accepts a sed script only when every command in it prints, deletes or replaces on standard output. */
import type { ParsedFlags } from '../flags.ts'

export function checkSed(parsed: ParsedFlags): string | null {
  if (parsed.flags.has('--version') || parsed.flags.has('--help')) return null
  const named = parsed.list.filter(({ name }) => name === '-e' || name === '--expression')
  const scripts = named.length > 0 ? named.map(({ value }) => value) : [parsed.operands[0]?.text ?? '']
  const isKnown = !parsed.shifted && scripts.every(script => script.length < 500 && SCRIPT.test(script))
  return isKnown ? null : 'its script may write or run something'
}

/** GNU and BSD disagree about a delimiter inside brackets, so that is not matched. */
const part = (delimiter: string): string =>
  `(?:[^${delimiter}\\\\\\n[]|\\\\[^\\n]|\\[\\^?\\]?[^\\]${delimiter}\\n[]*\\])*`
const SUBSTITUTION = ['/', '|', '#', ',', '@']
  .map(mark => `s[${mark}]${part(mark)}[${mark}]${part(mark)}[${mark}]`)
  .join('|')
const ADDRESS = `(?:\\d+(?:~\\d+)?|\\$|/${part('/')}/I?)`
/** Flags `e` (run) and `w` (write) of `s` are not among these, nor are jumps, which may not end. */
const COMMAND = `(?:${ADDRESS}(?:,(?:${ADDRESS}|\\+\\d+))?)?\\s*!?\\s*(?:[pdq=]|(?:${SUBSTITUTION})[gpiI\\d]*)`
const SCRIPT = new RegExp(`^\\s*${COMMAND}\\s*(?:[;\\n]\\s*${COMMAND}\\s*)*;?\\s*$`)
