/**
 * Package managers and version queries that only read. Not here, since a file in the project chooses what runs: yarn
 * (`yarnPath`), pnpm (`.pnpmfile.cjs`), maven and gradle (`.mvn/jvm.config`, wrapper), `python -m`, everything of npx.
 */
import { type Arg, literalArg } from '../args.ts'
import { parseFlags } from '../flags.ts'
import type { ReaderVerdict } from './special.ts'

/** Programs whose own version query is harmless, with the spellings that they know. */
const VERSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'node nodejs deno bun': '--version -v',
    'npm npx': '--version -v',
    'python python3 python2 pypy3 pip pip3 pipx uv ruff black mypy': '--version -V',
    'ruby perl php lua luajit gem irb': '--version -v',
    'java javac kotlin kotlinc scala groovy': '-version --version',
    'rustc cargo rustup rustfmt': '--version -V',
    'gcc g++ cc c++ clang clang++ ld gdb lldb as': '--version',
    'make cmake ninja meson autoconf automake libtool': '--version',
    'docker podman docker-compose': '--version -v',
    'tsc esbuild eslint prettier biome': '--version -v',
    'curl wget rsync gpg socat': '--version -V',
    ssh: '-V',
    openssl: 'version',
    'tmux nano': '-V --version',
    'screen vim vi nvim emacs less more man': '--version',
    'psql mysql sqlite3 redis-cli redis-server mongod mongosh postgres pg_dump': '--version -V',
    'bash zsh fish dash ksh sh': '--version',
    'ghc stack cabal ocaml opam elixir erl julia swift zig nim crystal dart dotnet mono R Rscript':
      '--version',
    'ansible packer aws gcloud az gh hub kubectl helm minikube kind': '--version',
    'ffmpeg convert magick pandoc pdflatex': '-version --version',
    'nginx apache2 httpd caddy': '-v',
    'protoc buf grpcurl jq yq rg fd bat fzf tree ctags shellcheck shfmt hadolint': '--version',
    'brew apt apt-get dpkg rpm dnf yum pacman apk snap flatpak': '--version',
    'systemctl journalctl bwrap strace ltrace valgrind perf git-lfs zip unzip tar sudo just task':
      '--version',
    'code hugo watchman direnv volta corepack tokei hyperfine gitleaks trivy': '--version',
  }).flatMap(([programs, flags]) => programs.split(' ').map((program): [string, string] => [program, flags])),
)

export function isVersionQuery(program: string, args: Arg[]): boolean {
  const flags = VERSIONS.get(program)
  const first = args[0]?.text ?? ''
  if (program === 'kubectl' && args.map(arg => arg.text).join(' ') === 'version --client') return true
  if (args.length !== 1 || first === '') return false
  if (first === 'version' && /^(?:go|docker-compose)$/.test(program)) return true
  return flags?.split(' ').includes(first) === true
}

/** Listings that have nothing to do with the folder they are started in. */
const APART = /^(?:cargo version|rustup|pip|pip3|gem|apt)$/
const WRAPPERS = /^(?:nice|ionice|timeout|command|nohup|stdbuf|time)$/

/**
 * Whether a call that only reads is started outside the project. What answers to `cargo --version` may be a program that
 * the project chooses (rust-toolchain.toml, .tool-versions, .python-version, global.json, …), when tools are found by shims.
 */
export function runsApart(words: readonly string[]): boolean {
  return words.some((word, at) => {
    if (at > 0 && !WRAPPERS.test(words[0] ?? '')) return false
    const program = word.slice(word.lastIndexOf('/') + 1)
    const rest = words.slice(at + 1)
    return (
      isVersionQuery(program, rest.map(literalArg)) ||
      APART.test(program) ||
      APART.test(`${program} ${rest[0]}`)
    )
  })
}

interface Listing {
  words: RegExp
  flags: string
}

const PIP: Listing = {
  words: /^(?:list|show|freeze|check|debug)\b/,
  flags:
    '-fle --format= --files --local --user --editable --not-required --exclude-editable --exclude= --all --verbose -v --disable-pip-version-check --no-color',
}

const LISTINGS: Readonly<Record<string, Listing>> = {
  npm: {
    words: /^(?:ls|list|ll|la|root|prefix|explain|why|query|pkg get|config get|run|run-script)\b/,
    flags:
      '-aglps --all --depth= --json --long --parseable --global --omit= --include= --link --package-lock-only --production --prod --dev --only= --workspaces --workspace= -w: --no-color --silent --loglevel= --color=',
  },
  pip: PIP,
  pip3: PIP,
  go: { words: /^(?:version|env)\b/, flags: '' },
  cargo: { words: /^(?:version)\b/, flags: '' },
  rustup: {
    words: /^(?:toolchain list|target list|component list)\b/,
    flags: '--installed -v --verbose',
  },
  gem: { words: /^(?:list|environment|which)\b/, flags: '-l --local' },
  apt: {
    words: /^(?:list|show|policy)\b/,
    flags: '-a --installed --upgradable --all-versions --manual-installed -q',
  },
}

const TABLE: ReadonlyMap<string, Listing> = new Map(Object.entries(LISTINGS))

export function readPackages(program: string, args: Arg[]): ReaderVerdict | null {
  if (isVersionQuery(program, args)) return { ok: true, reads: [], cwd: 'no' }
  const listing = TABLE.get(program)
  if (listing === undefined) return null
  const parsed = parseFlags(args, listing.flags)
  if (typeof parsed === 'string') return { ok: false, reason: `\`${parsed}\` is not read-only` }
  const words = parsed.operands.map(arg => arg.text ?? '?')
  if (!listing.words.test(words.join(' ')))
    return { ok: false, reason: `\`${program} ${words[0] ?? ''}\` does more than read` }
  const reason = refused(program, words)
  return reason === null ? { ok: true, reads: [], cwd: 'folder' } : { ok: false, reason }
}

function refused(program: string, words: string[]): string | null {
  const [first = '', second = ''] = words
  // `npm run` alone lists the scripts; with a name it runs one.
  if (program === 'npm' && first.startsWith('run') && words.length > 1)
    return 'it runs a script of the project'
  if (
    program === 'npm' &&
    first === 'config' &&
    !/^(?:registry|prefix|cache|userconfig|globalconfig)$/.test(words[2] ?? '')
  ) {
    return 'the setting may be a secret'
  }
  if (program === 'npm' && first === 'pkg' && second !== 'get') return 'it changes package.json'
  if (program === 'go' && first === 'env' && words.length === 1) return 'it prints the environment'
  return null
}
