/**
 * git lines that only read. They are safe because the runner neutralises the configuration of the repository; what
 * arguments could do on their own is refused here: `-c`, `--output`, `--ext-diff`, `--textconv`, `-O`, and formats that
 * start gpg (`%G?`, `%(signature)`).
 */
import { type Arg, literalArg } from '../args.ts'
import { type ParsedFlags, parseFlags } from '../flags.ts'
import { type GitOperands, gitContent, revisionReads } from './git-content.ts'
import type { ReaderVerdict, ReadItem } from './special.ts'

interface GitReader {
  flags: string
  numeric?: boolean
  max?: number
  check?: (parsed: ParsedFlags) => string | null
  /** What has to stand right behind the subcommand: `git stash -u -- list` takes the file `list` away. */
  verb?: RegExp
  /** Operands are text and name no files. */
  noPaths?: boolean
}

const DIFF =
  ' -pusRabwzWD -G: -U: -S: -M? -C? -c --patch --no-patch --unified= --raw --stat? --numstat --shortstat ' +
  '--compact-summary --summary --dirstat? --name-only --name-status --color? --no-color --word-diff? --color-words? ' +
  '--no-renames --check --full-index --abbrev? --no-abbrev --find-renames? --find-copies? --diff-filter= --pickaxe-all ' +
  '--pickaxe-regex --relative? --text --ignore-space-at-eol --ignore-space-change --ignore-all-space ' +
  '--ignore-blank-lines --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? ' +
  '--submodule? --no-prefix --minimal --patience --histogram --diff-algorithm= --cc'
const WALK =
  ' -n: -g -F -E -i -L: --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= ' +
  '--all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --merges --no-merges --first-parent ' +
  '--not --all --branches? --tags? --remotes? --glob= --exclude= --reflog --boundary --cherry-pick --left-only ' +
  '--right-only --walk-reflogs --merge --simplify-by-decoration --full-history --date-order --topo-order --reverse ' +
  '--no-walk? --pretty? --format= --abbrev-commit --oneline --notes? --no-notes --relative-date --date= --parents ' +
  '--left-right --graph --follow --no-decorate --decorate? --source --no-mailmap --full-diff -m -r -t --root'
const REFS =
  ' --sort= --format= --contains= --no-contains= --merged= --no-merged= --points-at= --column? --no-column --color? ' +
  '--no-color --ignore-case -i'

const BUILTIN_FORMATS = /^(?:oneline|short|medium|full|fuller|reference|email|mboxrd|raw)$/

