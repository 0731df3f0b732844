import type { ParsedFlags } from '../flags.ts'

// The programs that agents call most, with the options under which they only read. They start at once, without a shell
// and without a layer. Everything that is not here runs contained: a missing program costs a few milliseconds.

/**
 * What operands are: `read` files, `tree` folders with everything below, `pattern` one pattern and then files, `script`
 * one program text (judged by `check`) and then files, `text` anything, `none`.
 */
export interface Reader {
  flags: string
  operands: 'read' | 'tree' | 'pattern' | 'script' | 'text' | 'none'
  max?: number
  numeric?: boolean
  /** Reads the current folder when no operand names one. */
  cwd?: boolean
  /** Options that make it go through folders. */
  recursive?: string
  /** Only names and sizes are read. */
  metadata?: boolean
  /** Nothing is an option: `echo ---` prints it. */
  raw?: boolean
  /** Options after which the first operand is no pattern or script. */
  replaces?: string
  /** A reason why these arguments are not only reading, or null. */
  check?: (parsed: ParsedFlags) => string | null
}

const HELP = ' --help --version'
const CHECKSUM = `-bctzw --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn${HELP}`
const GREP =
  '-EFGPivwxcLloqsbHhnTUzaIryuZV -e: -f< -m: -A: -B: -C: -d: --extended-regexp --fixed-strings --perl-regexp ' +
  '--ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match ' +
  '--files-with-matches --max-count= --only-matching --quiet --silent --no-messages --byte-offset --with-filename ' +
  '--no-filename --line-number --null --after-context= --before-context= --context= --text --binary-files= ' +
  '--exclude= --exclude-dir= --include= --recursive --regexp= --file=< --null-data --line-buffered --directories=' +
  HELP
const RG =
  '-iSsvwxcloqnNHIpFPUuaV0.b -e: -f< -g: -t: -T: -A: -B: -C: -m: -M: -r: -j: -d: -E: --ignore-case --smart-case ' +
  '--case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files-with-matches ' +
  '--files-without-match --only-matching --quiet --line-number --no-line-number --with-filename --no-filename ' +
  '--pretty --fixed-strings --pcre2 --multiline --multiline-dotall --text --null --regexp= --file=< --glob= --iglob= ' +
  '--type= --type-not= --after-context= --before-context= --context= --max-count= --max-columns= --replace= ' +
  '--threads= --max-depth= --encoding= --files --hidden --no-ignore --no-ignore-vcs --color= --column --heading ' +
  '--no-heading --json --sort= --sortr= --stats --trim --type-list --vimgrep --no-messages --no-config --unrestricted ' +
  `--max-filesize= --passthru${HELP}`
const LS =
  '-aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I: -w: --all --almost-all --author --color? --colour? --directory ' +
  '--classify? --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --inode ' +
  `--ignore= --literal --numeric-uid-gid --quote-name --reverse --recursive --size --sort= --time= --time-style=${HELP}`
const ls: Reader = {
  ...{ flags: LS, operands: 'read', cwd: true, recursive: '-R --recursive', metadata: true },
}
const grep: Reader = {
  ...{ flags: GREP, operands: 'pattern', numeric: true },
  ...{ recursive: '-r --recursive -d --directories', replaces: '-e -f --regexp --file' },
}
const ends: Reader = {
  ...{ operands: 'read', numeric: true },
  flags: `-qvz -n: -c: --bytes= --lines= --quiet --silent --verbose --zero-terminated${HELP}`,
}
const sums: Reader = { flags: CHECKSUM, operands: 'read' }
const nothing: Reader = { flags: HELP, operands: 'none' }
const anything: Reader = { flags: '', operands: 'text', raw: true }

/** Own keys only: `toString` is no program. */
export const READERS: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    ls,
    grep,
    egrep: grep,
    head: ends,
    tail: ends,
    sha256sum: sums,
    whoami: nothing,
    nproc: nothing,
    true: anything,
    false: anything,
    echo: anything,
    cat: {
      flags: `-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs${HELP}`,
      operands: 'read',
    },
    wc: { flags: `-clmwL --bytes --chars --lines --words --max-line-length${HELP}`, operands: 'read' },
    file: { flags: '-bhiIkLN --brief --mime --mime-type --mime-encoding', operands: 'read', metadata: true },
    stat: {
      flags: `-Lft -c: --format= --printf= --dereference --file-system --terse${HELP}`,
      operands: 'read',
      metadata: true,
    },
    du: {
      flags: `-0abcDHhklmPSsx -B: -d: --all --apparent-size --bytes --total --max-depth= --human-readable --si --summarize --exclude= --one-file-system${HELP}`,
      operands: 'tree',
      cwd: true,
      metadata: true,
    },
    basename: { flags: `-az -s: --multiple --suffix= --zero${HELP}`, operands: 'text' },
    dirname: { flags: `-z --zero${HELP}`, operands: 'text' },
    rg: {
      ...{ flags: RG, operands: 'pattern', recursive: 'always', cwd: true },
      replaces: '-e -f --regexp --file --files --type-list --version -V',
    },
    fd: {
      ...{ operands: 'pattern', recursive: 'always', cwd: true, metadata: true },
      flags: `-HIsiguapF0q1V -d: -t: -e: -E: -S: --hidden --no-ignore --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --full-path --print0 --max-depth= --min-depth= --type= --extension= --exclude= --color=${HELP}`,
    },
    sort: {
      flags: `-bdfghiMnRrVcCmsuz -k: -t: --ignore-case --human-numeric-sort --numeric-sort --reverse --version-sort --check? --key= --stable --field-separator= --unique${HELP}`,
      operands: 'read',
    },
    uniq: {
      flags: `-cdDiuz -f: -s: -w: --count --repeated --ignore-case --unique${HELP}`,
      operands: 'read',
      max: 1,
    },
    cut: {
      flags: `-nsz -b: -c: -d: -f: --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter=${HELP}`,
      operands: 'read',
    },
    tr: { flags: `-cCdst --complement --delete --squeeze-repeats${HELP}`, operands: 'text' },
    sed: {
      ...{ operands: 'script', replaces: '-e --expression', check: checkSed },
      flags: `-nErsz -e: --quiet --silent --regexp-extended --expression= --separate --null-data${HELP}`,
    },
    printf: { flags: '', operands: 'text' },
    pwd: { flags: `-LP --logical --physical${HELP}`, operands: 'none' },
    date: {
      ...{ flags: `-uR -I? -d: --date= --iso-8601? --rfc-3339= --utc${HELP}`, operands: 'text', max: 1 },
      check: ({ operands }) =>
        operands.every(arg => arg.text?.startsWith('+')) ? null : 'it may set the clock',
    },
    uname: { flags: `-asnrvmpio --all --kernel-release --machine${HELP}`, operands: 'none' },
    id: { flags: `-gGnru --group --groups --name --user${HELP}`, operands: 'text' },
    which: { flags: '-as --all', operands: 'text' },
  }),
)

/** Accepts a sed script only when every command in it prints, deletes or replaces on standard output. */
function checkSed(parsed: ParsedFlags): string | null {
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
