/** Whether a call of a known program only reads, and what. The allow list of the whole analyser meets here. */
import { type Arg, literalArg, seen } from '../args.ts'
import { type ParsedFlags, parseFlags } from '../flags.ts'
import { PAGERS } from '../interactive.ts'
import { findAction } from './actions.ts'
import { READERS, type Reader } from './readers.ts'
import { type ReaderVerdict, type ReadItem, type Reading, readFind } from './special.ts'

const as = (program: string) => (): ReaderVerdict => {
  return { ok: true, reads: [], cwd: 'no', argv: [literalArg(program)] }
}
const SPECIAL: ReadonlyMap<string, (args: Arg[]) => ReaderVerdict> = new Map([
  ['find', readFind],
  [':', as('true')],
  // Others are interactive and do not get here.
  ...[...PAGERS].map(pager => [pager, as('cat')] as const),
])

/** A width of five digits or one that is computed: `%999999999d`, `%*s`. */
const WIDE = /%[^a-zA-Z%\s]*(?:\d{5,}|\*)/

/** Null when the program is not one of the readers. */
export function judgeReader(program: string, args: Arg[]): ReaderVerdict | null {
  if (args.some(arg => WIDE.test(seen(arg))))
    return { ok: false, reason: 'it prints fields of enormous width' }
  const special = SPECIAL.get(program)
  if (special !== undefined) return special(args)
  const reader = READERS.get(program === 'fdfind' ? 'fd' : program)
  if (reader === undefined) return null
  if (reader.raw) return { ok: true, reads: args.filter(arg => arg.glob !== null).map(metadata), cwd: 'no' }
  const parsed = parseFlags(args, reader.flags, reader.numeric)
  if (typeof parsed === 'string') return { ok: false, reason: `\`${parsed}\` is not read-only` }
  const reason = reader.check?.(parsed) ?? operandProblem(reader, parsed)
  return reason === null ? { ok: true, ...readsOf(reader, parsed) } : { ok: false, reason }
}

function metadata(arg: Arg): ReadItem {
  return { arg, tree: false, content: false }
}

function operandProblem(reader: Reader, parsed: ParsedFlags): string | null {
  const { operands } = parsed
  const max = reader.operands === 'none' ? 0 : reader.max
  if (max === undefined) return null
  // A pattern may become any number of names.
  if (operands.some(arg => arg.glob !== null)) return 'a pattern may match more files than it accepts'
  return operands.length <= max ? null : 'it has more operands than a read-only call'
}

function readsOf(reader: Reader, parsed: ParsedFlags): Pick<Reading, 'reads' | 'cwd'> {
  const content = reader.metadata !== true
  const has = (names: string): boolean => names.split(' ').some(name => parsed.flags.has(name))
  const tree =
    reader.operands === 'tree' ||
    reader.recursive === 'always' ||
    (reader.recursive !== undefined && has(reader.recursive) && !onlyListed(parsed))
  const reads = parsed.files.map((arg): ReadItem => ({ arg, tree: false, content: true }))
  let paths = parsed.operands
  if ((reader.operands === 'pattern' || reader.operands === 'script') && !has(reader.replaces ?? '')) {
    // A file pattern in the place of the search pattern may become files as well.
    paths = paths.filter((arg, i) => i > 0 || arg.glob !== null)
  }
  if (reader.operands === 'text' || reader.operands === 'none') paths = paths.filter(arg => arg.glob !== null)
  for (const arg of paths) reads.push({ arg, tree, content })
  const reads_cwd = paths.length === 0 && (reader.cwd === true || (tree && reader.operands === 'pattern'))
  const cwd = !reads_cwd ? 'no' : tree ? (content ? 'tree-content' : 'tree-names') : 'folder'
  return { reads, cwd }
}

/** `grep -d skip` and `grep -d read` do not go into folders, unless another option makes it do so. */
function onlyListed({ flags, list }: ParsedFlags): boolean {
  const actions = list.filter(({ name }) => /^(?:-d|--directories)$/.test(name))
  return (
    actions.length > 0 &&
    actions.every(({ value }) => /^(?:skip|read)$/.test(value)) &&
    !flags.has('-r') &&
    !flags.has('--recursive')
  )
}

/** Whether it is known what its words are. Those of another program may be a command that it starts. */
export function isKnownProgram(program: string): boolean {
  return SPECIAL.has(program) || READERS.has(program) || program === 'git' || findAction(program, '') !== null
}
