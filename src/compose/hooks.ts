import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Hooks } from '../core/hooks.ts'
import type { Processes } from '../core/processes.ts'
import { afterHook, beforeAfterHook, beforeHook } from '../sandbox/hook-command.ts'
import { outsideContext } from '../sandbox/outside-program.ts'

/** The person's own programs: they run outside the sandbox, with the person's environment. */
export function createHooks(
  { config, workspace }: LoadedConfig,
  environment: Environment,
  processes: Processes,
): Hooks {
  const context = { processes, ...outsideContext(workspace.root, environment) }
  const commands = config.hooks.map(hook => ({ ...hook, timeoutMs: hook.timeout }))
  const before = commands.filter(hook => hook.event === 'pre_tool_call')
  const after = commands.filter(hook => hook.event === 'post_tool_call')
  return {
    before: [
      ...before.map(hook => beforeHook(hook, context)),
      ...after.map(hook => beforeAfterHook(hook, context)),
    ],
    after: after.map(hook => afterHook(hook, context)),
  }
}
