import { MCP_CALL } from '../../core/access.ts'
import type { DecisionRef, JudgeRequest, Outcome } from '../../core/decision.ts'
import { lineage, type Run } from '../../core/run.ts'
import { compileText, type NameTest } from '../../core/wildcard.ts'
import type { CommandAnalysis, FoundCommand } from '../commands/types.ts'
import { type FileItem, type Item, isFile } from '../items.ts'
import { isSensitive, type PathContext } from '../paths/paths.ts'
import { matchCommand, type TokenPattern } from './command-patterns.ts'
import { isFolder } from './globs.ts'
import { compileHosts, compilePaths, type PathMatcher } from './patterns.ts'

/** What a rule matches. Every given key has to match. */
export interface Conditions {
  tool?: string | readonly string[] | undefined
  path?: readonly string[] | undefined
  host?: readonly string[] | undefined
  method?: readonly string[] | undefined
  command?: readonly TokenPattern[] | undefined
  effects?: readonly string[] | undefined
  agents?: readonly string[] | undefined
  modes?: readonly string[] | undefined
}

/** A rule as a configuration file has it. */
export interface RuleDefinition extends Conditions {
  id?: string | undefined
  decision: Outcome
  /** Exceptions: the rule does not apply if one of them matches. */
  except?: (Conditions & { sensitive?: true | undefined }) | undefined
  /** Milliseconds since 1970. */
  expires?: number | undefined
  reason?: string | undefined
  /** Applies only after untrusted content entered the run. */
  after?: 'untrusted' | undefined
  /** An ask rule that no grant overrides. */
  always?: boolean | undefined
  match?: readonly string[] | undefined
  not_match?: readonly string[] | undefined
  /** A line of an ordered list: its pattern, for the argument of a call as text. */
  argument?: string | undefined
  origin: RuleOrigin
}

export interface RuleOrigin {
  file: string
  line?: number | undefined
  /** False for a project's file that nobody has trusted. */
  trusted?: boolean
  /** The administrator's file is `managed`. */
  layer?: string
}

export interface Rule {
  readonly id: string
  readonly decision: Outcome
  readonly reason: string | undefined
  readonly always: boolean
  /** Its file may not loosen anything: an ask of it is no answer to what is refused without it. */
  readonly onlyTightens: boolean
  readonly ref: DecisionRef
  readonly definition: RuleDefinition
  /** Whether the rule is in force for this call at all: agent, mode, time, flow. */
  applies(request: JudgeRequest, now: number): boolean
  /** Whether it matches this item of the call; of a command line, this part alone. */
  matches(item: Item, request: JudgeRequest, part?: Part): boolean
}

/** One command of a line, or the line as it is written. */
export type Part = FoundCommand | 'line'

/** Canonical name of a tool of Kogu's own, for any of its names. */
export type CanonicalName = (name: string) => string

// In a rule with a path, host or command, a tool's name stands for its kind of access: `deny read_file X` stops
// `cat X`, grep, scripts and MCP servers too, because each of them declares the same access.
export const KINDS_OF_TOOL: Readonly<Record<string, readonly Item['kind'][]>> = {
  read_file: ['file_read'],
  grep_search: ['file_read'],
  glob_search: ['file_read'],
  list_directory: ['file_read'],
  write_file: ['file_write'],
  edit_file: ['file_write'],
  move_file: ['file_write', 'file_delete'],
  delete_file: ['file_delete'],
  run_command: ['execute'],
  shell: ['execute'],
  web_fetch: ['network'],
  web_search: ['network'],
  http: ['network'],
}

export function compileRule(
  definition: RuleDefinition,
  index: number,
  context: PathContext,
  canonical: CanonicalName,
  /** All names of tools, for those with a star. */
  names: readonly string[] = [],
): Rule {
  const id = definition.id ?? `${definition.decision}-${index + 1}`
  const exceptedTools = compileToolNames(
    toList(definition.except?.tool) ?? [],
    definition.decision !== 'allow',
  )
  const matcher = itemMatcher(definition, { canonical, names }, context)
  return {
    id,
    decision: definition.decision,
    reason: definition.reason,
    always: definition.always ?? false,
    onlyTightens: definition.origin.trusted === false || definition.origin.layer === 'managed',
    definition,
    ref: {
      id,
      source: definition.origin.file,
      ...(definition.origin.line === undefined ? {} : { line: definition.origin.line }),
      text: describeRule(definition),
    },
    applies(request, now) {
      if (definition.expires !== undefined && now >= definition.expires) return false
      if (!isFor(definition, request.run)) return false
      if (exceptedTools(request)) return false
      return definition.after === undefined || request.run.labels.some(label => !label.trusted)
    },
    matches: matcher,
  }
}

/**
 * Whether the rule is for this agent and mode. A deny or ask also applies to child runs; otherwise an agent could open a
 * run under another name to escape it. An allow has to match all of them.
 */
