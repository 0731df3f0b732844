import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Environment, toEnvironment } from '../../src/config/environment.ts'
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts'
import { type Approver, noApprover } from '../../src/core/approval.ts'
import { createRuntime, type Runtime } from '../../src/runtime.ts'
import type { WebClientOptions } from '../../src/tools/web/web-client.ts'

export interface TestRuntime {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly home: string
  readonly workspace: string
  write(path: string, text: string): void
  close(): Promise<void>
}

/** The real runtime over a real folder, configured by a user file. */
export async function openTestRuntime(
  config = '',
  approver: Approver = noApprover('a test'),
  web: WebClientOptions = {},
): Promise<TestRuntime> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-runtime-')))
  const workspace = join(home, 'work')
  mkdirSync(join(home, '.config', 'kogu'), { recursive: true })
  mkdirSync(workspace)
  writeFileSync(join(home, '.config', 'kogu', 'config.toml'), config)
  return openOver(home, { approver, web }, () => rmSync(home, { recursive: true, force: true }))
}

/** Another one over the same folder, which it leaves to the first. */
export function reopenTestRuntime({ home }: TestRuntime, approver: Approver): Promise<TestRuntime> {
  return openOver(home, { approver }, () => undefined)
}

/** In a home that `openTestRuntime` has made. */
export async function openRuntimeIn(home: string, approver: Approver): Promise<Runtime> {
  return (await openOver(home, { approver }, () => undefined)).runtime
}

async function openOver(
  home: string,
  { approver, web = {} }: { approver: Approver; web?: WebClientOptions },
  remove: () => void,
): Promise<TestRuntime> {
  const workspace = join(home, 'work')
  const host = { platform: process.platform, uid: process.getuid?.(), home }
  const environment = toEnvironment({ HOME: home, PATH: process.env.PATH }, host)
  const loaded = loadConfig({ cwd: workspace, environment })
  const runtime = await createRuntime({ loaded, environment, approver, web })
  return {
    runtime,
    loaded,
    environment,
    home,
    workspace,
    write(path, text) {
      const full = join(workspace, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, text)
    },
    async close() {
      await runtime.close()
      remove()
    },
  }
}
