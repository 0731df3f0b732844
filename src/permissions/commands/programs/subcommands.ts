/**
 * Programs whose second word says what they do, and the options that may stand before it. `git -C . push` is a push:
 * rules and effects look for the subcommand, not for the second word.
 */
import { entriesFor } from '../args.ts'

interface Globals {
  /** Take the next word. */
  values: RegExp
  /** Take none. What is in neither is tried both ways. */
  flags: RegExp
  /** Change nothing but what is shown: a rule that allows may look past them. */
  harmless?: RegExp
}

const DOCKER: Globals = {
  values:
    /^(?:-H|--host|-c|--context|--config|-l|--log-level|--tlscacert|--tlscert|--tlskey|--url|--identity)$/,
  flags: /^(?:-D|--debug|--tls|--tlsverify|--remote)$/,
}
const NPM: Globals = {
  values:
    /^(?:--prefix|-C|--dir|--cwd|--registry|--userconfig|--globalconfig|--cache|--loglevel|--tag|--access|--otp|-w|--workspace|--filter|-F|--script-shell|--node-options|--reporter|--stream|--config)$/,
  flags:
    /^(?:-s|--silent|-q|--quiet|-d|-dd|-ddd|--verbose|-g|--global|-ws|--workspaces|--workspace-root|-y|--yes|--json|--no-\S+|--force|-f|-r|--recursive|--offline|--prefer-offline|--dry-run|--foreground-scripts|--ignore-scripts)$/,
}

/** Each option is tried with the next word and without. */
const ANY: Globals = { values: /^(?!)/, flags: /^(?!)/ }

const GLOBALS: ReadonlyMap<string, Globals> = new Map<string, Globals>([
  [
    'git',
    {
      values: /^(?:-C|-c|--git-dir|--work-tree|--namespace|--super-prefix|--config-env|--attr-source)$/,
      flags:
        /^(?:-p|-P|--paginate|--no-pager|--bare|--no-replace-objects|--no-lazy-fetch|--no-optional-locks|--no-advice|--(?:literal|glob|noglob|icase)-pathspecs|--version|--help|--html-path|--man-path|--info-path)$/,
      harmless: /^(?:-P|--no-pager|--no-optional-locks|--no-advice)$/,
    },
  ],
  ...entriesFor('npm pnpm yarn bun', NPM),
  ...entriesFor('docker podman nerdctl docker-compose', DOCKER),
  [
    'cargo',
    {
      values: /^(?:--config|-Z|-C|--color|--explain|--manifest-path|--target-dir)$/,
      flags: /^(?:-q|--quiet|-v+|--verbose|--locked|--offline|--frozen|--list|\+\S+)$/,
    },
  ],
  ...entriesFor(
    'kubectl oc helm gh glab terraform aws gcloud az heroku fly flyctl vercel netlify wrangler doctl',
    ANY,
  ),
  ...entriesFor(
    'pulumi systemctl service apt apt-get aptitude dnf yum zypper apk snap flatpak brew lerna vsce nx',
    ANY,
  ),
  ...entriesFor(
    'pip pip3 uv poetry pdm hatch flit twine conda mamba gem bundle composer rustup mix dotnet go',
    ANY,
  ),
  ...entriesFor('hg svn turbo', ANY),
])

/** `null` is a word that only the running line knows. */
type Words = readonly (string | null)[]

/**
 * How many words the option at this place takes with it: one, two, or either when it is not known. Only options before the
 * subcommand are known.
 */
function optionLengths(program: string, word: string, isGlobal: boolean): readonly number[] {
  if (word === '--' || /^--?[\w-]+=/.test(word)) return [1]
  const globals = isGlobal ? GLOBALS.get(program) : undefined
  if (globals?.values.test(word) === true) return [2]
  return globals?.flags.test(word) === true ? [1] : [1, 2]
}

/** These positions, and those behind options that may be skipped from them. */
export function pastOptions(
  from: Iterable<number>,
  words: Words,
  program: string,
  global: boolean,
): Set<number> {
  const reached = new Set(from)
  for (const at of reached) {
    const word = words[at]
    // Or none at all.
    if (at > 0 && word === null) reached.add(at + 1)
    if (at === 0 || typeof word !== 'string' || !/^[-+]/.test(word)) continue
    // Positions that are added are visited too: a set is walked in the order of insertion.
    for (const length of optionLengths(program, word, global)) {
      if (at + length <= words.length) reached.add(at + length)
    }
  }
  return reached
}

