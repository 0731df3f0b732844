/**
 * Options against an exact list. Long options must be written out (GNU accepts `--outp=f` for `--output=f`), clusters
 * may only hold known letters, and what takes a value is known, so that no value is ever mistaken for an option.
 *
 * The list is a text: `-abc` three switches, `-n:` with a value, `-f<` with the name of a file that is read,
 * `-C?` with a value only when attached, `--all`, `--lines=` with a value, `--color?` with a value only after `=`,
 * `--file=<` with the name of a file that is read.
 */
import { type Arg, literalArg } from './args.ts'

type Kind = 'switch' | 'value' | 'optional' | 'file'

export interface ParsedFlags {
  /** Last value of each option; '' for switches. */
  flags: Map<string, string>
  /** Every option in order, for those that may be repeated. */
  list: { name: string; value: string }[]
  operands: Arg[]
  /** Values that name files which are read. */
  files: Arg[]
  /** A file pattern stood in the place of a value, so that the words after it may shift. */
  shifted: boolean
}

const KINDS: Readonly<Record<string, Kind>> = {
  '': 'switch',
  ':': 'value',
  '=': 'value',
  '?': 'optional',
  '<': 'file',
  '=<': 'file',
}

const compiled = new Map<string, Map<string, Kind>>()

function compile(list: string): Map<string, Kind> {
  const known = compiled.get(list)
  if (known !== undefined) return known
  const table = new Map<string, Kind>()
  for (const token of list.split(' ')) {
    if (token === '') continue
    const name = token.replace(/[:<?=]+$/, '')
    const mark = token.slice(name.length)
    const kind = KINDS[mark] ?? 'switch'
    if (name.startsWith('--') || name.length === 2) table.set(name, kind)
    else for (const letter of name.slice(1)) table.set(`-${letter}`, 'switch')
  }
  compiled.set(list, table)
  return table
}

/** The parsed arguments, or the option that is not on the list. `numeric`: `-5` is a number. */
export function parseFlags(args: Arg[], list: string, numeric = false): ParsedFlags | string {
  const table = compile(list)
  const parsed: ParsedFlags = { flags: new Map(), list: [], operands: [], files: [], shifted: false }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    if (arg === undefined) break
    const text = optionText(arg)
    if (text === null || text === '-' || !text.startsWith('-')) {
      parsed.operands.push(arg)
      continue
    }
    if (text === '--') {
      parsed.operands.push(...args.slice(i + 1))
      return parsed
    }
    if (numeric && /^-\d+$/.test(text)) {
      parsed.flags.set('-NUM', text.slice(1))
      continue
    }
    const used = text.startsWith('--')
      ? longFlag(text, args[i + 1], table, parsed)
      : cluster(text, args[i + 1], table, parsed)
    if (used === null) return text
    i += used
  }
  return parsed
}

function optionText(arg: Arg): string | null {
  return arg.text ?? (arg.glob?.literal.startsWith('-') ? arg.glob.literal : null)
}

/** How many of the following arguments it took, or null when it is not on the list. */
type Taken = number | null

function longFlag(text: string, next: Arg | undefined, table: Map<string, Kind>, parsed: ParsedFlags): Taken {
  const equals = text.indexOf('=')
  const name = equals === -1 ? text : text.slice(0, equals)
  const kind = table.get(name)
  if (kind === undefined || (kind === 'switch' && equals !== -1)) return null
  return takeValue(name, kind, equals === -1 ? null : text.slice(equals + 1), next, parsed)
}

function cluster(text: string, next: Arg | undefined, table: Map<string, Kind>, parsed: ParsedFlags): Taken {
  for (let i = 1; i < text.length; i++) {
    const name = `-${text[i]}`
    const kind = table.get(name)
    if (kind === undefined) return null
    if (kind !== 'switch') return takeValue(name, kind, text.slice(i + 1) || null, next, parsed)
    parsed.flags.set(name, '')
  }
  return 0
}

function takeValue(
  name: string,
  kind: Kind,
  attached: string | null,
  next: Arg | undefined,
  parsed: ParsedFlags,
): Taken {
  if (attached === null && (kind === 'switch' || kind === 'optional')) {
    parsed.flags.set(name, '')
    return 0
  }
  const value = attached === null ? next : literalArg(attached)
  if (value === undefined || (attached === null && !isValue(value))) return null
  if (value.text === null && (value.glob === null || kind === 'file')) return null
  const text = value.text ?? value.glob?.literal ?? ''
  parsed.flags.set(name, text)
  parsed.list.push({ name, value: text })
  if (kind === 'file') parsed.files.push(value)
  if (value.text === null) {
    parsed.shifted = true
    parsed.operands.push(value)
  }
  return attached === null ? 1 : 0
}

/**
 * The next word as a value. One that looks like an option is refused: programs differ in what takes a separate value
 * (`git log --format --output=f` opens f), and the list must not hide an option as a value.
 */
function isValue(next: Arg): boolean {
  const text = next.text ?? next.glob?.literal ?? ''
  return !text.startsWith('-') || /^-(?:\d[\w.]*)?$/.test(text)
}
