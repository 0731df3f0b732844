/**
 * Accepts an awk program only when a strict reading of its tokens shows that it computes and prints. Whatever could be
 * read in two ways (a slash that may divide or begin a pattern) is refused: a misread string could hide a command.
 */
import type { ParsedFlags } from '../flags.ts'
import { awkMayLoop } from './endless.ts'

const FUNCTIONS = new Set(
  'length substr index split sub gsub match tolower toupper sprintf int sqrt exp log sin cos atan2 rand srand gensub strftime systime mktime asort asorti and or xor strtonum'.split(
    ' ',
  ),
)
const KEYWORDS = new Set(
  'print printf if else for while do in next exit delete break continue BEGIN END'.split(' '),
)
/** Names through which awk reaches the environment, other files or other programs. */
const REFUSED = new Set(
  'system getline close fflush function func ENVIRON PROCINFO SYMTAB FUNCTAB ARGV ARGC ARGIND nextfile ERRNO include load BEGINFILE ENDFILE'.split(
    ' ',
  ),
)

export function checkAwk(parsed: ParsedFlags): string | null {
  if (parsed.flags.has('--version')) return null
  const program = parsed.operands[0]?.text
  if (parsed.shifted || program === undefined || program === null) return 'the program is not known'
  const assigned = parsed.list.every(
    flag => !/^-v|^--assign/.test(flag.name) || /^[a-zA-Z_]\w*=/.test(flag.value),
  )
  const harmless = parsed.list.every(
    flag => !/^-v|^--assign/.test(flag.name) || !REFUSED.has(flag.value.split('=')[0] ?? ''),
  )
  if (awkMayLoop(program)) return 'its program may run without end'
  return assigned && harmless && isReadOnlyProgram(program) ? null : 'its program may write or run something'
}

/** Pure; exported for the tests. */
function isReadOnlyProgram(program: string): boolean {
  if (program.length > 2000 || /[@\\]\s*\n|\r/.test(program)) return false
  let rest = program
  let before = ''
  let braces = 0
  let parens = 0
  // Whether each open parenthesis belongs to `if`, `while` or `for`: after those a slash begins a pattern.
  const conditions: boolean[] = []
  while (rest !== '') {
    const token = nextToken(rest, before)
    if (token === null) return false
    rest = rest.slice(token.length)
    if (/^[ \t]+$/.test(token)) continue
    if (token === '{') braces += 1
    if (token === '}') braces -= 1
    if (token === '(') parens = conditions.push(/^(?:if|while|for)$/.test(before))
    const condition = token === ')' ? conditions.pop() : undefined
    if (token === ')') parens -= 1
    if (braces < 0 || parens < 0) return false
    // Inside braces and outside parentheses `>` after print writes a file.
    if (token === '>' && braces > 0 && parens === 0) return false
    if (/^[A-Za-z_]/.test(token) && !isKnownName(token, rest)) return false
    // `for (print "x" > "file"; ...)` is allowed in awk.
    if (parens > 0 && /^printf?$/.test(token)) return false
    before = condition === true ? 'condition)' : token
  }
  return braces === 0 && parens === 0
}

function isKnownName(name: string, rest: string): boolean {
  if (REFUSED.has(name)) return false
  if (FUNCTIONS.has(name) || KEYWORDS.has(name)) return true
  // Any other name is a variable; directly before `(` it would be a call.
  return !rest.startsWith('(')
}

const TOKEN =
  /^(?:[ \t]+|\n|;|"(?:[^"\\\n]|\\[^\n])*"|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+|[A-Za-z_]\w*|\+\+|--|&&|\|\||[<>=!+*%^-]=|!~|[{}()[\],<>=!+*%^~?:$-])/

function nextToken(rest: string, before: string): string | null {
  if (!rest.startsWith('/')) return TOKEN.exec(rest)?.[0] ?? null
  // A slash after a value divides; after these it begins a pattern; anywhere else it is ambiguous.
  if (/^(?:\d.*|\.\d+|\]|\))$/.test(before) || (/^[A-Za-z_]\w*$/.test(before) && isValueName(before)))
    return '/'
  if (!/^(?:|[{(,;~!\n}]|!~|&&|\|\||print)$/.test(before)) return null
  const pattern = /^\/((?:[^/\\\n]|\\[^\n])+)\//.exec(rest)
  if (pattern === null) return null
  const open = (pattern[1] ?? '')
    .replace(/\\./g, '')
    .replace(/\[\^?\]?(?:\[:\w+:\]|[^\]])*\]/g, '')
    .includes('[')
  return open ? null : pattern[0]
}

function isValueName(name: string): boolean {
  return !KEYWORDS.has(name) && !FUNCTIONS.has(name)
}
