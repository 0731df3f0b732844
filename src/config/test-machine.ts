import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Environment, toEnvironment } from './environment.ts'
import { type Inspected, inspectConfig, type LoadedConfig, type LoadOptions, loadConfig } from './load.ts'
import { trust } from './trust.ts'

/** For tests: a folder with a home, a system folder and a workspace of its own, gone when the test ends. */
export interface TestMachine {
  readonly home: string
  readonly workspace: string
  environment(variables?: Record<string, string>): Environment
  /** Places: `user/config.toml`, `system/managed.toml`, anything else is in the workspace. */
  write(path: string, text: string, mode?: number): string
  load(options?: MachineOptions): LoadedConfig
  inspect(options?: MachineOptions): Inspected
  /** Trusts the project's files as they are now. */
  trustNow(): Promise<void>
}

type MachineOptions = Pick<LoadOptions, 'flags'> & { variables?: Record<string, string> }

export function createTestMachine(): TestMachine {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-config-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  const workspace = join(home, 'project')
  mkdirSync(join(workspace, '.git'), { recursive: true })
  const environment = (variables: Record<string, string> = {}): Environment => {
    const host = { platform: process.platform, uid: process.getuid?.(), home }
    const made = toEnvironment({ HOME: home, ...variables }, host)
    return { ...made, directories: { ...made.directories, system: join(folder, 'system') } }
  }
  const options = ({ variables, ...rest }: MachineOptions = {}): LoadOptions => ({
    cwd: workspace,
    environment: environment(variables),
    ...rest,
  })
  const load = (given?: MachineOptions) => loadConfig(options(given))
  return {
    home,
    workspace,
    environment,
    write(path, text, mode = 0o600) {
      const file = path.startsWith('user/')
        ? join(home, '.config/kogu', path.slice('user/'.length))
        : join(path.startsWith('system/') ? folder : workspace, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { mode })
      return file
    },
    load,
    inspect: given => inspectConfig(options(given)),
    async trustNow() {
      await trust(environment(), workspace, load().projectPart)
    },
  }
}
