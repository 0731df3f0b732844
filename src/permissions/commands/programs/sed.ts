/** Accepts a sed script only when every command in it is one that prints, deletes or replaces on standard output. */
import { seen } from '../args.ts'
import type { ParsedFlags } from '../flags.ts'
import { sedMayLoop } from './endless.ts'

export function checkSed(parsed: ParsedFlags): string | null {
  const named = parsed.list.filter(flag => flag.name === '-e' || flag.name === '--expression')
  if (parsed.shifted) return 'the script is not known'
  const scripts = named.length > 0 ? named.map(flag => flag.value) : [parsed.operands[0]?.text ?? null]
  if (parsed.flags.has('--version') || parsed.flags.has('--help')) return null
  const bad = scripts.find(script => script === null || !isReadOnlyScript(script))
  // Several -e are one script: a label in one, a jump in another.
  if (bad === undefined && sedMayLoop(scripts.join('\n'))) return 'its script may run without end'
  return bad === undefined
    ? null
    : `its script ${seen(parsed.operands[0]) === bad ? 'may ' : 'may also '}write or run something`
}

/** Pure; exported for the tests. */
function isReadOnlyScript(script: string): boolean {
  let rest = script
  for (let count = 0; count < 100; count++) {
    // Groups do nothing by themselves; their commands are checked one by one.
    rest = rest.replace(/^[\s;}]+/, '')
    if (rest === '') return count > 0
    const next = skipCommand(rest)
    if (next === null) return false
    rest = next
  }
  return false
}

/** What follows the first command, or null when that command is not on the list. */
function skipCommand(script: string): string | null {
  const first = skipAddress(script)
  if (first === null) return null
  let rest = first
  if (rest !== script && rest.startsWith(',')) {
    const second = /^,\s*[+~]\d+/.exec(rest)
    const after = second === null ? skipAddress(rest.slice(1).trimStart()) : rest.slice(second[0].length)
    if (after === null || after === rest.slice(1).trimStart()) return null
    rest = after
  }
  rest = rest.replace(/^\s*!?\s*/, '')
  if (rest.startsWith('{')) return rest.slice(1)
  if (rest.startsWith('s')) return skipSubstitute(rest)
  const simple = /^(?:[pPdDgGhHxnN=lz]|[qQ]\d{0,3})\s*(?=[;\n}]|$)/.exec(rest)
  if (simple !== null) return rest.slice(simple[0].length)
  const jump = /^(?::\s*\w+|[btT]\s*\w*)\s*(?=[;\n}]|$)/.exec(rest)
  if (jump !== null) return rest.slice(jump[0].length)
  if (rest.startsWith('y')) {
    const parts = delimited(rest.slice(1))
    return parts !== null && /^\s*(?:[;\n]|$)/.test(parts) ? parts : null
  }
  return null
}

/** Text after an address; the same text when there is none; null when it is odd. */
function skipAddress(text: string): string | null {
  const plain = /^(?:\d+(?:~\d+)?|\$)\s*/.exec(text)
  if (plain !== null) return text.slice(plain[0].length)
  if (!text.startsWith('/')) return text.startsWith('\\') ? null : text
  const end = endOf(text, 1, '/')
  if (end === null) return null
  const flags = /^[IM]*\s*/.exec(text.slice(end + 1))
  return text.slice(end + 1 + (flags?.[0].length ?? 0))
}

function skipSubstitute(text: string): string | null {
  const rest = delimited(text.slice(1))
  if (rest === null) return null
  // Flags `e` (run) and `w` (write) are not among these.
  const flags = /^[gpiI\d]*\s*(?=[;\n}]|$)/.exec(rest)
  return flags === null ? null : rest.slice(flags[0].length)
}

/** Skips `/a/b/` with any delimiter and returns what follows. */
function delimited(text: string): string | null {
  const delimiter = text[0]
  if (delimiter === undefined || /[\s\\\w;]/.test(delimiter)) return null
  const middle = endOf(text, 1, delimiter)
  const end = middle === null ? null : endOf(text, middle + 1, delimiter)
  return end === null ? null : text.slice(end + 1)
}

/** Index of the closing delimiter. GNU and BSD disagree about a delimiter inside brackets, so that is refused. */
function endOf(text: string, from: number, delimiter: string): number | null {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\n') return null
    if (text[i] === '\\') i += 1
    else if (text[i] === delimiter) return hasOpenBracket(text.slice(from, i)) ? null : i
  }
  return null
}

function hasOpenBracket(pattern: string): boolean {
  const rest = pattern.replace(/\\[\s\S]/g, '').replace(/\[\^?\]?(?:\[:\w+:\]|[^\]])*\]/g, '')
  return rest.includes('[')
}
