import { relative, resolve } from 'node:path'
import type { CommandPattern, PatternWord } from '../core/decision.ts'
import { ToolError } from '../core/errors.ts'
import { isInside, realPathOf } from '../core/real-path.ts'
import type { CommandAnalysis, FoundCommand } from './commands/types.ts'
import type { ExecuteItem } from './items.ts'
import { doesMoreThanItsCommands } from './rules/rules.ts'

/**
 * Command lines whose every command that is not a plain reader begins with these words, has no other options than the
 * line that was asked about, runs in the same folder, and touches only files below these folders.
 */
export interface CommandSpec {
  readonly kind: 'command'
  readonly words: readonly string[]
  /** What follows them, options apart; null is any one word. Defaults to anything. */
  readonly following?: { readonly words: readonly (string | null)[]; readonly more: boolean }
  readonly options: readonly string[]
  readonly cwd: string
  readonly roots: readonly string[]
}

/** The widest grant of a command line; undefined for lines that are only ever granted exactly as they stand. */
export function commandGrant({ analysis, cwd }: ExecuteItem, workspace: string): CommandSpec | undefined {
  const words = grantableWords(analysis)
  if (words === undefined) return undefined
  const options = [...new Set(riskyOf(analysis).flatMap(optionsOf))]
  return { kind: 'command', words, options, cwd, roots: [workspace] }
}

/**
 * A grant with a person's choice of words in the place of "anything". The words that say what is done stay as they are,
 * whatever was sent: no choice is wider than what was offered.
 */
export function narrowCommand(spec: CommandSpec, { words, more }: CommandPattern): CommandSpec {
  const isKept = spec.words.every((word, index) => words[index] === word)
  if (!isKept)
    throw new ToolError('invalid_input', `The words '${spec.words.join(' ')}' cannot be anything else.`, {
      hint: 'Only the words after them can be any word, or be left out.',
    })
  return { ...spec, following: { words: words.slice(spec.words.length), more } }
}

/** The same in another workspace: the place in it and the files of it. */
export function moveCommand(spec: CommandSpec, from: string, to: string): CommandSpec {
  const move = (path: string): string => (isInside(path, from) ? resolve(to, relative(from, path)) : path)
  return { ...spec, cwd: move(spec.cwd), roots: spec.roots.map(move) }
}

/** The words of the line that a person can choose among, and why some cannot be anything else. */
export function patternWords({ analysis }: ExecuteItem): PatternWord[] {
  const [first] = riskyOf(analysis)
  const lock = lockOf(analysis)
  const fixed = grantableWords(analysis)?.length ?? 0
  return (first?.argv ?? []).map(({ text, raw }, index) => {
    if (lock !== undefined) return { text: text ?? raw, lock }
    if (index < fixed) return { text: text ?? raw, lock: 'says-what' }
    return { text: text ?? raw, lock: text === null || isOption(text) ? 'option' : null }
  })
}

/** The words of the lines it covers; `*` is any word, and `more` stands for any further words. */
export function grantedWords({ words, following }: CommandSpec, more: string): string[] {
  const next = following?.words.map(word => word ?? '*') ?? []
  return [...words, ...next, ...(following?.more === false ? [] : [more])]
}

export function describeCommandGrant(spec: CommandSpec, workspace?: string): string {
  const { options, cwd, roots } = spec
  const isAll = workspace !== undefined && roots.some(root => isInside(workspace, root))
  const files = isAll ? 'every file of this workspace: files' : 'files'
  const allowed = options.length === 0 ? 'no options' : `only ${options.join(' ')}`
  return `'${grantedWords(spec, '…').join(' ')}' in ${cwd}, with ${allowed}, on ${files} below ${roots.join(', ')}`
}

export function coversCommand(spec: CommandSpec, { analysis, files }: ExecuteItem): boolean {
  const { words, following, options, cwd, roots } = spec
  // Answers of earlier versions said less; they are asked for again.
  if (!isWidenable(analysis) || options === undefined || cwd === undefined) return false
  const risky = riskyOf(analysis)
  const isSame = (found: FoundCommand): boolean =>
    found.embeds !== true &&
    startsWith(found, words) &&
    (following === undefined || followsPattern(found, words.length, following)) &&
    found.cwds?.every(folder => folder === cwd) === true &&
    optionsOf(found).every(option => options.includes(option)) &&
    operandsOf(found).every(path => roots.some(root => isInside(realPathOf(resolve(cwd, path)), root)))
  return (
    risky.length > 0 &&
    risky.every(isSame) &&
    files.every(file => roots.some(root => isInside(file.real, root))) &&
    analysis.access.every(
      ({ kind }) => kind === 'file_read' || kind === 'file_write' || kind === 'file_delete',
    )
  )
}

