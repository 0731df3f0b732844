/** Readers whose arguments are no ordinary options: find, test, ps, tar, xxd, ip. */
import type { Arg } from '../args.ts'
import { parseFlags } from '../flags.ts'

export interface ReadItem {
  arg: Arg
  tree: boolean
  content: boolean
  /** The path begins at the top of the git repository, wherever that is. */
  fromRoot?: boolean
  /** Every version of what lies below it in the git repository is read. */
  history?: boolean
}

/** What it reads, or why it is not only reading. `cwd`: it reads the current folder. */
export type ReaderVerdict =
  | {
      ok: true
      reads: ReadItem[]
      cwd: 'no' | 'folder' | 'tree-names' | 'tree-content'
      argv?: Arg[]
      /** Any file of the git repository may be shown. */
      history?: boolean
      /** Git may start filters that its repository names; `converters`: programs that turn files into text, too. */
      programs?: 'filters' | 'converters'
    }
  | { ok: false; reason: string }

const no = (reason: string): ReaderVerdict => ({ ok: false, reason })

/** Tests and actions of find with the number of their values. Actions that write, delete or run are not here. */
const FIND = new Map<string, number>()
for (const name of (
  '-empty -readable -writable -executable -nouser -nogroup -true -false -depth -d -mount -xdev -prune -quit -print ' +
  '-print0 -ls -not ! ( ) -o -or -a -and , -follow -noleaf -daystart -nowarn -warn -ignore_readdir_race -help -version --version --help'
).split(' ')) {
  FIND.set(name, 0)
}
for (const name of (
  '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime ' +
  '-amin -ctime -cmin -newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile -maxdepth -mindepth ' +
  '-printf -lname -ilname -fstype -used -context'
).split(' ')) {
  FIND.set(name, 1)
}

export function readFind(args: Arg[]): ReaderVerdict {
  const reads: ReadItem[] = []
  let at = 0
  while (/^-[HLPO]\d?$/.test(args[at]?.text ?? '')) at += 1
  for (; at < args.length; at++) {
    const arg = args[at]
    const text = arg?.text ?? arg?.glob?.literal ?? ''
    if (arg === undefined || text.startsWith('-') || text === '(' || text === '!') break
    reads.push({ arg, tree: true, content: false })
  }
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? null
    if (text === null) return no('a file pattern stands where a test is expected')
    const values = /^-newer[aBcm][aBcmt]$/.test(text) ? 1 : FIND.get(text)
    if (values === undefined) return no(`\`${text}\` is not read-only`)
    if (values === 1) {
      const value = args[++at]
      // A pattern that the shell expands first is common (`-name *.ts`); matches never begin with `-`.
      if (value === undefined || (value.text === null && value.glob === null))
        return no(`\`${text}\` has no value`)
      if (/^-(?:newer|anewer|cnewer|samefile)/.test(text))
        reads.push({ arg: value, tree: false, content: false })
      if (value.glob !== null) reads.push({ arg: value, tree: false, content: false })
    }
  }
  return { ok: true, reads, cwd: reads.some(read => read.tree) ? 'no' : 'tree-names' }
}

const TEST_UNARY = /^-[bcdefghknoprstuwxzGLNOS]$/
const TEST_FILE = /^-[bcdefghkprsuwxGLNOS]$/
const TEST_BINARY = /^(?:=|==|!=|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef|<|>)$/

/** `test` and `[`: run as programs they compare and look at files, whatever the operands are. */
export function readTest(args: Arg[], bracket: boolean): ReaderVerdict {
  if (bracket && args.at(-1)?.text !== ']') return no('the closing bracket is missing')
  const words = bracket ? args.slice(0, -1) : args
  const reads: ReadItem[] = []
  for (const [i, arg] of words.entries()) {
    const text = arg.text ?? ''
    const next = words[i + 1]
    if (arg.glob !== null || (next !== undefined && TEST_FILE.test(text))) {
      reads.push({ arg: next !== undefined && arg.glob === null ? next : arg, tree: false, content: false })
    }
    if (/^-(?:nt|ot|ef)$/.test(text) && i > 0 && next !== undefined) {
      reads.push(
        { arg: words[i - 1] ?? arg, tree: false, content: false },
        { arg: next, tree: false, content: false },
      )
    }
    const option =
      /^-[a-z]+$/i.test(text) && !TEST_UNARY.test(text) && !TEST_BINARY.test(text) && !/^-[ao]$/.test(text)
    if (option && text === '-v') return no('`-v` looks into variables')
  }
  return { ok: true, reads, cwd: 'no' }
}

