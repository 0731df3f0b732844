import { ConfigError } from '../config/config-error.ts'
import { describeConfigError } from '../config/describe-error.ts'
import type { Environment } from '../config/environment.ts'
import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { trustFile } from '../config/trust.ts'
import { toToolError } from '../core/errors.ts'
import type { Runtime } from '../runtime.ts'
import { lookRegularly } from './events/look-regularly.ts'
import { signatureOf } from './events/watch-workspace.ts'

/** The configuration of a server, as its files say it now. */
export interface ConfigFollower {
  /** What counts. */
  readonly loaded: LoadedConfig
  /** Why the files as they are do not count, and what they said before does. */
  readonly problem: string | undefined
  /** Looks whether the files have changed, and lets what they say about permissions count from now on. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface FollowOptions {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly environment: Environment
  /** Reads the files again, with the options of the command line. Defaults to those of the workspace. */
  readonly load?: () => LoadedConfig
  readonly log?: (line: Record<string, unknown>) => void
}

/**
 * Follows the files of a configuration, and the person's trust in those of the project. Doors check before each request, so
 * that a rule holds for the next one; agents' runs follow within a second. A file that cannot be used changes nothing: a
 * half-written one could lack a deny.
 */
export function followConfig({ runtime, loaded, environment, load, log }: FollowOptions): ConfigFollower {
  const read = load ?? (() => loadConfig({ cwd: loaded.workspace.root, named: true, environment }))
  const signature = ({ files }: LoadedConfig): string =>
    [...files.map(({ path }) => path), trustFile(environment)].map(signatureOf).join(' ')
  const state = { loaded, problem: undefined as string | undefined, seen: signature(loaded) }
  const take = async (): Promise<void> => {
    const now = signature(state.loaded)
    if (now === state.seen) return
    // Before the files are read: one that changes meanwhile is read again.
    state.seen = now
    try {
      const next = read()
      const before = new Set(runtime.rules.map(ruleText))
      await runtime.replacePolicy(next)
      Object.assign(state, { loaded: next, problem: undefined })
      const after = new Set(runtime.rules.map(ruleText))
      runtime.note('config-applied', {
        mode: next.config.mode,
        trust: next.trust.status,
        added: [...after].filter(text => !before.has(text)),
        removed: [...before].filter(text => !after.has(text)),
      })
      log?.({ level: 'info', event: 'config.applied' })
    } catch (error) {
      state.problem = error instanceof ConfigError ? describeConfigError(error) : toToolError(error).message
      runtime.note('config-refused', { problem: state.problem })
      log?.({ level: 'error', event: 'config.refused', message: state.problem })
    }
  }
  const looking = lookRegularly(take)
  return {
    get loaded() {
      return state.loaded
    },
    get problem() {
      return state.problem
    },
    // Nearly every request finds nothing new, and waits for nobody.
    check: async () => (signature(state.loaded) === state.seen ? undefined : looking.look()),
    close: looking.close,
  }
}

function ruleText({ ref }: Runtime['rules'][number]): string {
  return `${ref.id}: ${ref.text}`
}
