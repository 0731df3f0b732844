/**
 * Readers that would not end, or print without measure. None of them harms, but what runs without a question must not
 * keep the machine busy. Only lengths that stand in the line are known; a file's own size is no matter of this list.
 */
import { type Arg, seen } from '../args.ts'
import type { FoundCommand } from '../types.ts'

const MOST_NUMBERS = 10_000_000
const LONGEST_WAIT_SECONDS = 30

/** Why the call may go on for too long, or null. `stdin`: the text that it reads, when it is known. */
export function endlessReason(program: string, args: Arg[], stdin: string | null): string | null {
  const words = args.map(seen)
  // Patterns of grep and texts of echo are not formats.
  const formats = !/^(?:echo|[ef]?grep|rg|ag|test|\[|basename|dirname)$/.test(program)
  if (formats && words.some(isWide)) return 'it prints fields of enormous width'
  const check = CHECKS.get(program)
  return check?.(words, stdin) ?? null
}

/** A width of six digits or one that is computed: `%999999999d`, `%*s`, git's `%<(999999999)`. */
function isWide(word: string): boolean {
  return /%[-+ #0^_']*(?:\d*\.)?(?:\d{6,}|\*[a-zA-Z])|%[<>|]+\(\d{6,}/.test(word)
}

type Check = (words: string[], stdin: string | null) => string | null

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['seq', countNumbers],
  ['shuf', shuffles],
  ['bc', calculates],
  ['numfmt', words => (words.some(word => /^--\w+=.*\d{5,}/.test(word)) ? LONG : null)],
  ['top', repeats],
  ['vmstat', words => waits(words.filter(word => /^\d+$/.test(word)).map(Number))],
  ['factor', words => (words.length > 0 && words.every(word => word.length <= 20) ? null : LONG)],
  ...['nl', 'expand', 'unexpand', 'fold', 'fmt', 'cal', 'column', 'od', 'hexdump', 'base64'].map(
    (name): [string, Check] => [name, words => (words.some(word => /\d{5,}/.test(word)) ? LONG : null)],
  ),
])

const LONG = 'it may go on for a long time'

function countNumbers(words: string[]): string | null {
  const numbers = words.filter(word => /^-?[\d.]/.test(word)).map(Number)
  const [first = 1, step = 1, last = 1] =
    numbers.length === 1 ? [1, 1, numbers[0]] : numbers.length === 2 ? [numbers[0], 1, numbers[1]] : numbers
  const count = (last - first) / step
  return Number.isFinite(count) && count <= MOST_NUMBERS ? null : LONG
}

function shuffles(words: string[]): string | null {
  if (words.some(word => /^-\w*r|^--rep/.test(word))) return 'it repeats without end'
  const range = words.map(word => /(\d+)-(\d+)$/.exec(word)).find(match => match !== null)
  return range != null && Number(range[2]) - Number(range[1]) > MOST_NUMBERS ? LONG : null
}

/** Sums and products only: loops, functions and powers of powers take any time they like. */
function calculates(words: string[], stdin: string | null): string | null {
  if (words.some(word => !word.startsWith('-'))) return 'its program is in a file'
  if (words.some(word => /^--(?:version|help)$/.test(word))) return null
  if (stdin === null) return 'its program is not known'
  const plain = stdin.replace(/\bscale\s*=\s*\d{1,3}\b/g, '').replace(/\b(?:sqrt|length)\b/g, '')
  return plain.length < 500 && /^(?:[\d.+\-*/%()\s;<>=!]|\^\s*\d{1,3}(?!\d|\s*\^))*$/.test(plain)
    ? null
    : LONG
}

function repeats(words: string[]): string | null {
  const joined = words.join(' ')
  const times = /(?:^|\s)-\w*n\s?(\d+)/.exec(joined)?.[1]
  const delay = /(?:^|\s)-\w*d\s?([\d.]+)/.exec(joined)?.[1]
  return Number(times ?? 99) <= 5 && Number(delay ?? 3) <= 3 ? null : LONG
}

