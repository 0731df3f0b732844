// Longer than 400 lines allowed: a table of programs that only read, with every option they may be given.
import type { ParsedFlags } from '../flags.ts'
import { checkAwk } from './awk.ts'
import { checkJq, checkYq } from './jq.ts'
import { checkSed } from './sed.ts'

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
  /** An operand that is a folder stands for the files in it. */
  entries?: boolean
  /** Nothing is an option: `echo ---` prints it. */
  raw?: boolean
  /** Options after which the first operand is no pattern or script. */
  replaces?: string
  /** A reason why these arguments are not only reading, or null. */
  check?: (parsed: ParsedFlags) => string | null
}

const HELP = ' --help --version'
const CHECKSUM =
  '-bctzw --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn'
const GREP =
  '-EFGPivwxcLloqsbHhnTUzaIrRyu -e: -f< -m: -A: -B: -C: -D: -d: --extended-regexp --fixed-strings --basic-regexp ' +
  '--perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? ' +
  '--files-without-match --files-with-matches --max-count= --only-matching --quiet --silent --no-messages ' +
  '--byte-offset --with-filename --no-filename --label= --line-number --initial-tab --null --after-context= ' +
  '--before-context= --context= --text --binary-files= --exclude= --exclude-from=< --exclude-dir= --include= ' +
  '--recursive --dereference-recursive --regexp= --file=< --null-data --line-buffered --binary --group-separator= ' +
  '--no-group-separator --directories= --devices= -Z'
const RG =
  '-iSsvwxcloqnNHIpFPUuaLV0. -e: -f< -g: -t: -T: -A: -B: -C: -m: -M: -r: -j: -d: -E: --ignore-case --smart-case ' +
  '--case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files-with-matches ' +
  '--files-without-match --only-matching --quiet --line-number --no-line-number --with-filename --no-filename ' +
  '--pretty --fixed-strings --pcre2 --no-pcre2 --multiline --multiline-dotall --unrestricted --text --follow ' +
  '--no-follow --null --regexp= --file=< --glob= --iglob= --type= --type-not= --after-context= --before-context= ' +
  '--context= --max-count= --max-columns= --max-columns-preview --replace= --threads= --max-depth= --maxdepth= ' +
  '--encoding= --files --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-ignore-dot ' +
  '--no-ignore-global --no-ignore-exclude --no-ignore-files --ignore --ignore-file=< --ignore-file-case-insensitive ' +
  '--color= --colors= --column --no-column --heading --no-heading --json --sort= --sortr= --sort-files --stats ' +
  '--no-stats --trim --no-trim --type-list --vimgrep --byte-offset --passthru --passthrough --no-messages ' +
  '--no-config --no-mmap --mmap --one-file-system --max-filesize= --crlf --engine= --auto-hybrid-regex ' +
  '--dfa-size-limit= --regex-size-limit= --line-buffered --block-buffered --include-zero --context-separator= ' +
  '--no-context-separator --field-match-separator= --field-context-separator= --path-separator= --glob-case-insensitive ' +
  '--null-data --binary --no-binary --no-unicode --unicode --no-require-git --require-git --stop-on-nonmatch -b' +
  ' --type-add= --pcre2-version --debug --trace'
const LS =
  '-aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I: -T: -w: --all --almost-all --author --escape --block-size= ' +
  '--ignore-backups --color? --colour? --directory --dired --classify? --file-type --format= --full-time ' +
  '--group-directories-first --no-group --human-readable --si --dereference --dereference-command-line ' +
  '--dereference-command-line-symlink-to-dir --hide= --hyperlink? --indicator-style= --inode --ignore= --kibibytes ' +
  '--literal --numeric-uid-gid --hide-control-chars --show-control-chars --quote-name --quoting-style= --reverse ' +
  '--recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero'
const DIFF =
  '-qscueynlptTbBwEZidaNrHW -U: -C: -D: -I: -x: -X< -F: -L: -S< --normal --brief --report-identical-files ' +
  '--context? --unified? --ed --rcs --side-by-side --width= --left-column --suppress-common-lines --show-c-function ' +
  '--show-function-line= --label= --expand-tabs --initial-tab --tabsize= --suppress-blank-empty --recursive ' +
  '--no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --exclude= --exclude-from=< ' +
  '--starting-file= --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change ' +
  '--ignore-all-space --ignore-blank-lines --ignore-matching-lines= --text --strip-trailing-cr --color? --palette= ' +
  '--minimal --horizon-lines= --speed-large-files --changed-group-format= --unchanged-group-format= ' +
  '--new-line-format= --old-line-format= --unchanged-line-format= --line-format= -W:'