/** ps without the BSD letter `e`, which prints the environment of processes. */
export function readPs(args: Arg[]): ReaderVerdict {
  const values =
    /^(?:-[aAdefFjlLmPTwxyMZcH]*o|[axuwfljrT]*o|-[aAdefFjlLmPTwxyMZcH]*[puUCGgtNqk]|--(?:pid|ppid|user|User|group|Group|sort|format|tty|sid|cols|columns|rows|lines|width))$/
  for (let i = 0; i < args.length; i++) {
    const text = args[i]?.text ?? null
    if (text === null) return no('an operand is not known')
    if (values.test(text)) {
      const value = args[++i]?.text ?? null
      if (value === null || (/o$|format$/.test(text) && !isPsFormat(value)))
        return no('its columns are not known')
    } else if (!isPsWord(text)) return no(`\`${text}\` is not read-only`)
  }
  return { ok: true, reads: [], cwd: 'no' }
}

function isPsWord(text: string): boolean {
  if (/^--(?:forest|headers|no-headers|no-heading|deselect|version|help)$/.test(text)) return true
  if (/^--(?:sort|pid|ppid|user|cols|columns|rows|width)=[\w,%+-]+$/.test(text)) return true
  const format = /^(?:-o|--format=)([\w,%:=]+)$/.exec(text)
  if (format !== null) return isPsFormat(format[1] ?? '')
  if (/^-aux[wfj]*$/.test(text)) return true
  // -p123, -u root written together; then dash letters; then BSD letters without `e`; then process numbers.
  if (/^-(?:[pqtgGuUC][\w,.-]+)$/.test(text)) return true
  if (/^-[aAdefFjlLmPTwxyMZcHVN]+$/.test(text)) return true
  return /^[axufjlvwrTSLhHnsm]+$/.test(text) || /^\d+(?:,\d+)*$/.test(text)
}

function isPsFormat(value: string): boolean {
  return /^[\w%,:= -]*$/.test(value) && !/(?:^|[,\s])env/.test(value)
}

/** Only listing. A name with a colon would be an archive on another machine. */
export function readTar(args: Arg[]): ReaderVerdict {
  const first = args[0]?.text ?? ''
  const old = /^[tvzjJaf]+$/.test(first) && first.includes('f') && first.includes('t')
  const list =
    '-tvzjJaR -f< --list --verbose --gzip --bzip2 --xz --zstd --file=< --wildcards --exclude= --version --numeric-owner --full-time --auto-compress'
  const parsed = parseFlags(old ? args.slice(2) : args, list)
  if (typeof parsed === 'string') return no(`\`${parsed}\` is not read-only`)
  const archives = old && args[1] !== undefined ? [args[1], ...parsed.files] : parsed.files
  const lists = old || ['-t', '--list', '--version'].some(flag => parsed.flags.has(flag))
  if (!lists) return no('it creates or extracts files')
  if (archives.some(arg => arg.text === null || arg.text.includes(':')))
    return no('the archive is not a plain file')
  return { ok: true, reads: archives.map(arg => ({ arg, tree: false, content: true })), cwd: 'no' }
}

/** xxd has no clusters (`-ps` is one option) and writes its second operand. */
export function readXxd(args: Arg[]): ReaderVerdict {
  const operands: Arg[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    const text = arg?.text ?? null
    if (arg === undefined || text === null)
      return no('a pattern may name two files, and the second is written')
    if (/^-[cglos]$/.test(text) || /^-(?:len|seek|cols)$/.test(text)) i += 1
    else if (
      /^-(?:[cglo]\d+|s[+-]?\d+)$/.test(text) ||
      /^-(?:[abeiuv]|p|ps|plain|postscript|version)$/.test(text)
    )
      continue
    else if (text.startsWith('-') && text !== '-') return no(`\`${text}\` is not read-only`)
    else operands.push(arg)
  }
  if (operands.length > 1) return no('the second file is written')
  return { ok: true, reads: operands.map(arg => ({ arg, tree: false, content: true })), cwd: 'no' }
}

/** Its options are words (`-br`); `-b FILE` runs commands from a file. */
export function readIp(args: Arg[]): ReaderVerdict {
  const option =
    /^-(?:[46ojdsh]|br|brief|json|details|statistics|oneline|c|color|c=never|color=never|p|pretty)$/
  const word =
    /^(?:a|addr|address|l|link|r|ro|route|rule|n|neigh|neighbor|show|list|ls|dev|lo|up|default|[a-z]{1,6}\d{1,3}(?:s\d+)?)$/
  const bad = args.find(arg => !option.test(arg.text ?? ' ') && !word.test(arg.text ?? ' '))
  return bad === undefined ? { ok: true, reads: [], cwd: 'no' } : no('it may change the network')
}
