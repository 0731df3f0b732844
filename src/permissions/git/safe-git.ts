// A repository can name programs that show its files (`diff.external`, `diff.*.textconv`). Lines that run unasked must not
// start them, and only options switch them off: settings given by the environment cannot.
const NEITHER = ['--no-ext-diff', '--no-textconv'] as const
const SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  diff: NEITHER,
  log: NEITHER,
  show: NEITHER,
  blame: ['--no-textconv'],
  grep: ['--no-textconv'],
}
/** The options come after a further word. */
const WITH_VERB: Readonly<Record<string, RegExp>> = { stash: /^(list|show)$/, reflog: /^show$/ }
const WRAPPERS = /^(nice|ionice|timeout|command|nohup|stdbuf|time)$/

/** The words of a program that only reads, with what keeps git from starting others. */
export function withSafeGit(argv: readonly string[]): readonly string[] {
  const program = argv.findIndex(isGit)
  if (program === -1 || (program > 0 && !WRAPPERS.test(String(argv[0])))) return argv
  let at = program + 1
  // `-C folder` is the only option before a safe subcommand that takes a word.
  while (String(argv[at]).startsWith('-')) at += argv[at] === '-C' ? 2 : 1
  const subcommand = argv[at]
  if (typeof subcommand !== 'string') return argv
  const verb = Object.hasOwn(WITH_VERB, subcommand) ? WITH_VERB[subcommand] : undefined
  const next = argv[at + 1]
  if (subcommand === 'reflog' && !(typeof next === 'string' && verb?.test(next))) {
    // Without a word it shows, with the options of log.
    return [...argv.slice(0, at + 1), ...NEITHER, ...argv.slice(at + 1)]
  }
  if (verb !== undefined && typeof next === 'string' && verb.test(next)) {
    return [...argv.slice(0, at + 2), ...NEITHER, ...argv.slice(at + 2)]
  }
  const options = Object.hasOwn(SUBCOMMANDS, subcommand) ? SUBCOMMANDS[subcommand] : undefined
  return options === undefined ? argv : [...argv.slice(0, at + 1), ...options, ...argv.slice(at + 1)]
}

function isGit(word: string): boolean {
  return /^(?:.*\/)?git$/.test(word)
}