function numbersUpTo(limit: number): (parsed: ParsedFlags) => string | null {
  return ({ operands }) => {
    const total = operands.reduce((sum, arg) => sum + seconds(arg.text ?? ''), 0)
    return total <= limit ? null : 'it waits for a long time'
  }
}

function seconds(text: string): number {
  const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text)
  if (match === null) return Number.POSITIVE_INFINITY
  const unit = { '': 1, s: 1, m: 60, h: 3600, d: 86400 }[match[2] ?? ''] ?? Number.POSITIVE_INFINITY
  return Number(match[1]) * unit
}

function operandsMatch(pattern: RegExp, reason: string): (parsed: ParsedFlags) => string | null {
  return ({ operands }) =>
    operands.every(arg => arg.text !== null && pattern.test(arg.text)) ? null : reason
}

function allOf(
  ...checks: ((parsed: ParsedFlags) => string | null)[]
): (parsed: ParsedFlags) => string | null {
  return parsed => checks.map(check => check(parsed)).find(reason => reason !== null) ?? null
}

function needs(flag: string, reason: string): (parsed: ParsedFlags) => string | null {
  return parsed => (flag.split(' ').some(name => parsed.flags.has(name)) ? null : reason)
}

function without(flags: string, reason: string): (parsed: ParsedFlags) => string | null {
  return parsed => (flags.split(' ').some(name => parsed.flags.has(name)) ? reason : null)
}

/** Nothing below a folder is hidden where a link leads out of it. */
const FOLLOWS_LINKS = 'it follows links, which may lead to other folders'

function checkGrep({ flags, list }: ParsedFlags): string | null {
  if (flags.has('-R') || flags.has('--dereference-recursive')) return FOLLOWS_LINKS
  const reads = list.some(({ name, value }) => /^(?:-D|--devices)$/.test(name) && value !== 'skip')
  return reads ? 'it reads devices' : null
}

/** `@file`: the words of that file become arguments, and its contents show up in messages. */
function noResponse({ operands }: ParsedFlags): string | null {
  const bad = operands.some(arg => (arg.text ?? arg.glob?.literal ?? '@').startsWith('@'))
  return bad ? 'an operand that begins with @ is a list of arguments' : null
}