function riskyOf({ commands }: CommandAnalysis): FoundCommand[] {
  return commands.filter(found => found.level !== 'safe')
}

/** Options are judged apart, wherever they stand. */
function followsPattern(
  { argv }: FoundCommand,
  from: number,
  { words, more }: NonNullable<CommandSpec['following']>,
): boolean {
  const rest = argv.slice(from).flatMap(({ text }) => (text !== null && isOption(text) ? [] : [text]))
  if (more ? rest.length < words.length : rest.length !== words.length) return false
  return words.every((word, index) => rest[index] !== null && (word === null || rest[index] === word))
}

function isOption(text: string): boolean {
  return /^[-+]./.test(text) && text !== '--'
}

/** With their values where these are joined to them. A word that nobody knows may be any option. */
function optionsOf({ argv }: FoundCommand): string[] {
  return argv.slice(1).flatMap(({ text, raw }) => (text === null ? [raw] : isOption(text) ? [text] : []))
}

/** Words that may be paths, also of programs of which it is not known what they do with them. */
function operandsOf({ argv }: FoundCommand): string[] {
  return argv.slice(1).flatMap(({ text }) => (text !== null && /^\.\.$|\/|^~/.test(text) ? [text] : []))
}

function isWidenable(analysis: CommandAnalysis): boolean {
  const fixed = analysis.unresolved || analysis.level === 'dangerous' || analysis.level === 'forbidden'
  return !fixed && !doesMoreThanItsCommands(analysis)
}

function startsWith(found: FoundCommand, words: readonly string[]): boolean {
  return words.every((word, index) => found.argv[index]?.text === word)
}

// With these, the words after the first decide everything: "any python" or "any curl" would be any program at all.
const NEVER_WIDENED = {
  interpreter:
    /^(python[\d.]*|node|deno|bun|ruby|perl|php|lua|tclsh|r|rscript|java|go|bash|sh|dash|zsh|ksh|fish|pwsh|powershell|eval|exec|source|awk|gawk|mawk|sed|git-shell|expect|make|gdb)$/,
  'package-runner': /^(npx|pnpx|bunx|uvx|uv|pipx)$/,
  fetcher: /^(curl|wget|aria2c|ssh|scp|sftp|rsync|nc|ncat|netcat|socat|telnet)$/,
  wrapper:
    /^(sudo|doas|su|env|xargs|parallel|find|time|timeout|nice|nohup|watch|strace|docker|podman|kubectl|systemctl|crontab|at|script|tmux|screen)$/,
} as const

/** Why a line is only ever granted exactly as it stands; undefined when it can be granted more widely. */
function lockOf(analysis: CommandAnalysis): PatternWord['lock'] | undefined {
  if (grantableWords(analysis) !== undefined) return undefined
  for (const { program } of analysis.commands) {
    const name = program?.slice(program.lastIndexOf('/') + 1) ?? ''
    // `as`: Object.entries widens keys to string
    for (const [lock, names] of Object.entries(NEVER_WIDENED))
      if (names.test(name)) return lock as keyof typeof NEVER_WIDENED
  }
  return 'whole-line'
}

// Programs whose second word says what they do; the grant holds for that word only.
const WITH_SUBCOMMANDS =
  /^(git|npm|pnpm|yarn|cargo|pip3?|poetry|bundle|gem|mvn|gradle|dotnet|gh|hg|svn|apt|apt-get|brew|composer|mix|terraform|helm|rustup|conda)$/
// And of those, subcommands that run whatever follows them.
const RUNS_WHAT_FOLLOWS =
  /^(run|exec|x|dlx|start|config|alias|submodule|bisect|filter-branch|rebase|api|extension)$/

function grantableWords(analysis: CommandAnalysis): string[] | undefined {
  if (!isWidenable(analysis)) return undefined
  const first = riskyOf(analysis)[0]?.argv.map(word => word.text) ?? []
  const [program, second, third] = first
  if (program === undefined || program === null || isNeverWidened(program) || program.includes('/'))
    return undefined
  if (!WITH_SUBCOMMANDS.test(program)) return [program]
  if (second === undefined || second === null || second.startsWith('-')) return undefined
  if (!RUNS_WHAT_FOLLOWS.test(second)) return [program, second]
  // `npm run build` is one named script of the project; other programs' forms are not known to be.
  const namedScript = second === 'run' && third !== undefined && third !== null && !third.startsWith('-')
  return namedScript && /^(npm|pnpm|yarn)$/.test(program) ? [program, second, third] : undefined
}

function isNeverWidened(program: string): boolean {
  return Object.values(NEVER_WIDENED).some(names => names.test(program))
}