function isFor({ decision, agents, modes, except }: RuleDefinition, run: Run): boolean {
  if (agents === undefined && modes === undefined && except === undefined) return true
  const isAboutAgents = (agents ?? except?.agents) !== undefined
  // A run of the person's own, above an agent, is none of the agents that the rule could mean.
  const counted = lineage(run).filter(
    each => each === run || !isAboutAgents || each.authority.agent !== undefined,
  )
  const holds = ({ authority: { agent = '', mode } }: Run): boolean => {
    if (modes !== undefined && !modes.includes(mode)) return false
    if (agents !== undefined && !agents.includes(agent)) return false
    return !except?.agents?.includes(agent) && !except?.modes?.includes(mode)
  }
  return decision === 'allow' ? counted.every(holds) : counted.some(holds)
}

/** `tool = "*"`, only in a deny or ask: an allow has to name its tools. */
export function isForEveryTool({ decision, tool }: RuleDefinition): boolean {
  return decision !== 'allow' && toList(tool)?.includes('*') === true
}

/**
 * A star in the name of a tool: `github__delete_*`. An allow takes one only for tools of one MCP server (`github__*`),
 * because a person has approved each of those.
 */
export function isToolPattern(name: string, allows: boolean): boolean {
  return name.includes('*') && name !== '*' && (!allows || /^[a-z0-9-]+__/i.test(name))
}

export function toolPattern(name: string): NameTest {
  return compileText(name.toLowerCase())
}

/** Any tool may have two underscores in its name, also one that a model wrote, so the name alone does not prove a server. */
function compileToolNames(names: readonly string[], allows: boolean): (request: JudgeRequest) => boolean {
  const exact = names.filter(name => !isToolPattern(name, allows)).map(name => name.toLowerCase())
  const patterns = names.filter(name => isToolPattern(name, allows)).map(toolPattern)
  return ({ toolNames, access }) =>
    exact.some(name => toolNames.has(name)) ||
    (patterns.length > 0 &&
      (!allows || access.some(one => one.kind === 'custom' && one.name === MCP_CALL)) &&
      [...toolNames].some(name => patterns.some(matches => matches(name))))
}

function itemMatcher(
  definition: RuleDefinition,
  tellTools: { canonical: CanonicalName; names: readonly string[] },
  context: PathContext,
): Rule['matches'] {
  const strict = definition.decision !== 'allow'
  const { path, host, method, command, effects, except } = definition
  const tools = isForEveryTool(definition) ? undefined : toList(definition.tool)
  const isOne = tools === undefined ? undefined : compileToolNames(tools, !strict)
  const all = [...Object.keys(KINDS_OF_TOOL), ...tellTools.names]
  const known = tools?.flatMap(name =>
    isToolPattern(name, !strict) ? all.filter(toolPattern(name)) : [name],
  )
  const kinds = new Set(known?.flatMap(name => KINDS_OF_TOOL[tellTools.canonical(name).toLowerCase()] ?? []))
  // By what the tool is called now: it may have come, or come back, after the rules were read.
  const isNamed = (request: JudgeRequest): boolean => isOne === undefined || isOne(request)
  // A tool without a known kind of access (MCP, custom, …): the rule is about calls of that tool only.
  const speaksOf = (item: Item, request: JudgeRequest): boolean => kinds.has(item.kind) || isNamed(request)

  if (path !== undefined) {
    const matcher = compilePaths(path, context, strict ? 'folded' : 'exact')
    const excepted =
      except?.path === undefined ? undefined : compilePaths(except.path, context, strict ? 'exact' : 'folded')
    // A whole folder may hold sensitive files, or bring some to where they are.
    const mayHold = ({ kind, real }: FileItem): boolean => !strict && kind === 'file_delete' && isFolder(real)
    const isMeant = (item: FileItem): boolean =>
      except?.sensitive !== true || !(isSensitive(item) || mayHold(item))
    return (item, request) =>
      isFile(item) && isMeant(item) && speaksOf(item, request) && matchesFile(item, matcher, excepted, strict)
  }
  if (host !== undefined || method !== undefined) {
    const hosts = compileHosts(host ?? ['*'])
    const excepted = except?.host === undefined ? undefined : compileHosts(except.host)
    return (item, request) => {
      if (item.kind !== 'network' || !speaksOf(item, request)) return false
      // An address that cannot be parsed is never allowed, and always matches a deny.
      if (item.facts === undefined) return strict
      if (method !== undefined && !hasMethod(method, item.method)) return false
      if (except?.method !== undefined && hasMethod(except.method, item.method)) return false
      if (excepted?.(item.facts.host, item.facts.port)) return false
      return hosts(item.facts.host, item.facts.port)
    }
  }
  if (command !== undefined || effects !== undefined) {
    return (item, request, part) =>
      item.kind === 'execute' && speaksOf(item, request) && matchesCommand(item, definition, strict, part)
  }
  if (definition.argument !== undefined) {
    const isText = compileText(definition.argument)
    const matches = strict ? mentions : isCall
    return (item, request, part) => {
      const speaks = strict || item.kind === 'execute' ? speaksOf(item, request) : isNamed(request)
      return speaks && matches(isText, item, request, part)
    }
  }
  return (item, request) => item.kind === 'tool' && isNamed(request)
}