const FILES: Record<string, Reader> = {
  ls: { flags: LS + HELP, operands: 'read', cwd: true, recursive: '-R --recursive', metadata: true },
  dir: { flags: LS + HELP, operands: 'read', cwd: true, recursive: '-R --recursive', metadata: true },
  vdir: { flags: LS + HELP, operands: 'read', cwd: true, recursive: '-R --recursive', metadata: true },
  eza: {
    flags:
      '-laAhrRTtFgiHSs1dGUmuxB -L: --all --long --tree --level= --git --icons? --color? --sort= --header --no-permissions --no-user --no-time --group-directories-first --git-ignore',
    operands: 'read',
    cwd: true,
    recursive: '-R -T --tree',
    metadata: true,
  },
  exa: {
    flags:
      '-laAhrRTtFgiHSs1dGUmuxB -L: --all --long --tree --level= --git --icons? --color? --sort= --header --group-directories-first --git-ignore',
    operands: 'read',
    cwd: true,
    recursive: '-R -T --tree',
    metadata: true,
  },
  cat: {
    flags: `-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting${HELP}`,
    operands: 'read',
  },
  bat: {
    flags:
      '-pnAuP -l: -r: -H: --plain --number --show-all --language= --line-range= --highlight-line= --style= --color= --decorations= --paging=',
    operands: 'read',
    check: ({ flags }) =>
      flags.has('--paging') && flags.get('--paging') !== 'never' ? 'it may start a pager' : null,
  },
  batcat: {
    flags: '-pnAu -l: -r: --plain --number --show-all --language= --line-range= --style= --color=',
    operands: 'read',
  },
  tac: { flags: `-br -s: --before --regex --separator=${HELP}`, operands: 'read' },
  head: {
    flags: `-qvz -n: -c: --bytes= --lines= --quiet --silent --verbose --zero-terminated${HELP}`,
    operands: 'read',
    numeric: true,
  },
  tail: {
    flags: `-qvzr -n: -c: --bytes= --lines= --quiet --silent --verbose --zero-terminated${HELP}`,
    operands: 'read',
    numeric: true,
  },
  wc: { flags: `-clmwL --bytes --chars --lines --words --max-line-length --total=${HELP}`, operands: 'read' },
  file: {
    flags:
      '-bhiIkLNnprsvSd0 -F: -P: --brief --mime --mime-type --mime-encoding --no-dereference --dereference --keep-going --extension --no-pad --separator= --version --help --no-buffer --print0 --raw --no-sandbox --apple',
    operands: 'read',
    metadata: true,
  },
  stat: {
    flags: `-LftxlnqsrF -c: --format= --printf= --dereference --file-system --terse --cached=${HELP}`,
    operands: 'read',
    metadata: true,
  },
  du: {
    flags: `-0abcDHhkLlmPSsx -B: -d: -t: -X< --null --all --apparent-size --block-size= --bytes --total --dereference-args --max-depth= --human-readable --inodes --dereference --count-links --no-dereference --separate-dirs --si --summarize --threshold= --time? --time-style= --exclude-from=< --exclude= --one-file-system${HELP}`,
    operands: 'tree',
    cwd: true,
    metadata: true,
  },
  df: {
    flags: `-aBhHiklPTvm -t: -x: -B: --all --block-size= --human-readable --si --inodes --local --no-sync --output? --portability --total --type= --print-type --exclude-type=${HELP}`,
    operands: 'read',
    metadata: true,
  },
  tree: {
    flags:
      '-adflxiSqNQpugshDFvtcUrCAnXJ -L: -P: -I: --dirsfirst --filesfirst --noreport --gitignore --prune --matchdirs --ignore-case --du --si --inodes --device --sort? --timefmt= --filelimit= --charset= --version --help --metafirst',
    operands: 'tree',
    cwd: true,
    metadata: true,
  },
  basename: { flags: `-az -s: --multiple --suffix= --zero${HELP}`, operands: 'text' },
  dirname: { flags: `-z --zero${HELP}`, operands: 'text' },
  realpath: {
    flags: `-eLmPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --relative-to= --relative-base= --strip --no-symlinks --zero${HELP}`,
    operands: 'read',
    metadata: true,
  },
  readlink: {
    flags: `-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero${HELP}`,
    operands: 'read',
    metadata: true,
  },
  namei: {
    flags: '-lmnovx --long --modes --nosymlinks --owners --vertical --mountpoints',
    operands: 'read',
    metadata: true,
  },
  lsattr: { flags: '-RVadlpv', operands: 'read', cwd: true, metadata: true },
  getfacl: {
    flags: '-acdeEstpnLPR --access --default --omit-header --numeric --absolute-names --tabular',
    operands: 'read',
    metadata: true,
  },
  mountpoint: { flags: '-qdx --quiet --fs-devno --devno', operands: 'read', metadata: true },
  md5sum: { flags: CHECKSUM + HELP, operands: 'read' },
  sha1sum: { flags: CHECKSUM + HELP, operands: 'read' },
  sha224sum: { flags: CHECKSUM + HELP, operands: 'read' },
  sha256sum: { flags: CHECKSUM + HELP, operands: 'read' },
  sha384sum: { flags: CHECKSUM + HELP, operands: 'read' },
  sha512sum: { flags: CHECKSUM + HELP, operands: 'read' },
  b2sum: { flags: `${CHECKSUM}${HELP} -l: --length=`, operands: 'read' },
  md5: { flags: '-qr -s:', operands: 'read' },
  shasum: { flags: '-bctUpqs -a: --algorithm= --check --binary --text', operands: 'read' },
  cksum: {
    flags: `-cz -a: -l: --algorithm= --base64 --raw --check --untagged --tag${HELP}`,
    operands: 'read',
  },
  sum: { flags: `-rs --sysv${HELP}`, operands: 'read' },
  base64: { flags: `-diD -w: --decode --ignore-garbage --wrap=${HELP}`, operands: 'read', max: 1 },
  base32: { flags: `-di -w: --decode --ignore-garbage --wrap=${HELP}`, operands: 'read', max: 1 },
  hexdump: { flags: '-bcCdovxX -e: -n: -s: --canonical --length= --skip= --no-squeezing', operands: 'read' },
  hd: { flags: '-bcCdovx -e: -n: -s:', operands: 'read' },
  od: {
    flags: `-abcdDfiloxXsvBhHIeOL -A: -j: -N: -S: -t: -w? --address-radix= --endian= --skip-bytes= --read-bytes= --strings? --format= --output-duplicates --width?${HELP}`,
    operands: 'read',
  },
  strings: {
    flags:
      '-afw -n: -t: -e: -s: -o -U: --all --print-file-name --bytes= --radix= --encoding= --include-all-whitespace --version --help',
    operands: 'read',
    numeric: true,
    check: noResponse,
  },
  nm: {
    flags:
      '-aABCDgnoprsSuUvVP -t: -f: --debug-syms --demangle? --dynamic --defined-only --extern-only --undefined-only --numeric-sort --no-sort --print-size --size-sort --reverse-sort --print-file-name --radix= --format= --portability --special-syms --synthetic --no-demangle',
    operands: 'read',
    check: noResponse,
  },
  size: {
    flags: '-ABdoxtGV --format= --totals --common --radix= --version',
    operands: 'read',
    check: noResponse,
  },
  readelf: {
    flags:
      '-aehlSsgdrnuVAIDcWtLz -x: -p: -R: --all --file-header --program-headers --segments --section-headers --sections --symbols --syms --dynamic --relocs --notes --unwind --version-info --arch-specific --hex-dump= --string-dump= --wide --headers --dyn-syms --demangle? --version',
    operands: 'read',
    check: noResponse,
  },
  // Not -S and -l: they print the sources that debugging information names.
  objdump: {
    flags:
      '-aCdDfFghHiKprRstTwWxz -j: -M: --archive-headers --file-headers --private-headers --headers --section-headers --all-headers --disassemble? --disassemble-all --full-contents --debugging --syms --dynamic-syms --reloc --dynamic-reloc --section= --demangle? --start-address= --stop-address= --no-show-raw-insn --wide --version --no-addresses',
    operands: 'read',
    check: noResponse,
  },
  zcat: { flags: '-fhlqSV --force --help --quiet --version', operands: 'read' },
  gzcat: { flags: '-f', operands: 'read' },
  bzcat: { flags: '-skq --small --quiet', operands: 'read' },
  xzcat: { flags: '-qv --quiet', operands: 'read' },
  zstdcat: { flags: '-q --quiet', operands: 'read' },
  gzip: {
    flags: '-cdlqtv --stdout --to-stdout --decompress --list --quiet --test --verbose --version --help',
    operands: 'read',
    check: needs('-c -l -t --stdout --to-stdout --list --test --version --help', 'it replaces the file'),
  },
  gunzip: {
    flags: '-clqtv --stdout --to-stdout --list --quiet --test --version --help',
    operands: 'read',
    check: needs('-c -l -t --stdout --to-stdout --list --test --version --help', 'it replaces the file'),
  },
  unzip: { flags: '-lvtpqZ12hzC', operands: 'read', check: needs('-l -v -t -p -Z', 'it extracts files') },
  zipinfo: { flags: '-12smlvhtzCTZ', operands: 'read' },
  iconv: { flags: '-cls -f: -t: --from-code= --to-code= --list --silent --version --help', operands: 'read' },
}