/** A named format may come from the repository's configuration, and `%G` runs gpg. */
function formatCheck({ list }: ParsedFlags): string | null {
  for (const { name, value } of list) {
    if (!/^--(?:pretty|format)$/.test(name) || value === '') continue
    if (!value.includes('%') && !BUILTIN_FORMATS.test(value) && !/^t?format:/.test(value))
      return 'the format is not known'
    // Of a ref that leads to a file: all that is in it.
    if (/%\(\*?raw/.test(value)) return 'the format prints whole objects'
    if (/%[<>|]/.test(value)) return 'the format pads its fields'
    if (/%[+ -]?G|signature/.test(value)) return 'the format checks signatures, which starts another program'
  }
  return null
}

function listCheck(parsed: ParsedFlags): string | null {
  const lists = parsed.operands.length === 0 || [...parsed.flags.keys()].some(flag => LISTS.test(flag))
  return lists ? formatCheck(parsed) : 'with a name it creates something'
}

const LISTS = /^(?:--list|-l|-n|--(?:no-)?contains|--(?:no-)?merged|--points-at)$/

function configCheck({ flags, operands }: ParsedFlags): string | null {
  const first = operands[0]?.text ?? ''
  if (first === 'list' || flags.has('-l') || flags.has('--list')) return 'all settings may include secrets'
  const keys = ['--get', '--get-all', '--get-regexp'].flatMap(flag => flags.get(flag) ?? [])
  const key = keys[0] ?? (first === 'get' ? operands[1]?.text : first)
  if (key === undefined || key === null || key === '') return 'all settings may include secrets'
  if (operands.length > (first === 'get' ? 2 : 1) && keys.length === 0) return 'it changes a setting'
  if (operands.some(arg => arg.text === null)) return 'the setting is not known'
  const broad =
    flags.has('--get-regexp') &&
    !/^\^?(?:user|core|branch|remote|alias|color|diff|merge|pull|push|init)\b[\w\\.-]*$/.test(key)
  if (broad) return 'several settings may include secrets'
  const secret =
    /extraheader|token|passw|secret|credential|proxy|smtp|^\.|\*/i.test(key) || !key.includes('.')
  return secret ? 'the setting may be a secret' : null
}

/** `diff` starts a git in the submodule, which options of this one do not reach. */
function submoduleCheck({ list }: ParsedFlags): string | null {
  const starts = list.some(({ name, value }) => name === '--submodule' && !/^(?:|log|short)$/.test(value))
  return starts ? 'it starts another git in submodules' : null
}

/** Of a tag that leads to a file, `show` prints the file. */
function manyCheck({ flags }: ParsedFlags): string | null {
  const all = ['--all', '--tags', '--branches', '--remotes', '--glob', '--reflog']
  return all.some(flag => flags.has(flag)) ? 'it shows whatever all names lead to' : null
}

const LOG: GitReader = { flags: DIFF + WALK, numeric: true, check: formatCheck }

/** What agents look at most. Other commands of git that only look run contained. */
const TABLE: ReadonlyMap<string, GitReader> = new Map(
  Object.entries<GitReader>({
    status: {
      flags:
        '-sbvz -u? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignored? --ignore-submodules? --no-renames',
    },
    log: LOG,
    show: { ...LOG, check: parsed => formatCheck(parsed) ?? manyCheck(parsed) },
    diff: { flags: `${DIFF} --cached --staged --merge-base --no-index --base --ours --theirs` },
    branch: {
      ...{ flags: `-arvliq --all --remotes --verbose --list --show-current${REFS}`, noPaths: true },
      check: listCheck,
    },
    tag: { flags: `-li -n? --list${REFS}`, check: listCheck, noPaths: true },
    remote: {
      ...{ flags: '-v --verbose --all', noPaths: true },
      check: ({ operands }) =>
        operands.length === 0 ||
        (operands[0]?.text === 'show' && operands.length === 1) ||
        (operands[0]?.text === 'get-url' && operands.length === 2)
          ? null
          : 'it changes or contacts a remote',
    },
    'rev-parse': {
      flags:
        '-q --verify --quiet --short? --abbrev-ref? --symbolic-full-name --all --show-toplevel --show-cdup --show-prefix --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-bare-repository --git-path=',
      noPaths: true,
    },
    'ls-files': {
      flags:
        '-cdmoiskuvtz -x: --cached --deleted --modified --others --ignored --stage --unmerged --directory --exclude= --exclude-standard --error-unmatch --full-name --eol',
    },
    blame: {
      flags:
        '-bcefklnpstwM? -C? -L: -M? --porcelain --line-porcelain --date= --since= --show-name --show-number --show-email --abbrev=',
    },
    'merge-base': { flags: '-a --all --is-ancestor --fork-point', noPaths: true },
    'symbolic-ref': { flags: '-q --quiet --short', max: 1, noPaths: true },
    config: {
      flags:
        '-zl --null --list --show-origin --local --global --type= --bool --int --get= --get-all= --get-regexp=',
      check: configCheck,
      noPaths: true,
    },
    stash: {
      ...{ flags: `${DIFF}${WALK} --include-untracked`, numeric: true, noPaths: true },
      ...{ verb: /^(?:list|show)$/, check: formatCheck },
    },
    worktree: { flags: '-v --verbose --porcelain', max: 1, noPaths: true, verb: /^list$/ },
  }),
)

export interface GitCall {
  /** Options before the subcommand that are known to be harmless; false when one is not. */
  known: boolean
  directories: Arg[]
  config: string[]
  subcommand: string | null
  rest: Arg[]
}

/** Splits `git -C dir --no-pager log -5` into its parts. */
export function splitGit(args: Arg[]): GitCall {
  const call: GitCall = { known: true, directories: [], config: [], subcommand: null, rest: [] }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    const text = arg?.text ?? arg?.worst[0] ?? ''
    if (!text.startsWith('-')) {
      call.subcommand = arg?.text ?? text
      call.rest = args.slice(i + 1)
      return call
    }
    if (text === '-C') {
      const directory = args[++i]
      if (directory !== undefined) call.directories.push(directory)
    } else if (text === '-c' || text === '--config-env') {
      call.config.push(args[++i]?.worst[0] ?? '')
      call.known = false
    } else if (/^--(?:git-dir|work-tree|namespace|exec-path|super-prefix)$/.test(text)) {
      i += 1
      call.known = false
    } else if (
      !/^(?:-P|--no-pager|--no-optional-locks|--literal-pathspecs|--no-replace-objects|--glob-pathspecs)$/.test(
        text,
      )
    ) {
      call.known = /^(?:--version|-v)$/.test(text) && args.length === 1 && call.known
    }
  }
  return call
}

