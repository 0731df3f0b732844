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
  /** Operands are text and name no files. */
  noPaths?: boolean
}

const DIFF =
  ' -pusRabwzWD -G: -U: -S: -l: -B? -C? -M? --patch --no-patch --unified= --raw --patch-with-raw --patch-with-stat ' +
  '--stat? --numstat --shortstat --compact-summary --summary --dirstat? --cumulative --name-only --name-status ' +
  '--color? --no-color --color-moved? --no-color-moved --color-moved-ws= --word-diff? --word-diff-regex= --color-words? ' +
  '--no-renames --rename-empty --no-rename-empty --check --full-index --binary --abbrev? --no-abbrev --break-rewrites? ' +
  '--find-renames? --find-copies? --find-copies-harder --irreversible-delete --diff-filter= --pickaxe-all ' +
  '--pickaxe-regex --find-object= --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol ' +
  '--ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines= --inter-hunk-context= ' +
  '--function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? --submodule? --src-prefix= ' +
  '--dst-prefix= --no-prefix --default-prefix --line-prefix= --ita-invisible-in-index --minimal --patience --histogram ' +
  '--anchored= --diff-algorithm= --indent-heuristic --no-indent-heuristic --ws-error-highlight= --rotate-to= --skip-to= ' +
  '--stat-width= --stat-name-width= --stat-count= --stat-graph-width= -I: --diff-merges= --no-diff-merges --dd --cc -c ' +
  '--combined-all-paths --max-depth='
const WALK =
  ' -n: -g -F -E -P -i -L: --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= ' +
  '--grep-reflog= --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings ' +
  '--perl-regexp --remove-empty --merges --no-merges --min-parents= --max-parents= --no-min-parents --no-max-parents ' +
  '--first-parent --exclude-first-parent-only --not --all --branches? --tags? --remotes? --glob= --exclude= --reflog ' +
  '--ignore-missing --boundary --cherry-mark --cherry-pick --left-only --right-only --cherry ' +
  '--walk-reflogs --merge --simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges ' +
  '--ancestry-path? --date-order --author-date-order --topo-order --reverse --no-walk? --do-walk --pretty? --format= ' +
  '--abbrev-commit --no-abbrev-commit --oneline --encoding= --expand-tabs? --no-expand-tabs --notes? --no-notes ' +
  '--show-notes? --relative-date --date= --parents --children --left-right --graph --no-graph --show-linear-break? ' +
  '--follow --no-decorate --decorate? --decorate-refs= --decorate-refs-exclude= --clear-decorations --source ' +
  '--use-mailmap --mailmap --no-mailmap --full-diff --log-size -m -r -t --root --since-as-filter= --no-show-signature'
const REFS =
  ' --sort= --format= --contains= --no-contains= --merged= --no-merged= --points-at= --column? --no-column --color? ' +
  '--no-color --ignore-case -i --omit-empty'

const BUILTIN_FORMATS = /^(?:oneline|short|medium|full|fuller|reference|email|mboxrd|raw)$/