function waits([delay = 0, times = 1]: number[]): string | null {
  return delay * times <= LONGEST_WAIT_SECONDS ? null : LONG
}

/** Each wait is short enough on its own (readers.ts); a line may hold many. */
export function waitsTooLong(commands: readonly FoundCommand[]): boolean {
  const sleeps = commands.filter(command => command.program === 'sleep')
  const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }
  const total = sleeps
    .flatMap(command => command.argv.slice(1))
    .map(word => /^([\d.]+)([smhd]?)$/.exec(word.text ?? ''))
    .reduce((sum, match) => sum + Number(match?.[1] ?? 0) * (units[match?.[2] ?? ''] ?? 1), 0)
  return total > LONGEST_WAIT_SECONDS
}

/** `for (k in a)`, and counting up to a short number or NF with nothing in the body that could turn back the count. */
export function awkMayLoop(program: string): boolean {
  const text = program.replace(/"(?:[^"\\\n]|\\[^\n])*"/g, '""')
  const counted =
    /\bfor\s*\(\s*(\w+)\s*=\s*\d{1,6}\s*;\s*\1\s*<=?\s*(?:NF|\d{1,6})\s*;\s*(?:\1\s*\+\+|\+\+\s*\1)\s*\)/g
  const names = [...text.matchAll(counted)].map(match => match[1] ?? '')
  const rest = text.replace(counted, ' ').replace(/\bfor\s*\(\s*\w+\s+in\s+\w+\s*\)/g, ' ')
  if (/\b(?:while|for|do)\b/.test(rest)) return true
  if (names.length === 0) return false
  if (
    names.length > 2 ||
    /\bg?sub\b|\bsplit\b|\$[^;{}\n]*(?<![=!<>])=(?!=)|--|\$[^;{}\n]*\+\+|\+\+\s*\$/.test(rest)
  )
    return true
  return [...names, 'NF'].some(name =>
    new RegExp(`\\b${name}\\s*(?:[-+*/%^]?=(?!=)|\\+\\+)|\\+\\+\\s*${name}\\b`).test(rest),
  )
}

/** Joining lines (`:a;N;$!ba`) and comparing neighbours (`$!N;P;D`) end with the input; other jumps may not. */
export function sedMayLoop(script: string): boolean {
  const rest = script
    .replace(/^\s*:\s*(\w+)\s*[;\n]\s*N\s*[;\n]\s*\$!\s*b\s*\1\s*(?=[;\n]|$)/, '')
    .replace(/^\$!N;\s*(?:\/[^/;]*\/!)?\s*P;\s*D$/, '')
  if ((script.match(/&/g)?.length ?? 0) > 8) return true
  return /(?:^|[;\n{}!\s\d$/,])\s*(?::\s*\w|[btT]\s*\w*\s*(?:[;\n}]|$)|D\s*(?:[;\n}]|$))/.test(
    rest.replace(/s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1/g, 's'),
  )
}

/** jq: own functions, loops without a bound, and texts or lists of enormous length. */
export function jqMayLoop(program: string): boolean {
  const text = program.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\.[A-Za-z_]\w*/g, '.')
  if (/\b(?:def|while|until|repeat|combinations|limit|input_line_number|getpath|setpath)\b/.test(text))
    return true
  if (
    /\brecurse(?:_down)?\s*\(|\bg?sub\s*\(\s*"\^?"/.test(text) &&
    !/\brecurse\s*\(\s*\.\[\]\?\s*\)/.test(text)
  )
    return true
  if (/\bg?sub\s*\(\s*"\^?\$?"/.test(program)) return true
  if (/\brange\s*\((?!\s*(?:\d{1,6}|length)\s*(?:;\s*(?:\d{1,6}|length)\s*){0,1}\))/.test(text)) return true
  if ((text.match(/\brange\b/g)?.length ?? 0) > 1) return true
  return /[*[]\s*\d{6,}|\d{6,}\s*\*|\d[eE][+]?\d|\*\s*\(/.test(text)
}