export function readGit(call: GitCall): ReaderVerdict {
  if (!call.known) return { ok: false, reason: 'options before the subcommand can run other programs' }
  if (call.subcommand === null) return { ok: true, reads: [], cwd: 'no' }
  const reader = TABLE.get(call.subcommand)
  if (reader === undefined) return { ok: false, reason: `\`git ${call.subcommand}\` is not read-only` }
  if (reader.verb?.test(call.rest[0]?.text ?? '') === false)
    return { ok: false, reason: 'it changes the repository' }
  const parsed = parseGit(call.rest, reader)
  if (typeof parsed === 'string') return { ok: false, reason: `\`${parsed}\` is not read-only` }
  const reason = submoduleCheck(parsed) ?? reader.check?.(parsed) ?? null
  if (reason !== null) return { ok: false, reason }
  if (
    reader.max !== undefined &&
    (parsed.operands.length > reader.max || parsed.operands.some(arg => arg.glob !== null))
  ) {
    return { ok: false, reason: 'it has more operands than a read-only call' }
  }
  return gitReads(call.subcommand, reader, parsed, call.rest)
}

function gitReads(subcommand: string, reader: GitReader, parsed: ParsedFlags, rest: Arg[]): ReaderVerdict {
  const reads = parsed.files.map((arg): ReadItem => ({ arg, tree: false, content: true }))
  for (const { name, value } of parsed.list) {
    const path = name === '-L' ? /:([^:]+)$/.exec(value)?.[1] : undefined
    if (path !== undefined) reads.push({ arg: literalArg(path), tree: false, content: true })
  }
  const operands = splitOperands(parsed.operands, rest)
  const shown = gitContent(subcommand, parsed, operands)
  const programs = programsOf(subcommand, shown !== null)
  if (shown !== null)
    return { ok: true, reads: [...reads, ...shown.reads], cwd: 'folder', history: shown.history, ...programs }
  if (!reader.noPaths) for (const arg of parsed.operands) reads.push(...revisionReads(arg))
  return { ok: true, reads, cwd: 'folder', ...programs }
}

/** These read objects and settings only; what git does with files of the working tree may start filters. */
const NO_FILES = /^(?:log|show|branch|tag|remote|rev-parse|symbolic-ref|config|stash|worktree)$/

function programsOf(subcommand: string, printsFiles: boolean): { programs?: 'filters' | 'converters' } {
  // Converters are switched off by options (command-permit.ts), which this one does not have.
  if (subcommand === 'status' && printsFiles) return { programs: 'converters' }
  return NO_FILES.test(subcommand) ? {} : { programs: 'filters' }
}

/** The first `--` cannot be the value of an option (flags.ts), so what follows it is known. */
function splitOperands(operands: Arg[], rest: Arg[]): GitOperands {
  const end = rest.findIndex(arg => arg.text === '--')
  const paths = end === -1 ? 0 : rest.length - end - 1
  return {
    open: operands.slice(0, operands.length - paths),
    paths: operands.slice(operands.length - paths),
  }
}

function parseGit(args: Arg[], reader: GitReader): ParsedFlags | string {
  // `--merged`, `--contains` and the like need no value when they come last.
  const last = args.at(-1)?.text ?? ''
  const optional = /^--(?:no-)?(?:merged|contains)$|^--points-at$/.test(last)
  return parseFlags(optional ? [...args, literalArg('HEAD')] : args, reader.flags, reader.numeric)
}
