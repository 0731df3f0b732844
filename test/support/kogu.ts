import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'kogu.js')

/** A person's machine in a temporary folder: a home, a workspace, and the built program. */
export interface Sandboxed {
  readonly home: string
  readonly workspace: string
  readonly env: Record<string, string>
  run(args: readonly string[], options?: RunOptions): Ran
  /** Runs with --json and parses what came out. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever the program printed
  json(args: readonly string[], options?: RunOptions): any
  /** A call that somebody approves and that succeeds; its id. */
  approve(tool: string, input: Record<string, unknown>, run?: string): string
  write(path: string, text: string): string
  /** The person's own configuration. */
  configure(toml: string): void
  read(path: string): string
  remove(): void
}

export interface RunOptions {
  input?: string
  env?: Record<string, string>
  cwd?: string
}

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

export function createSandboxed(): Sandboxed {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
  const workspace = join(home, 'work')
  mkdirSync(workspace)
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    NODE_COMPILE_CACHE: join(tmpdir(), 'kogu-test-compile-cache'),
  }
  const run = (args: readonly string[], options: RunOptions = {}): Ran => {
    const result: SpawnSyncReturns<string> = spawnSync(process.execPath, [PROGRAM, ...args], {
      cwd: options.cwd ?? workspace,
      env: { ...env, ...options.env },
      encoding: 'utf8',
      input: options.input ?? '',
      maxBuffer: 256 * 1024 * 1024,
    })
    return { code: result.status, stdout: result.stdout, stderr: result.stderr }
  }
  const json: Sandboxed['json'] = (args, options) => {
    const { stdout } = run([...args, '--json'], options)
    return JSON.parse(stdout)
  }
  return {
    home,
    workspace,
    env,
    run,
    json,
    approve(tool, input, name = 'work') {
      const { call, error } = json(['call', tool, JSON.stringify(input), '--yes-once', '--run', name])
      if (error !== null) throw new Error(`${tool} failed: ${error.message}`)
      return call
    },
    write(path, text) {
      const full = join(workspace, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, text)
      return full
    },
    configure(toml) {
      mkdirSync(join(home, 'config/kogu'), { recursive: true })
      writeFileSync(join(home, 'config/kogu/config.toml'), toml)
    },
    read: path => readFileSync(join(workspace, path), 'utf8'),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}
