import type { Mode } from './decision.ts'
import { isInside } from './real-path.ts'

// The most that a run may do, as plain data. Rules, grants and answers cannot exceed it.

export interface Authority {
  /** The agent that the run belongs to. Absent in a run of the person's own client. */
  readonly agent?: string | undefined
  readonly mode: Mode
  /** Real folders below which files may be changed. */
  readonly writeScope: readonly string[]
  /** Tools that are on, by any of their names; looked up when a call is made, so that late tools count too. */
  readonly tools: 'all' | readonly string[]
  readonly commands: CommandAuthority
  readonly git: GitLevel
  /** Hosts that may be contacted, in the form of rules: `example.com`, `*.example.com`, `example.com:8443`. */
  readonly hosts: 'any' | readonly string[]
  readonly limits: RunLimits
  /** Calls with side effects ask even if a rule or the mode allows them; a person's grant still counts. */
  readonly confirm?: true | undefined
}

/**
 * `restricted`: one simple command of the list, without a shell. An agent's list is about the lines that its model writes;
 * one of the configuration is `forTools` too, about those that tools are made of.
 */
export type CommandAuthority = { readonly timeoutMs?: number | undefined } & (
  | { readonly profile: 'shell' }
  | { readonly profile: 'restricted'; readonly allowed: readonly string[]; readonly forTools?: true }
)

/** `read-only`: commands of git that only look. Pushing needs `read-write`, and asks even then. */
export type GitLevel = 'disabled' | 'read-only' | 'read-write'

/** Counted for a run together with all runs below it. */
interface RunLimits {
  /** Wall clock since the run was opened. */
  readonly timeMs?: number | undefined
  readonly calls?: number | undefined
  /** In the currency of the prices that are configured for models. */
  readonly money?: number | undefined
}

/** A requested authority; what it leaves out stays unchanged. */
export type AuthorityWish = Partial<Authority>

/** Everything the person at the machine may do here. */
export function fullAuthority(workspace: string, mode: Mode): Authority {
  return {
    mode,
    writeScope: [workspace],
    tools: 'all',
    commands: { profile: 'shell' },
    git: 'read-write',
    hosts: 'any',
    limits: {},
  }
}

/** What a command may be in the restricted profile, unless a list is given. */
export const READING_COMMANDS: readonly string[] = ['ls', 'cat', 'head', 'wc', 'find', 'grep', 'tree']

/** The defaults of an agent: no tools, write access to `doc`, read-only git. */
export function agentWish(agent: string, workspace: string, settings: AuthorityWish = {}): AuthorityWish {
  return {
    ...settings,
    agent,
    writeScope: settings.writeScope ?? [`${workspace}/doc`],
    tools: settings.tools ?? [],
    commands: settings.commands ?? { profile: 'restricted', allowed: READING_COMMANDS },
    git: settings.git ?? 'read-only',
  }
}

/**
 * The only way to derive an authority. In each dimension it keeps what both allow, so no sequence of requests ends with
 * more than it began with.
 */
export function narrow(parent: Authority, wish: AuthorityWish): Authority {
  return {
    agent: wish.agent ?? parent.agent,
    mode: stricter(MODES, parent.mode, wish.mode),
    writeScope: common(parent.writeScope, wish.writeScope ?? parent.writeScope, isInside),
    tools: commonNames(parent.tools, wish.tools),
    commands: narrowCommands(parent.commands, wish.commands),
    git: stricter(GIT_LEVELS, parent.git, wish.git),
    hosts: narrowHosts(parent.hosts, wish.hosts),
    limits: narrowLimits(parent.limits, wish.limits ?? {}),
    confirm: parent.confirm ?? wish.confirm,
  }
}

// Each lets through no more than the next: `auto` refuses what `ask` asks about, and `accept-edits` does not even ask.
const MODES: readonly Mode[] = ['read-only', 'auto', 'ask', 'accept-edits']
export function stricterMode(ours: Mode, wished: Mode | undefined): Mode {
  return stricter(MODES, ours, wished)
}

const GIT_LEVELS: readonly GitLevel[] = ['disabled', 'read-only', 'read-write']

function stricter<T>(order: readonly T[], ours: T, wished: T | undefined): T {
  return wished === undefined || order.indexOf(ours) <= order.indexOf(wished) ? ours : wished
}

/** Members of either list that a member of the other one covers. */
function common(
  ours: readonly string[],
  wished: readonly string[],
  isCovered: (inner: string, outer: string) => boolean,
): readonly string[] {
  const both = [
    ...wished.filter(inner => ours.some(outer => isCovered(inner, outer))),
    ...ours.filter(inner => wished.some(outer => isCovered(inner, outer))),
  ]
  return [...new Set(both)]
}

function commonNames(ours: Authority['tools'], wished: Authority['tools'] = 'all'): Authority['tools'] {
  if (ours === 'all') return wished
  if (wished === 'all') return ours
  const known = new Set(ours.map(name => name.toLowerCase()))
  return wished.filter(name => known.has(name.toLowerCase()))
}

function narrowCommands(ours: CommandAuthority, wished: CommandAuthority = ours): CommandAuthority {
  return { ...narrowProfile(ours, wished), timeoutMs: smaller(ours.timeoutMs, wished.timeoutMs) }
}

function narrowProfile(ours: CommandAuthority, wished: CommandAuthority): CommandAuthority {
  if (wished.profile === 'shell') return ours
  if (ours.profile === 'shell') return wished
  const allowed = wished.allowed.filter(name => ours.allowed.includes(name))
  const forTools = ours.forTools ?? wished.forTools
  return { profile: 'restricted', allowed, ...(forTools === undefined ? {} : { forTools }) }
}

function narrowHosts(ours: Authority['hosts'], wished: Authority['hosts'] = 'any'): Authority['hosts'] {
  if (ours === 'any') return wished
  return wished === 'any' ? ours : common(ours, wished, isHostCovered)
}

/** Whether every host that the one pattern stands for is one that the other stands for. */
function isHostCovered(inner: string, outer: string): boolean {
  const [name, port] = splitHost(inner)
  const [wide, widePort] = splitHost(outer)
  if (widePort !== undefined && widePort !== port) return false
  return (
    wide === '*' || wide === '**' || wide === name || (wide.startsWith('*.') && name.endsWith(wide.slice(1)))
  )
}

function splitHost(pattern: string): [name: string, port: string | undefined] {
  const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? []
  return [name.replace(/\.$/, ''), port]
}

function narrowLimits(ours: RunLimits, wished: RunLimits): RunLimits {
  return {
    timeMs: smaller(ours.timeMs, wished.timeMs),
    calls: smaller(ours.calls, wished.calls),
    money: smaller(ours.money, wished.money),
  }
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}
