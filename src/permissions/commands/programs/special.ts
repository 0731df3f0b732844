/** find, whose arguments are no ordinary options. */
import { type Arg, entriesFor } from '../args.ts'

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
export type ReaderVerdict = Reading | { ok: false; reason: string }

export interface Reading {
  ok: true
  reads: ReadItem[]
  cwd: 'no' | 'folder' | 'tree-names' | 'tree-content'
  argv?: Arg[]
  /** Any file of the git repository may be shown, in any version, or only as it is tracked now. */
  history?: boolean | 'tracked'
  /** Git may start filters that its repository names; `converters`: programs that turn files into text, too. */
  programs?: 'filters' | 'converters'
}

const no = (reason: string): ReaderVerdict => ({ ok: false, reason })

/** Tests and actions of find with the number of their values. Actions that write, delete or run are not here. */
const FIND = new Map([
  ...entriesFor(
    '-empty -readable -writable -executable -nouser -nogroup -true -false -depth -d -mount -xdev -prune -quit -print ' +
      '-print0 -ls -not ! ( ) -o -or -a -and , -follow -noleaf -daystart -nowarn -warn -ignore_readdir_race -help -version --version --help',
    0,
  ),
  ...entriesFor(
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime ' +
      '-amin -ctime -cmin -newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile -maxdepth -mindepth ' +
      '-printf -lname -ilname -fstype -used -context',
    1,
  ),
])

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