function hasMethod(methods: readonly string[], method: string): boolean {
  return methods.some(name => name.toUpperCase() === method)
}

function matchesFile(
  item: FileItem,
  matcher: PathMatcher,
  excepted: PathMatcher | undefined,
  strict: boolean,
): boolean {
  if (strict) {
    // A deny matches both spellings and everything below a folder; an exception must match the real path.
    if (excepted?.matches(item.real)) return false
    return matcher.covers(item.real) || (item.path !== item.real && matcher.covers(item.path))
  }
  if (excepted !== undefined && (excepted.covers(item.real) || excepted.covers(item.path))) return false
  return matcher.matches(item.real)
}

/** A forbidding rule matches a line when any command in it matches; an allowing one when every command is covered. */
function matchesCommand(
  item: Item & { kind: 'execute' },
  definition: RuleDefinition,
  strict: boolean,
  part?: Part,
): boolean {
  const { analysis } = item
  const one = (found: FoundCommand): boolean => matchesOne(found, definition, strict)
  if (part === 'line') return false
  if (strict) return (part === undefined ? analysis.commands : [part]).some(one)
  if (analysis.unresolved || doesMoreThanItsCommands(analysis)) return false
  if (part !== undefined) return one(part)
  return analysis.commands.every(found => found.level === 'safe' || one(found)) && analysis.commands.some(one)
}

/** Text that forbids: anywhere that the call or a command has such an argument. */
function mentions(isText: NameTest, item: Item, request: JudgeRequest, part?: Part): boolean {
  if (item.kind === 'network') return isText(item.url)
  if (item.kind === 'tool') return !runsCommand(request) && isText(mainArgument(request))
  if (item.kind !== 'execute') return false
  const isCommand = ({ argv }: FoundCommand): boolean =>
    isText(argv.map(({ raw }) => raw).join(' ')) || isText(argv.map(({ raw, text }) => text ?? raw).join(' '))
  if (part !== undefined && part !== 'line') return isCommand(part)
  return isText(item.command) || (part === undefined && item.analysis.commands.some(isCommand))
}

/** Text that allows: a call that is about nothing but its argument. Files and commands have rules of their own. */
function isCall(isText: NameTest, item: Item, request: JudgeRequest, part?: Part): boolean {
  if (item.kind === 'execute') return part === 'line' && isText(item.command)
  const isAboutArgument = request.access.every(
    access => access.kind === 'custom' || access.kind === 'network',
  )
  return item.kind === 'tool' && isAboutArgument && isText(mainArgument(request))
}

function runsCommand({ access }: JudgeRequest): boolean {
  return access.some(({ kind }) => kind === 'execute')
}

function mainArgument({ input }: JudgeRequest): string {
  const { command, file_path, path, pattern } = input
  const first = [command, file_path, path, pattern].find(value => typeof value === 'string')
  return typeof first === 'string' ? first : JSON.stringify(input)
}

/** Redirected output, changed variables, functions and background are not part of a command's words. */
export function doesMoreThanItsCommands({ reasons, commands }: CommandAnalysis): boolean {
  return (
    commands.length === 0 ||
    reasons.some(finding => finding.command === undefined && finding.level !== 'safe')
  )
}

function matchesOne(found: FoundCommand, definition: RuleDefinition, strict: boolean): boolean {
  const { command, effects, except } = definition
  const words = found.argv.map(word => word.text)
  if (strict && words[0] !== undefined && words[0] !== null) {
    // `/usr/bin/rm` is `rm` to a rule that forbids; to one that allows, a path is another program.
    words[0] = words[0].slice(words[0].lastIndexOf('/') + 1)
  }
  if (effects !== undefined && !found.effects.some(effect => effects.includes(effect))) return false
  // What is known to run nothing has texts that are only texts: `git commit -m 'before git push'`.
  const runsTexts = found.embeds === true || found.level === 'unknown'
  if (command !== undefined && !matchCommand(command, words, strict, runsTexts)) return false
  if (found.effects.some(effect => except?.effects?.includes(effect))) return false
  return except?.command === undefined || !matchCommand(except.command, words, !strict, runsTexts)
}

function describeRule(definition: RuleDefinition): string {
  const { decision, tool, path, host, method, command, effects } = definition
  const tokens = command?.map(token => (typeof token === 'string' ? token : token.join('|'))).join(' ')
  const parts = [
    toList(tool)?.join('|'),
    tokens,
    path?.join(' '),
    method?.join('|'),
    host?.join(' '),
    effects?.join(' '),
  ]
  return [decision, ...parts.filter(part => part !== undefined)].join(' ')
}

function toList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}
