import { hash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { canonicalJson } from '../core/canonical-json.ts'
import type { JudgeRequest } from '../core/decision.ts'
import { isInside, realPathOf } from '../core/real-path.ts'
import type { CommandAnalysis, FoundCommand } from './commands/types.ts'
import { type ExecuteItem, type FileItem, type Item, isFile } from './items.ts'
import { SENSITIVE_TO_WRITE } from './paths/paths.ts'
import { doesMoreThanItsCommands } from './rules/rules.ts'

/** A remembered answer. Kept in the state folder, bound to one workspace, revocable; never in a tracked file. */
export interface Grant {
  readonly id: string
  readonly decision: 'allow' | 'deny'
  readonly scope: 'session' | 'permanent'
  /** Real path of the workspace it was given in. */
  readonly workspace: string
  /** The run it holds for, when it is a session grant. */
  readonly run?: string
  /** The agent it was given to. Without one, it holds for every run in the workspace. */
  readonly agent?: string
  readonly spec: GrantSpec
  /** The tool it was given for, as that tool was then. Once the tool claims to be something else, it is not covered. */
  readonly tool?: { readonly name: string; readonly fingerprint: string }
  readonly createdAt: string
  readonly expiresAt?: string
  readonly user: string
}

export type GrantSpec =
  /** This very call: tool, input, and the folder it acts in. */
  | { kind: 'exact'; tool: string; digest: string; text: string }
  | CommandSpec
  | { kind: 'path'; access: FileItem['kind']; root: string }
  | { kind: 'host'; host: string; port: number; method: string }
  | { kind: 'custom'; name: string; details: string }

/**
 * Command lines whose every command that is not a plain reader begins with these words, has no other options than the
 * line that was asked about, runs in the same folder, and touches only files below these folders.
 */
interface CommandSpec {
  readonly kind: 'command'
  readonly words: readonly string[]
  readonly options: readonly string[]
  readonly cwd: string
  readonly roots: readonly string[]
}

/** A call with what was found out about it. */
export interface IdentifiedCall {
  readonly request: JudgeRequest
  readonly items: readonly Item[]
  /** Equal for the same call in the same place. Made when it is asked for: most calls meet no exact grant and offer none. */
  digest(): string
}

export function identifyCall(request: JudgeRequest, items: readonly Item[]): IdentifiedCall {
  let digest: string | undefined
  return {
    request,
    items,
    digest() {
      digest ??= callDigest(request, items)
      return digest
    },
  }
}

export interface GrantStore {
  list(): readonly Grant[]
  add(grant: Grant): Promise<void>
  /** False when there is no such grant. */
  remove(id: string): Promise<boolean>
}

/** Whether a grant answers for this item of the call. */
export function covers(spec: GrantSpec, item: Item, call: IdentifiedCall): boolean {
  switch (spec.kind) {
    case 'exact':
      return spec.tool === call.request.tool.name && spec.digest === call.digest()
    case 'command':
      return item.kind === 'execute' && coversCommand(spec, item)
    case 'path':
      return isFileOf(item, spec.access) && !item.derived && coversPath(spec.root, item)
    case 'host':
      return (
        item.kind === 'network' &&
        item.facts?.host === spec.host &&
        item.facts.port === spec.port &&
        item.method === spec.method
      )
    case 'custom':
      return item.kind === 'custom' && item.name === spec.name && item.details === spec.details
  }
}

function isFileOf(item: Item, kind: FileItem['kind']): item is FileItem {
  return item.kind === kind
}

/** A folder's grant does not reach the sensitive files in it: those are granted by name. */
function coversPath(root: string, item: FileItem): boolean {
  return item.real === root || (isInside(item.real, root) && item.facts.sensitivity < SENSITIVE_TO_WRITE)
}

/** This very call and nothing else. */
export function exactGrant({ request, items, digest }: IdentifiedCall): GrantSpec {
  return { kind: 'exact', tool: request.tool.name, digest: digest(), text: summarize(request, items) }
}

export function describeGrant(spec: GrantSpec): string {
  switch (spec.kind) {
    case 'exact':
      return `exactly this: ${spec.text}`
    case 'command': {
      const options = spec.options.length === 0 ? 'no options' : `only ${spec.options.join(' ')}`
      return `'${spec.words.join(' ')} …' in ${spec.cwd}, with ${options}, on files below ${spec.roots.join(', ')}`
    }
    case 'path': {
      const verb = { file_read: 'read', file_write: 'write', file_delete: 'delete' }[spec.access]
      return `${verb} ${spec.root} and what is below it`
    }
    case 'host':
      return `${spec.method} to ${spec.host}:${spec.port}`
    case 'custom':
      return spec.details
  }
}

/**
 * What can be remembered of a question, from the narrowest to the widest. Each offer is a list of grants that together
 * cover every item that was asked about. `dangerous` lines are only ever granted exactly as they stand.
 */
export function offerGrants(asked: readonly Item[], call: IdentifiedCall, workspace: string): GrantSpec[][] {
  const exact = exactGrant(call)
  const wider = asked.map(item => widerGrant(item, workspace))
  const complete = wider.filter(spec => spec !== undefined)
  return complete.length === asked.length && complete.length > 0 ? [[exact], complete] : [[exact]]
}

/**
 * Identifies a call for an exact grant. Where it acts counts: `rm -r build` in another folder is another call, as is one
 * whose words lead elsewhere by a link, or stand for another value of a variable that the run exported.
 */
function callDigest(request: JudgeRequest, items: readonly Item[]): string {
  const { tool, input, run } = request
  const linked = items.filter(isFile).filter(({ path, real }) => path !== real)
  const line = items.find(item => item.kind === 'execute')?.command ?? ''
  const variables = [...run.variables].filter(([name]) => line.includes(name)).sort()
  return hash(
    'sha256',
    canonicalJson([
      tool.name,
      placeOf(request, items),
      input,
      ...(linked.length === 0 ? [] : [linked.map(({ kind, path, real }) => [kind, path, real])]),
      ...(variables.length === 0 ? [] : [variables]),
    ]),
  )
}

/** The folder that the call acts in: shown in the question, bound by the answer, used by the run. */
export function placeOf({ cwd }: JudgeRequest, items: readonly Item[]): string {
  return items.find(item => item.kind === 'execute')?.cwd ?? cwd
}

function coversCommand({ words, options, cwd, roots }: CommandSpec, item: ExecuteItem): boolean {
  const { analysis, files } = item
  // Answers of earlier versions said less; they are asked for again.
  if (!isWidenable(analysis) || options === undefined || cwd === undefined) return false
  const risky = analysis.commands.filter(found => found.level !== 'safe')
  const isSame = (found: FoundCommand): boolean =>
    found.embeds !== true &&
    startsWith(found, words) &&
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

/** With their values where these are joined to them. A word that nobody knows may be any option. */
function optionsOf({ argv }: FoundCommand): string[] {
  return argv
    .slice(1)
    .flatMap(({ text, raw }) => (text === null ? [raw] : /^[-+]./.test(text) && text !== '--' ? [text] : []))
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

function widerGrant(item: Item, workspace: string): GrantSpec | undefined {
  switch (item.kind) {
    case 'execute': {
      const words = grantableWords(item.analysis)
      if (words === undefined) return undefined
      const risky = item.analysis.commands.filter(found => found.level !== 'safe')
      const options = [...new Set(risky.flatMap(optionsOf))]
      return { kind: 'command', words, options, cwd: item.cwd, roots: [workspace] }
    }
    case 'file_read':
    case 'file_delete':
      return { kind: 'path', access: item.kind, root: item.real }
    case 'file_write':
      return {
        kind: 'path',
        access: item.kind,
        root: item.derived || item.facts.sensitivity >= SENSITIVE_TO_WRITE ? item.real : dirname(item.real),
      }
    case 'network':
      if (item.facts === undefined) return undefined
      return { kind: 'host', host: item.facts.host, port: item.facts.port, method: item.method }
    case 'custom':
      return { kind: 'custom', name: item.name, details: item.details }
    case 'tool':
      return undefined
  }
}

// With these, the words after the first decide everything: "any python" or "any curl" would be any program at all.
const NEVER_WIDENED =
  /^(python[\d.]*|node|deno|bun|ruby|perl|php|lua|tclsh|r|rscript|java|go|bash|sh|dash|zsh|ksh|fish|pwsh|powershell|npx|pnpx|bunx|uvx|uv|pipx|curl|wget|aria2c|ssh|scp|sftp|rsync|nc|ncat|netcat|socat|telnet|sudo|doas|su|env|xargs|parallel|eval|exec|source|awk|gawk|mawk|sed|find|time|timeout|nice|nohup|watch|strace|docker|podman|kubectl|systemctl|crontab|at|git-shell|expect|script|tmux|screen|make|gdb)$/

// Programs whose second word says what they do; the grant holds for that word only.
const WITH_SUBCOMMANDS =
  /^(git|npm|pnpm|yarn|cargo|pip3?|poetry|bundle|gem|mvn|gradle|dotnet|gh|hg|svn|apt|apt-get|brew|composer|mix|terraform|helm|rustup|conda)$/
// And of those, subcommands that run whatever follows them.
const RUNS_WHAT_FOLLOWS =
  /^(run|exec|x|dlx|start|config|alias|submodule|bisect|filter-branch|rebase|api|extension)$/

function grantableWords(analysis: CommandAnalysis): string[] | undefined {
  if (!isWidenable(analysis)) return undefined
  const risky = analysis.commands.filter(found => found.level !== 'safe')
  const first = risky[0]?.argv.map(word => word.text) ?? []
  const [program, second, third] = first
  if (program === undefined || program === null || NEVER_WIDENED.test(program) || program.includes('/'))
    return undefined
  if (!WITH_SUBCOMMANDS.test(program)) return [program]
  if (second === undefined || second === null || second.startsWith('-')) return undefined
  if (!RUNS_WHAT_FOLLOWS.test(second)) return [program, second]
  // `npm run build` is one named script of the project; other programs' forms are not known to be.
  const namedScript = second === 'run' && third !== undefined && third !== null && !third.startsWith('-')
  return namedScript && /^(npm|pnpm|yarn)$/.test(program) ? [program, second, third] : undefined
}

function summarize(request: JudgeRequest, items: readonly Item[]): string {
  const { command, path, url } = request.input
  const subject = [command, path, url].find(value => typeof value === 'string')
  const where = items.some(item => item.kind === 'execute') ? ` in ${placeOf(request, items)}` : ''
  return typeof subject === 'string' ? `${request.tool.name} ${subject}${where}` : request.tool.name
}