/** Where the subcommand may begin, for words with the program first. Empty: the program has none. */
export function subcommandStarts(program: string, words: Words): number[] {
  if (!GLOBALS.has(program)) return []
  const starts = [...pastOptions([1], words, program, true)].filter(at => !/^[-+]/.test(words[at] ?? ''))
  return starts.filter(at => at < words.length).sort((a, b) => a - b)
}

/** The words without options that only say how something is shown. */
export function withoutHarmless(program: string, words: Words): Words {
  const harmless = GLOBALS.get(program)?.harmless
  let end = 1
  while (harmless?.test(words[end] ?? '') === true) end += 1
  return end === 1 ? words : [words[0] ?? null, ...words.slice(end)]
}

/** npm's own other names of its subcommands, also those that it takes for slips of the finger. */
const NPM_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    run: 'run-script rum urn',
    test: 't tst',
    install: 'i in ins inst insta instal isnt isnta isntal isntall add',
    ci: 'clean-install ic install-clean isntall-clean',
    'install-test': 'it',
    'install-ci-test': 'cit clean-install-test sit',
    uninstall: 'unlink remove rm r un',
    update: 'up upgrade udpate',
    exec: 'x',
    view: 'v info show',
    link: 'ln',
    init: 'create innit',
    owner: 'author',
    config: 'c',
    rebuild: 'rb',
    'dist-tag': 'dist-tags',
    adduser: 'add-user login',
    org: 'ogr',
  }).flatMap(([name, others]) => others.split(' ').map((other): [string, string] => [other, name])),
)

/** The one name of a subcommand that has several. */
export function subcommandName(program: string, word: string): string {
  return /^(?:npm|pnpm|yarn|bun)$/.test(program) ? (NPM_NAMES.get(word) ?? word) : word
}

/** `npm test` is `npm run test`, `yarn deploy` is `yarn run deploy`, and `make A=1 all release` also a `make release`. */
export function asScript(program: string, words: Words): Words[] {
  const [, name] = words
  if (/^(?:g?make|ninja|just|task|rake|gulp|gradle|mvn)$/.test(program))
    return words.slice(1).map(word => [program === 'gmake' ? 'make' : program, word])
  const script = program === 'node' ? words.indexOf('--run') : -1
  if (script !== -1) return [['npm', 'run', ...words.slice(script + 1)]]
  if (typeof name !== 'string' || !/^(?:npm|pnpm|yarn|bun)$/.test(program)) return []
  if (program === 'npm' && !/^(?:t|tst|test|start|stop|restart)$/.test(name)) return []
  return [[program, 'run', subcommandName(program, name), ...words.slice(2)]]
}

// Programs that start the command behind their options, or behind one of these words.
const RUNNERS: ReadonlyMap<string, RegExp | null> = new Map<string, RegExp | null>([
  ...entriesFor('npx bunx pnpx uvx corepack parallel dotenv cross-env concurrently', null),
  ...entriesFor('npm pnpm yarn bun', /^(?:exec|x|dlx)$/),
  ...entriesFor(
    'bundle poetry uv pipx pdm hatch pipenv rye mise asdf direnv rustup conda mamba micromamba',
    /^(?:exec|run|x)$/,
  ),
])

/**
 * What a runner may start (`npx npm publish` is an `npm publish`), program first; a few readings where it is not certain
 * which words are its own. For rules that forbid, and for effects.
 */
export function runByRunner(program: string, words: Words): Words[] {
  const verb = RUNNERS.get(program)
  if (verb === undefined) return []
  const given = program === 'parallel' ? words.filter(word => !/^:::[:+]?$/.test(word ?? '')) : words
  const at = verb === null ? 0 : given.findIndex((word, i) => i > 0 && verb.test(word ?? ''))
  if (at === -1) return []
  const rest = given.slice(at + 1)
  // A version may stand behind the name: `npx npm@latest publish`.
  const forms = rest.flatMap((word, i) =>
    word === null || /^[-+]/.test(word) || i > MOST_SKIPPED
      ? []
      : [[word.replace(/(?<=.)@[^/]*$/, ''), ...rest.slice(i + 1)]],
  )
  const own = rest.findIndex(word => word !== null && !/^[-+]/.test(word))
  return forms.slice(0, own <= 0 ? 1 : own + 2)
}

const MOST_SKIPPED = 8
