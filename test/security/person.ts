import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PROGRAM } from '../support/kogu.ts'
import { folderOutsideTmp } from '../support/outside-tmp.ts'
import { AS_NOBODY, NOBODY, noOrdinaryUser, noSandbox } from '../support/skips.ts'

/** A person of this machine with a home of their own, who approves hostile programs. */
export interface Person {
  readonly home: string
  readonly workspace: string
  /** Writes a file that the person owns, relative to the home. */
  write(path: string, text: string): string
  /** Approves a script, which is hostile, and returns the result of the call. */
  approve(script: string, options?: CallOptions): CallOutcome
  /** Runs a line that nobody is asked about. */
  unasked(line: string, options?: CallOptions): CallOutcome
  kogu(args: readonly string[], cwd?: string): CallOutcome
  remove(): void
}

export interface CallOptions {
  readonly run?: string
  readonly cwd?: string
  readonly input?: Readonly<Record<string, unknown>>
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever the program printed
export type CallOutcome = any

export const OWN_USER = process.getuid?.() ?? 0

/** Root's walls are put up without a user namespace, so both are tried. */
export const USERS: readonly { user: number; why: string }[] = [
  { user: OWN_USER, why: noSandbox },
  ...(OWN_USER === 0 ? [{ user: NOBODY, why: noSandbox || noOrdinaryUser }] : []),
]

export interface PersonOptions {
  readonly user: number
  /** Relative to the home. */
  readonly workspace?: string
  /** In which the home is made: /tmp is private to the sandbox, so a usual home lies elsewhere. */
  readonly base?: string
}

export function createPerson({ user, workspace = 'work', base = folderOutsideTmp() }: PersonOptions): Person {
  // A comma or colon in it could be taken for a mount option.
  const home = realpathSync(mkdtempSync(join(base, 'kogu,a:person-')))
  const own = (path: string): void => chownSync(path, user, user)
  chmodSync(home, 0o755)
  own(home)
  const makeFolder = (path: string): void => {
    if (path === home || path === dirname(path)) return
    makeFolder(dirname(path))
    mkdirSync(path, { recursive: true })
    if (path.startsWith(home)) own(path)
  }
  const write = (path: string, text: string): string => {
    const full = join(home, path)
    makeFolder(dirname(full))
    writeFileSync(full, text, { mode: 0o755 })
    own(full)
    return full
  }
  const folder = join(home, workspace)
  makeFolder(folder)
  const kogu = (args: readonly string[], cwd = folder): CallOutcome => {
    const become = user === OWN_USER ? [] : AS_NOBODY
    const [file = '', ...rest] = [...become, process.execPath, PROGRAM, ...args, '--cwd', cwd, '--json']
    const { stdout, stderr } = spawnSync(file, rest, {
      cwd,
      // The person approves programs before they run.
      env: { HOME: home, PATH: process.env.PATH ?? '', KOGU_PERMISSIONS__COMMANDS: 'ask' },
      encoding: 'utf8',
      input: '',
    })
    return JSON.parse(stdout || `{"problem":${JSON.stringify(stderr)}}`)
  }
  const call = (command: string, options: CallOptions, flags: readonly string[]): CallOutcome => {
    const run = options.run === undefined ? [] : ['--run', options.run]
    const input = JSON.stringify({ command, ...options.input })
    return kogu(['call', 'run_command', input, ...flags, ...run], options.cwd)
  }
  return {
    home,
    workspace: folder,
    write,
    kogu,
    approve(script, options = {}) {
      const cwd = options.cwd ?? folder
      write(join(cwd, 'hostile.sh').slice(home.length + 1), script)
      return call('bash ./hostile.sh', options, ['--yes-once'])
    },
    unasked: (line, options = {}) => call(line, options, []),
    // What was started for it may still be at work.
    remove: () => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  }
}

export const IN_TMP = tmpdir()
