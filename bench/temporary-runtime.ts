import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, toEnvironment } from '../src/config/environment.ts'
import { loadConfig } from '../src/config/load.ts'
import { noApprover } from '../src/core/approval.ts'
import type { CallResult } from '../src/core/call.ts'
import { createRuntime, type Runtime } from '../src/runtime.ts'

export interface TemporaryRuntime {
  readonly runtime: Runtime
  readonly workspace: string
  readonly environment: Environment
  /** A call in a run that all calls share; throws when it fails, because a failure would be measured as fast. */
  call(tool: string, input: Record<string, unknown>): Promise<CallResult>
  close(): Promise<void>
}

interface Options {
  /** Defaults to a new, empty one. */
  readonly workspace?: string
  /** Text of the person's own configuration file. */
  readonly userConfig?: string
}

/** The whole runtime as users get it, with a home and state of its own in a temporary folder. */
export async function openTemporaryRuntime(options: Options = {}): Promise<TemporaryRuntime> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-bench-')))
  const home = join(folder, 'home')
  const workspace = options.workspace ?? join(home, 'project')
  mkdirSync(join(workspace, '.git'), { recursive: true })
  if (options.userConfig !== undefined) {
    mkdirSync(join(home, '.config/kogu'), { recursive: true })
    writeFileSync(join(home, '.config/kogu/config.toml'), options.userConfig, { mode: 0o600 })
  }
  const environment = environmentIn(folder, home)
  const loaded = loadConfig({ cwd: workspace, named: true, environment, flags: { mode: 'accept-edits' } })
  const runtime = await createRuntime({ loaded, environment, approver: noApprover('this is a benchmark') })
  const run = await runtime.openRun()
  return {
    runtime,
    workspace,
    environment,
    async call(tool, input) {
      const result = await runtime.call({ tool, input, run: run.id })
      if (!result.ok) throw new Error(`${tool} failed: ${result.error?.message}`)
      return result
    },
    async close() {
      await runtime.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Nothing of the person who runs the benchmark counts, and nothing of the machine's administrator. */
function environmentIn(folder: string, home: string): Environment {
  const host = { platform: process.platform, uid: process.getuid?.(), home }
  const environment = toEnvironment({ HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin' }, host)
  const { directories } = environment
  return { ...environment, directories: { ...directories, system: join(folder, 'system') } }
}