const TEXT: Record<string, Reader> = {
  grep: {
    flags: `${GREP + HELP} -V`,
    operands: 'pattern',
    numeric: true,
    recursive: '-r --recursive -d --directories',
    replaces: '-e -f --regexp --file',
    check: checkGrep,
  },
  egrep: {
    flags: GREP + HELP,
    operands: 'pattern',
    numeric: true,
    recursive: '-r --recursive -d --directories',
    replaces: '-e -f --regexp --file',
    check: checkGrep,
  },
  fgrep: {
    flags: GREP + HELP,
    operands: 'pattern',
    numeric: true,
    recursive: '-r --recursive -d --directories',
    replaces: '-e -f --regexp --file',
    check: checkGrep,
  },
  rg: {
    flags: RG + HELP,
    operands: 'pattern',
    recursive: 'always',
    cwd: true,
    replaces: '-e -f --regexp --file --files --type-list --pcre2-version --version -V',
    check: without('-L --follow', FOLLOWS_LINKS),
  },
  ag: {
    flags:
      '-iSsvwlLcoQFGafturn0HU -A: -B: -C: -m: -g: -p: -G: --ignore= --ignore-dir= --hidden --nocolor --color --nogroup --group --noheading --heading --numbers --nonumbers --files-with-matches --count --literal --word-regexp --ignore-case --case-sensitive --smart-case --depth= --js --ts --py --rust --go --html --css --json',
    operands: 'pattern',
    recursive: 'always',
    cwd: true,
    replaces: '-g',
    check: without('-f', FOLLOWS_LINKS),
  },
  fd: {
    flags:
      '-HIsiguaLplF0q1 -d: -t: -e: -E: -S: -c: -j: -o: --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path --print0 --max-depth= --min-depth= --exact-depth= --type= --extension= --exclude= --size= --changed-within= --changed-before= --newer= --older= --color= --threads= --max-results= --quiet --prune --strip-cwd-prefix? --owner= --help --version -V',
    operands: 'pattern',
    recursive: 'always',
    cwd: true,
    metadata: true,
  },
  sort: {
    flags: `-bdfghiMnRrVcCmsuz -k: -t: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --sort= --version-sort --check? --key= --merge --stable --field-separator= --unique --zero-terminated --parallel= --debug${HELP}`,
    operands: 'read',
  },
  uniq: {
    flags: `-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --skip-fields= --group? --ignore-case --skip-chars= --unique --zero-terminated --check-chars=${HELP}`,
    operands: 'read',
    max: 1,
  },
  cut: {
    flags: `-nsz -b: -c: -d: -f: --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter= --zero-terminated${HELP}`,
    operands: 'read',
  },
  tr: { flags: `-cCdst --complement --delete --squeeze-repeats --truncate-set1${HELP}`, operands: 'text' },
  paste: { flags: `-sz -d: --delimiters= --serial --zero-terminated${HELP}`, operands: 'read' },
  join: {
    flags: `-iz -1: -2: -a: -e: -j: -o: -t: -v: --ignore-case --check-order --nocheck-order --header --zero-terminated${HELP}`,
    operands: 'read',
  },
  comm: {
    flags: `-123z --check-order --nocheck-order --output-delimiter= --total --zero-terminated${HELP}`,
    operands: 'read',
  },
  diff: {
    flags: `${DIFF}${HELP} -v`,
    operands: 'read',
    numeric: true,
    recursive: '-r --recursive',
    entries: true,
    check: ({ flags }) =>
      (flags.has('-r') || flags.has('--recursive')) && !flags.has('--no-dereference') ? FOLLOWS_LINKS : null,
  },
  diff3: { flags: '-AeEx3XimaT -L: --show-all --merge --text --label=', operands: 'read' },
  cmp: {
    flags: `-bls -i: -n: --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent${HELP}`,
    operands: 'read',
  },
  nl: {
    flags: `-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering= --number-format= --number-separator= --number-width= --starting-line-number= --line-increment=${HELP}`,
    operands: 'read',
  },
  rev: { flags: '-hV0 --help --version', operands: 'read' },
  fold: { flags: `-bs -w: --bytes --spaces --width=${HELP}`, operands: 'read', numeric: true },
  fmt: {
    flags: `-cstu -w: -p: -g: --crown-margin --prefix= --split-only --tagged-paragraph --uniform-spacing --width= --goal=${HELP}`,
    operands: 'read',
    numeric: true,
  },
  expand: { flags: `-i -t: --initial --tabs=${HELP}`, operands: 'read', numeric: true },
  unexpand: { flags: `-a -t: --all --first-only --tabs=${HELP}`, operands: 'read' },
  column: {
    flags:
      '-txeJLd -s: -o: -c: -N: -R: -r: -H: -W: -T: -E: -O: -l: -n: --table --separator= --output-separator= --output-width= --table-columns= --table-right= --json --fillrows --keep-empty-lines --table-noheadings --table-hide= --table-name=',
    operands: 'read',
  },
  tsort: { flags: HELP, operands: 'read' },
  shuf: {
    flags: `-erz -i: -n: --echo --input-range= --head-count= --repeat --zero-terminated${HELP}`,
    operands: 'read',
  },
  numfmt: {
    flags:
      '-dz --from= --to= --suffix= --padding= --field= --format= --header? --round= --grouping --delimiter= --invalid=',
    operands: 'text',
  },
  look: { flags: '-adf', operands: 'text', max: 1 },
  sed: {
    flags: `-nErsuz -e: -l: --quiet --silent --regexp-extended --expression= --separate --unbuffered --null-data --line-length= --posix --sandbox${HELP}`,
    operands: 'script',
    replaces: '-e --expression',
    check: checkSed,
  },
  gsed: {
    flags: '-nErsuz -e: --quiet --silent --regexp-extended --expression=',
    operands: 'script',
    replaces: '-e --expression',
    check: checkSed,
  },
  awk: {
    flags: '-F: -v: --field-separator= --assign= --version',
    operands: 'script',
    replaces: '--version',
    check: checkAwk,
  },
  gawk: {
    flags: '-F: -v: --field-separator= --assign= --version',
    operands: 'script',
    replaces: '--version',
    check: checkAwk,
  },
  mawk: { flags: '-F: -v:', operands: 'script', check: checkAwk },
  jq: {
    flags:
      '-rcesnSjaCMRhV0 --raw-output --raw-output0 --compact-output --exit-status --slurp --null-input --sort-keys --join-output --ascii-output --color-output --monochrome-output --raw-input --tab --indent= --arg== --argjson== --slurpfile==< --rawfile==< --args --jsonargs --seq --stream --unbuffered --version --help --build-configuration',
    operands: 'script',
    replaces: '--version -V --help -h --build-configuration',
    check: checkJq,
  },
  yq: {
    flags:
      '-rPMCN -o: -p: --output-format= --input-format= --prettyPrint --no-colors --colors --unwrapScalar? --version -V',
    operands: 'script',
    replaces: '--version -V',
    check: checkYq,
  },
  bc: { flags: '-lqsw --mathlib --quiet --standard --warn --version --help', operands: 'read' },
  echo: { flags: '', operands: 'text', raw: true },
  printf: { flags: '', operands: 'text' },
  expr: { flags: HELP, operands: 'text', raw: true },
  seq: {
    flags: `-w -f: -s: -t: --format= --separator= --equal-width${HELP}`,
    operands: 'text',
    numeric: true,
    check: operandsMatch(/^-?[\d.e+-]{1,12}$/, 'an operand is no number'),
  },
  factor: { flags: HELP, operands: 'text' },
}

