import { GIT_READ } from '../core/access.ts'
import type { Authority, GitLevel } from '../core/authority.ts'
import type { JudgeRequest } from '../core/decision.ts'
import { restrictedProblem } from '../core/restricted-command.ts'
import { gitSubcommand } from './command-permit.ts'
import type { FoundCommand } from './commands/types.ts'
import type { HardStop } from './hard-limits.ts'
import { type Item, isGit } from './items.ts'
import { compileHosts } from './rules/patterns.ts'

/** The first item that is beyond what the run may do at most. Its write scope is looked after by the hard limits. */
export function findAuthorityStop(items: readonly Item[], { run }: JudgeRequest): HardStop | undefined {
  const { commands, git, hosts } = run.authority
  for (const item of items) {
    const stop =
      item.kind === 'execute'
        ? (profileStop(item.command, commands) ?? gitStop(item.analysis.commands, git))
        : item.kind === 'network'
          ? hostStop(item, hosts)
          : isLook(item) && git === 'disabled'
            ? GIT_DISABLED
            : undefined
    if (stop !== undefined) return stop
  }
  return undefined
}

function profileStop(line: string, commands: Authority['commands']): HardStop | undefined {
  if (commands.profile === 'shell') return undefined
  const reason = restrictedProblem(line, commands.allowed)
  return reason === undefined ? undefined : { id: 'restricted-commands', reason }
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
    const reason = `Git write action '${gitSubcommand(command)}' requires ReadWrite permission. Current: ${LEVEL_NAMES[level]}`
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
