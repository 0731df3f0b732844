import { GIT_READ } from '../core/access.ts'
import type { Authority, GitLevel } from '../core/authority.ts'
import type { JudgeRequest } from '../core/decision.ts'
import { namesProgram } from './commands/embedded-commands.ts'
import type { CommandAnalysis, FoundCommand } from './commands/types.ts'
import type { HardStop } from './hard-limits.ts'
import { type ExecuteItem, type Item, isGit } from './items.ts'
import { compileHosts } from './rules/patterns.ts'

/** The first item that is beyond what the run may do at most. Its write scope is looked after by the hard limits. */
export function findAuthorityStop(items: readonly Item[], { run }: JudgeRequest): HardStop | undefined {
  const { commands, git, hosts } = run.authority
  for (const item of items) {
    const stop =
      item.kind === 'execute'
        ? (profileStop(item, commands) ?? gitStop(item.analysis.commands, git))
        : item.kind === 'network'
          ? hostStop(item, hosts)
          : isLook(item) && git === 'disabled'
            ? GIT_DISABLED
            : undefined
    if (stop !== undefined) return stop
  }
  return undefined
}

/** The list of an agent is about lines that its model writes: what its tools are made of was enabled with them. */
function profileStop(
  { analysis, programs }: ExecuteItem,
  commands: Authority['commands'],
): HardStop | undefined {
  const isBound = commands.profile === 'restricted' && (programs !== 'own' || commands.forTools === true)
  const own = isBound ? [commands.allowed] : []
  for (const allowed of typeof programs === 'object' ? [programs, ...own] : own) {
    const reason = restrictedProblem(analysis, allowed)
    if (reason !== undefined) return { id: 'restricted-commands', reason }
  }
  return undefined
}

const METACHARACTERS = ['&&', '||', ';', '|', '&', '$(', '`', '${', '$', '>', '<', '\n', '\r'] as const

/** Why a line is not one simple command that starts only programs of the list; undefined when it is. */
export function restrictedProblem(analysis: CommandAnalysis, allowed: readonly string[]): string | undefined {
  const { line, commands, unread, startsUnknown } = analysis
  const found = METACHARACTERS.find(text => line.includes(text))
  if (found !== undefined) {
    const shown = JSON.stringify(found).slice(1, -1)
    return `Command contains forbidden shell metacharacter '${shown}'. Each command must be a single, simple command without chaining or redirection.`
  }
  const [first = ''] = line.trim().split(/\s+/)
  // `find -exec node`, `env node`: what the program starts has to be on the list too.
  const started = commands.map(({ program, argv }) => program ?? argv[0]?.raw ?? '')
  const other = [first, ...started].find(program => !allowed.includes(program))
  if (other !== undefined)
    return `Command '${other}' is not in the allowed command list. Allowed: ${allowed.join(', ')}`
  if (!unread && !startsUnknown && !commands.some(namesProgram)) return undefined
  return `Command '${first}' may start another program here, and Kogu cannot tell that it is in the allowed command list. Allowed: ${allowed.join(', ')}`
}

const LEVEL_NAMES: Readonly<Record<GitLevel, string>> = {
  disabled: 'Disabled',
  'read-only': 'ReadOnly',
  'read-write': 'ReadWrite',
}

const GIT_DISABLED: HardStop = { id: 'git-level', reason: 'Git operations are disabled.' }

function isLook(item: Item): boolean {
  return item.kind === 'custom' && item.name === GIT_READ
}

/** Scripts cannot get around it: what belongs to git is only brought over for git commands of the line itself. */
function gitStop(found: readonly FoundCommand[], level: GitLevel): HardStop | undefined {
  if (level === 'read-write') return undefined
  for (const command of found) {
    if (command.program === null) {
      const reason = `Kogu cannot tell which program '${command.argv[0]?.raw ?? ''}' is; it could be git. Git permission: ${LEVEL_NAMES[level]}.`
      return { id: 'git-level', reason }
    }
    if (!isGit(command.program)) continue
    if (level === 'disabled') return GIT_DISABLED
    if (command.level === 'safe') continue
    const reason = `Git write action '${command.subcommand ?? command.program}' requires ReadWrite permission. Current: ${LEVEL_NAMES[level]}`
    return { id: 'git-level', reason }
  }
  return undefined
}

function hostStop(item: Item & { kind: 'network' }, hosts: Authority['hosts']): HardStop | undefined {
  if (hosts === 'any') return undefined
  // Its own loopback is no other machine.
  if (item.derived && item.facts?.addressClass === 'loopback') return undefined
  if (item.facts !== undefined && compileHosts(hosts)(item.facts.host, item.facts.port)) return undefined
  return { id: 'hosts', reason: `Not contacting ${item.url}: ${onlyHosts(hosts)}.` }
}

export function onlyHosts(hosts: readonly string[]): string {
  return hosts.length === 0
    ? 'this run may contact no other machine'
    : `this run may only contact ${hosts.join(', ')}`
}