/** A named format may come from the repository's configuration, and `%G` runs gpg. */
function formatCheck({ list }: ParsedFlags): string | null {
  for (const { name, value } of list) {
    if (!/^--(?:pretty|format)$/.test(name) || value === '') continue
    if (!value.includes('%') && !BUILTIN_FORMATS.test(value) && !/^t?format:/.test(value))
      return 'the format is not known'
    // Of a ref that leads to a file: all that is in it.
    if (/%\(\*?raw/.test(value)) return 'the format prints whole objects'
    if (/%[+ -]?G|signature/.test(value)) return 'the format checks signatures, which starts another program'
  }
  return null
}

function listCheck(...listing: string[]): (parsed: ParsedFlags) => string | null {
  const flags = [
    '--list',
    '-l',
    '--contains',
    '--no-contains',
    '--merged',
    '--no-merged',
    '--points-at',
    ...listing,
  ]
  return parsed => {
    const lists = parsed.operands.length === 0 || flags.some(flag => parsed.flags.has(flag))
    return lists ? formatCheck(parsed) : 'with a name it creates something'
  }
}

function firstOperand(allowed: RegExp, reason: string): (parsed: ParsedFlags) => string | null {
  return ({ operands }) => (allowed.test(operands[0]?.text ?? '') ? null : reason)
}

function configCheck({ flags, operands }: ParsedFlags): string | null {
  const first = operands[0]?.text ?? ''
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

const LOG: GitReader = { flags: DIFF + WALK, numeric: true, check: formatCheck }

const READ_ONLY: Record<string, GitReader> = {
  status: {
    flags:
      '-sbvzu? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignored? --ignore-submodules? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? -u?',
  },
  log: LOG,
  show: LOG,
  whatchanged: LOG,
  reflog: {
    ...LOG,
    check: parsed =>
      formatCheck(parsed) ??
      (/^(?:expire|delete|drop|exists|write)$/.test(parsed.operands[0]?.text ?? '')
        ? 'it changes the reflog'
        : null),
  },
  diff: { flags: `${DIFF} --cached --staged --merge-base --no-index -0 -1 -2 -3 --base --ours --theirs` },
  'diff-tree': {
    flags: `${DIFF} -r -t -m -v -s --root --no-commit-id --always --merge-base --pretty? --format= --stdin`,
    check: formatCheck,
  },
  'diff-index': { flags: `${DIFF} --cached -m --merge-base` },
  'diff-files': { flags: `${DIFF} -0 -q` },
  'range-diff': { flags: `${DIFF} --creation-factor= --no-dual-color --left-only --right-only` },
  'rev-list': {
    flags: `${WALK} --count --objects --objects-edge --header --timestamp --quiet --disk-usage? --bisect --in-commit-order --missing= --filter= --no-commit-header --unpacked`,
    numeric: true,
    check: formatCheck,
  },
  shortlog: {
    flags:
      '-nsec -w? --numbered --summary --email --committer --group= --format= --since= --until= --after= --before= --all --no-merges --merges --author= --date=',
    check: formatCheck,
  },
  branch: {
    flags: `-arvliq --all --remotes --verbose --list --show-current --abbrev= --no-abbrev --quiet${REFS}`,
    check: listCheck(),
    noPaths: true,
  },
  tag: { flags: `-li -n? --list${REFS}`, check: listCheck('-n'), noPaths: true },
  'for-each-ref': {
    flags: `--count= --shell --perl --python --exclude= --include-root-refs${REFS}`,
    check: formatCheck,
    noPaths: true,
  },
  'show-ref': {
    flags: '-dqs? --head --heads --branches --tags --dereference --hash? --verify --abbrev? --quiet --exists',
    noPaths: true,
  },
  'symbolic-ref': { flags: '-q --quiet --short --no-recurse', max: 1, noPaths: true },
  remote: {
    flags: '-v --verbose --push --all -n',
    noPaths: true,
    check: parsed =>
      parsed.operands.length === 0 ||
      (/^get-url$/.test(parsed.operands[0]?.text ?? '') && parsed.operands.length === 2) ||
      (parsed.operands[0]?.text === 'show' && parsed.operands.length === 1)
        ? null
        : 'it changes or contacts a remote',
  },
  'rev-parse': {
    flags:
      '-q --verify --quiet --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --glob= --exclude= --show-toplevel --show-cdup --show-prefix --show-superproject-working-tree --git-dir --absolute-git-dir --git-common-dir --is-inside-git-dir --is-inside-work-tree --is-bare-repository --is-shallow-repository --resolve-git-dir= --git-path= --show-object-format? --show-ref-format --path-format= --default= --not --revs-only --no-revs --flags --no-flags --since= --until= --end-of-options --local-env-vars --disambiguate=',
    noPaths: true,
  },
  'ls-files': {
    flags:
      '-cdmoiskutvzf -x: -X< --cached --deleted --modified --others --ignored --stage --killed --unmerged --directory --no-empty-directory --exclude= --exclude-from=< --exclude-per-directory= --exclude-standard --error-unmatch --with-tree= --full-name --recurse-submodules --abbrev? --debug --deduplicate --eol --sparse --format=',
  },
  'ls-tree': {
    flags:
      '-drtlz --long --name-only --name-status --object-only --abbrev? --full-name --full-tree --format=',
  },
  'cat-file': {
    flags: '-tspe --allow-unknown-type --mailmap --no-mailmap',
  },
  blame: {
    flags:
      '-bcefhklnpstwM? -C? -L: -S< -M? --root --show-stats --porcelain --line-porcelain --incremental --encoding= --date= --since= --ignore-rev= --ignore-revs-file=< --color-lines --color-by-age --show-name --show-number --show-email --abbrev= --reverse --first-parent --progress --no-progress',
  },
  annotate: { flags: '-lsw -L:' },
  describe: {
    flags:
      '--all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match= --exclude= --always --first-parent --dirty? --broken?',
    noPaths: true,
  },
  grep: {
    flags:
      '-avIiwnlLcoqhHEGFPWpz -e: -f< -A: -B: -C: -m: --cached --untracked --no-index --no-exclude-standard --exclude-standard --recurse-submodules --text --ignore-case --invert-match --word-regexp --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --function-context --context= --after-context= --before-context= --max-count= --max-depth= --threads= --and --or --not --all-match --quiet --full-name --no-textconv -r --recursive --no-recursive',
    numeric: true,
  },
  'merge-base': { flags: '-a --all --octopus --independent --is-ancestor --fork-point', noPaths: true },
  'name-rev': {
    flags: '--tags --refs= --exclude= --all --name-only --no-undefined --always --annotate-stdin',
    noPaths: true,
  },
  'count-objects': { flags: '-vH --verbose --human-readable' },
  'check-ignore': { flags: '-qvzn --quiet --verbose --stdin --non-matching --no-index' },
  'check-attr': { flags: '-az --all --cached --stdin --source=' },
  'check-ref-format': { flags: '--branch --normalize --allow-onelevel --refspec-pattern', noPaths: true },
  cherry: { flags: '-v --abbrev?', noPaths: true },
  'show-branch': {
    flags:
      '-rag --remotes --all --current --topo-order --date-order --sparse --more= --list --merge-base --independent --no-name --sha1-name --topics --reflog? --color? --no-color',
    noPaths: true,
  },
  version: { flags: '--build-options', max: 0 },
  config: {
    flags:
      '-z --null --name-only --show-origin --show-scope --local --global --system --worktree --type= --bool --int --path --default= --get= --get-all= --get-regexp= --includes --no-includes --all',
    check: configCheck,
    noPaths: true,
  },
  stash: {
    ...LOG,
    flags: `${DIFF}${WALK} --include-untracked --only-untracked`,
    check: parsed => formatCheck(parsed) ?? firstOperand(/^(?:list|show)$/, 'it changes files')(parsed),
    noPaths: true,
  },
  worktree: {
    flags: '-vz --verbose --porcelain --expire=',
    check: firstOperand(/^list$/, 'it changes worktrees'),
    max: 1,
    noPaths: true,
  },
  notes: { flags: '--ref=', check: firstOperand(/^(?:list|show)$/, 'it changes notes'), noPaths: true },
  bisect: { flags: '', check: firstOperand(/^log$/, 'it changes the working tree'), max: 1, noPaths: true },
  'verify-pack': { flags: '-v -s --verbose --stat-only' },
  'ls-remote': {
    flags: '--get-url',
    check: ({ flags }) => (flags.has('--get-url') ? null : 'it contacts another machine'),
    noPaths: true,
  },
  'merge-file': {
    flags: '-pq --stdout --quiet --diff3 --zdiff3 --ours --theirs --union -L:',
    check: ({ flags }) => (flags.has('-p') || flags.has('--stdout') ? null : 'it writes its first file'),
  },
}

const TABLE: ReadonlyMap<string, GitReader> = new Map(Object.entries(READ_ONLY))

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
  const parsed = parseGit(call.rest, reader)
  if (typeof parsed === 'string') return { ok: false, reason: `\`${parsed}\` is not read-only` }
  const reason = submoduleCheck(parsed) ?? reader.check?.(parsed) ?? null
  if (reason !== null) return { ok: false, reason }
  if (
    reader.max !== undefined &&
    (parsed.operands.length > reader.max || parsed.operands.some(arg => arg.glob !== null))
  ) {
    return { ok: false, reason: 'it has more operands than a reading call' }
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
  if (subcommand === 'grep') return grepReads(parsed, operands, reads)
  const shown = gitContent(subcommand, parsed, operands)
  const programs = programsOf(subcommand, shown !== null)
  if (shown !== null)
    return { ok: true, reads: [...reads, ...shown.reads], cwd: 'folder', history: shown.history, ...programs }
  if (!reader.noPaths) for (const arg of parsed.operands) reads.push(...revisionReads(arg))
  return { ok: true, reads, cwd: 'folder', ...programs }
}

/** These read objects and settings only; what git does with files of the working tree may start filters. */
const NO_FILES =
  /^(?:log|show|whatchanged|reflog|diff-tree|rev-list|shortlog|branch|tag|for-each-ref|show-ref|symbolic-ref|remote|rev-parse|ls-tree|cat-file|merge-base|name-rev|count-objects|check-ref-format|cherry|show-branch|version|config|stash|worktree|notes|bisect|verify-pack|ls-remote|merge-file)$/

function programsOf(subcommand: string, printsFiles: boolean): { programs?: 'filters' | 'converters' } {
  // Converters are switched off by options (safe-git.ts), which these two do not have.
  if (subcommand === 'range-diff' || (subcommand === 'status' && printsFiles))
    return { programs: 'converters' }
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

/** `git grep` goes through the files of the folder; with a revision or `--cached` through objects instead. */
function grepReads(parsed: ParsedFlags, operands: GitOperands, reads: ReadItem[]): ReaderVerdict {
  const named = ['-e', '-f'].some(flag => parsed.flags.has(flag))
  const open = named ? operands.open : operands.open.slice(1)
  const history =
    parsed.flags.has('--cached') ||
    (open.length > 0 && !parsed.flags.has('--no-index')) ||
    operands.paths.some(arg => (arg.text ?? ':').startsWith(':'))
  const paths = [...open.flatMap(revisionReads), ...operands.paths]
  for (const item of paths) {
    const read = 'arg' in item ? item : { arg: item, tree: true, content: true }
    reads.push({ ...read, tree: true })
  }
  return { ok: true, reads, cwd: 'tree-content', history, programs: 'filters' }
}

function parseGit(args: Arg[], reader: GitReader): ParsedFlags | string {
  // `--merged`, `--contains` and the like need no value when they come last.
  const last = args.at(-1)?.text ?? ''
  const optional = /^--(?:no-)?(?:merged|contains)$|^--points-at$/.test(last)
  return parseFlags(optional ? [...args, literalArg('HEAD')] : args, reader.flags, {
    numeric: reader.numeric === true,
  })
}