const SYSTEM: Record<string, Reader> = {
  pwd: { flags: `-LP --logical --physical${HELP}`, operands: 'none' },
  true: { flags: '', operands: 'text', raw: true },
  false: { flags: '', operands: 'text', raw: true },
  date: {
    flags: `-uRj -I? -d: -r< -v: --date= --iso-8601? --rfc-email --rfc-3339= --reference=< --utc --universal --debug --resolution${HELP}`,
    operands: 'text',
    max: 1,
    check: operandsMatch(/^\+/, 'it may set the clock'),
  },
  cal: { flags: '-13jmsyYw -A: -B: -n:', operands: 'text', numeric: true },
  uname: {
    flags: `-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system${HELP}`,
    operands: 'none',
  },
  arch: { flags: HELP, operands: 'none' },
  whoami: { flags: HELP, operands: 'none' },
  logname: { flags: HELP, operands: 'none' },
  id: { flags: `-agGnruzZ --group --groups --name --real --user --zero${HELP}`, operands: 'text' },
  groups: { flags: HELP, operands: 'text' },
  users: { flags: '', operands: 'none' },
  who: { flags: '-abdHlmpqrstTuw --all --boot --heading --count', operands: 'none' },
  w: { flags: '-hsfiou', operands: 'text' },
  last: { flags: '-aFiwxR -n: -s: -t:', operands: 'text', numeric: true },
  hostname: { flags: '-sIfdA --short --long --fqdn --all-ip-addresses --domain', operands: 'none' },
  hostid: { flags: '', operands: 'none' },
  uptime: { flags: '-psV --pretty --since --version', operands: 'none' },
  nproc: { flags: '--all --ignore= --version --help', operands: 'none' },
  free: {
    flags:
      '-bkmghltwvV --bytes --kibi --mebi --gibi --kilo --mega --giga --human --wide --total --si --lohi --committed --version',
    operands: 'none',
  },
  tty: { flags: '-s --silent --quiet', operands: 'none' },
  locale: { flags: '-amckv --all-locales --charmaps --category-name --keyword-name', operands: 'text' },
  getconf: { flags: '-a', operands: 'text' },
  sleep: { flags: HELP, operands: 'text', check: numbersUpTo(15) },
  which: { flags: '-as --all', operands: 'text' },
  whereis: { flags: '-bmsul', operands: 'text' },
  locate: {
    flags:
      '-Abceiqrw -l: -n: --all --basename --count --existing --ignore-case --limit= --regexp= --regex --wholename',
    operands: 'text',
  },
  pgrep: {
    flags:
      '-acflnovxiw -u: -U: -P: -g: -G: -t: -d: -s: --full --list-name --list-full --newest --oldest --count --exact --inverse --parent= --euid= --uid= --delimiter= --ignore-case --lightweight',
    operands: 'text',
  },
  pidof: { flags: '-scxq -o:', operands: 'text' },
  pstree: { flags: '-acChHlnpsTuUVgAG', operands: 'text' },
  lscpu: { flags: '-abceJpxy --all --extended? --json --parse?', operands: 'none' },
  lsblk: {
    flags:
      '-abdDefilmnpPrJStTzO -o: -e: -x: --all --bytes --fs --json --list --output= --noheadings --paths --nodeps --topology',
    operands: 'read',
    metadata: true,
  },
  lsmod: { flags: '', operands: 'none' },
  modinfo: { flags: '-adlpn0 -F:', operands: 'text' },
  lspci: { flags: '-vnkbDtmq -s: -d:', operands: 'none' },
  lsusb: { flags: '-vt -s: -d:', operands: 'none' },
  findmnt: {
    flags: '-aAbDeflnrsuJ -t: -o: -T: -S: -M: --json --list --noheadings --output= --target= --types=',
    operands: 'text',
  },
  vmstat: {
    flags: '-afmnsdDtwV -S:',
    operands: 'text',
    max: 2,
    check: allOf(operandsMatch(/^\d{1,2}$/, 'an operand is no number'), ({ operands }) =>
      operands.length === 1 ? 'it runs until it is stopped' : null,
    ),
  },
  lsb_release: { flags: '-aidrcsv --all --id --description --release --codename --short', operands: 'none' },
  dmesg: {
    flags:
      '-TtexkuLrd -l: -f: --ctime --reltime --level= --facility= --kernel --userspace --notime --color? --decode --nopager',
    operands: 'none',
  },
  lsof: {
    flags: '-nPtablR -i? -p: -u: -c: -d: -s?',
    operands: 'text',
    check: operandsMatch(/^[^+]|^\+[dD]$/, 'the option is not known'),
  },
  ss: {
    flags:
      '-tulnpaxwesmioH4609 --tcp --udp --listening --numeric --processes --all --unix --summary --extended --memory --options --info --no-header --ipv4 --ipv6',
    operands: 'text',
  },
  netstat: {
    flags:
      '-tulnpaxwrise46W --tcp --udp --listening --numeric --programs --all --route --interfaces --statistics --wide',
    operands: 'none',
  },
  mount: { flags: '-l -t:', operands: 'none' },
  ldconfig: { flags: '-p', operands: 'none', check: needs('-p', 'it rebuilds the cache') },
  ifconfig: { flags: '-as', operands: 'text', max: 1 },
  sysctl: {
    flags: '-aneN --all --values --names --ignore',
    operands: 'text',
    check: operandsMatch(/^[\w./-]+$/, 'it may change a setting'),
  },
  crontab: { flags: '-l', operands: 'none', check: needs('-l', 'it changes the table') },
  top: {
    flags: '-bcHiSE -n: -o: -u: -p: -w? -d: -e:',
    operands: 'none',
    check: allOf(needs('-b', 'it is a full-screen program'), needs('-n', 'it runs until it is stopped')),
  },
  dpkg: {
    flags:
      '-lLsSW --list --listfiles --status --search --version --get-selections --print-architecture --audit',
    operands: 'text',
    check: needs(
      '-l -L -s -S --list --listfiles --status --search --version --get-selections --print-architecture --audit',
      'it changes packages',
    ),
  },
  'dpkg-query': {
    flags: '-lLsSW -f: --list --listfiles --status --search --show --showformat=',
    operands: 'text',
  },
  rpm: { flags: '-qailfcdvR', operands: 'text', check: needs('-q', 'it changes packages') },
  'apt-cache': {
    flags: '-nfq --names-only --full --installed',
    operands: 'text',
    check: ({ operands }) =>
      /^(?:show|search|policy|depends|rdepends|showpkg|madison|stats|pkgnames)$/.test(operands[0]?.text ?? '')
        ? null
        : 'the subcommand is not known',
  },
}

/** Own keys only: `toString` is no program. */
export const READERS: ReadonlyMap<string, Reader> = new Map(Object.entries({ ...FILES, ...TEXT, ...SYSTEM }))
