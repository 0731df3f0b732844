import {
  type Authority,
  type AuthorityWish,
  agentWish,
  type CommandAuthority,
  fullAuthority,
  narrow,
  READING_COMMANDS,
} from '../core/authority.ts'
import { ToolError } from '../core/errors.ts'
import { absolutePath, isInside, realPathOf } from '../core/real-path.ts'
import { parseSettings, type Settings, type ToolSetting } from './agent-authority.ts'

/**
 * The authority of an agent with the settings that a request brings along. They can only narrow it: otherwise a token that
 * may run agents could give them more than their owner did. Each holds for the whole run, because an authority does not
 * tell tools apart.
 */
export function narrowSettings(
  own: AuthorityWish,
  wanted: readonly ToolSetting[],
  workspace: string,
): AuthorityWish {
  const inWorkspace = (folders: readonly string[]): string[] =>
    folders.map(folder => realPathOf(absolutePath(folder, workspace)))
  const defaults = agentWish(own.agent ?? '', workspace, own)
  const whole = narrow(fullAuthority(workspace, 'accept-edits'), {
    ...defaults,
    writeScope: inWorkspace(defaults.writeScope ?? []),
  })
  let narrowed = whole
  for (const { tool, config } of wanted) {
    const { allowed_dirs, allowed_hosts, git, ...ofCommands } = parseSettings(tool, config)
    const commands = toCommands(narrowed.commands, ofCommands)
    const wish: AuthorityWish = {
      ...(allowed_dirs === undefined ? {} : { writeScope: inWorkspace(allowed_dirs) }),
      ...(allowed_hosts === undefined ? {} : { hosts: allowed_hosts }),
      ...(git === undefined ? {} : { git }),
      ...(commands === undefined ? {} : { commands }),
    }
    refuseWider(whole, wish)
    narrowed = narrow(narrowed, wish)
  }
  const { writeScope, hosts, git, commands } = narrowed
  return { ...own, writeScope, hosts, git, commands }
}

/** What the request leaves out stays as it is. */
function toCommands(
  before: CommandAuthority,
  { allowed_commands: list, profile, timeout_ms }: Settings,
): CommandAuthority | undefined {
  if (list === undefined && profile === undefined && timeout_ms === undefined) return undefined
  const timeout = timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }
  if (profile === 'shell') return { profile, ...timeout }
  if (list !== undefined) return { profile: 'restricted', allowed: list, ...timeout }
  const isNew = profile === 'restricted' && before.profile === 'shell'
  return isNew ? { profile, allowed: READING_COMMANDS, ...timeout } : { ...before, ...timeout }
}

function refuseWider(whole: Authority, wish: AuthorityWish): void {
  const { writeScope, hosts, git, commands } = narrow(whole, wish)
  const isAll = (wanted: readonly string[], kept: 'any' | readonly string[]): boolean =>
    kept === 'any' || wanted.every(name => kept.includes(name))
  const wider = [
    wish.writeScope?.every(folder => writeScope.some(own => isInside(folder, own))) === false &&
      'allowed_dirs',
    wish.hosts !== undefined && wish.hosts !== 'any' && !isAll(wish.hosts, hosts) && 'allowed_hosts',
    wish.git !== undefined && wish.git !== git && 'git',
    wish.commands?.profile === 'shell' && commands.profile !== 'shell' && 'profile',
    wish.commands?.profile === 'restricted' &&
      !(commands.profile === 'restricted' && isAll(wish.commands.allowed, commands.allowed)) &&
      'allowed_commands',
    wish.commands?.timeoutMs !== undefined && wish.commands.timeoutMs !== commands.timeoutMs && 'timeout_ms',
  ].find(name => name !== false)
  if (wider === undefined) return
  throw new ToolError(
    'forbidden',
    `tool_config can only narrow '${wider}', and this value is wider than the agent's own settings.`,
    { hint: 'Change the agent: POST /api/tools/config' },
  )
}
