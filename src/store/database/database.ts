import { hash } from 'node:crypto'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isSystemError, ToolError } from '../../core/errors.ts'
import type { ServerLease } from '../../sandbox/servers/shared-server.ts'
import { type EmbeddedOptions, embeddedAddress, useEmbeddedPostgres } from './embedded-postgres.ts'
import { migrate } from './migrate.ts'

// Plain `pg` with typed rows. Every statement of Kogu is fixed text in the file of its table, so that a query builder would
// only add a second language; `pg` comes with DBOS anyway.

/** One connection or the whole pool. */
export interface Queries {
  /** Rows as the caller's SQL makes them: the type is the caller's promise, kept by the test of its table. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

export interface Database extends Queries {
  /** All or nothing. Not repeated by itself: `work` may have done other things meanwhile. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  /**
   * The same for statements that depend on nothing but each other: all go to the server at once, in their order, and cost
   * one round trip. Doing them twice must be the same as doing them once: they are repeated when the connection is lost.
   */
  together(statements: (queries: Queries) => readonly Promise<unknown>[]): Promise<void>
  /** A connection of one's own, for advisory locks and notifications. */
  connect(): Promise<pg.Client>
  /**
   * Commits that do not wait for the disk: a crash of the server, not of Kogu, may lose the last half second of them. For
   * what can be made again: events, and what the engine notes about turns whose state is written elsewhere.
   */
  readonly relaxed: Queries & { readonly pool: pg.Pool }
  /**
   * The same for a client that waits: it hears within five seconds that the server is away, also of one that is stopped and
   * neither answers nor ends its connections.
   */
  readonly hurried: Database
  close(): Promise<void>
}

export interface DatabaseOptions extends EmbeddedOptions {
  /** One's own server; otherwise the embedded one. */
  readonly url?: string
}

/** Opens the database, starts the embedded server when there is none, and brings the tables up to date. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const server = createServer(options)
  await server.find()
  const pool = new pg.Pool({ ...server.address(), max: 10, pipeline: true })
  const relaxed = new pg.Pool({ ...server.address(), max: 6, options: '-c synchronous_commit=off' })
  server.onMove(address => {
    for (const each of [pool, relaxed]) Object.assign(each.options, address)
  })
  // Without a listener, a connection that breaks would end the process: the pool listens while it is idle, and we while it
  // is in use. Whoever waits for an answer on it hears of it anyway.
  for (const each of [pool, relaxed]) {
    each.on('error', () => undefined)
    each.on('connect', client => client.on('error', () => undefined))
  }
  const close = async (): Promise<void> => {
    await Promise.all([pool.end(), relaxed.end()])
    server.release()
  }
  const patient = overPools({ pool, relaxed, server, patienceMs: RETRY_MS, limit: work => work(() => false) })
  const inTime = overPools({
    ...{ pool, relaxed, server, patienceMs: HURRY_MS },
    limit: work => whileAnswering(work, server),
  })
  const hurried: Database = {
    ...inTime,
    close,
    get hurried() {
      return hurried
    },
  }
  const database: Database = { ...patient, close, hurried }
  try {
    await migrate(database)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

interface PoolParts {
  readonly pool: pg.Pool
  readonly relaxed: pg.Pool
  readonly server: Server
  /** How long it is tried to reach the server. */
  readonly patienceMs: number
  /** `isLate`: nobody waits for it any longer, so that it must not begin. */
  limit<T>(work: (isLate: IsLate) => Promise<T>): Promise<T>
}

type IsLate = () => boolean

function overPools({ pool, relaxed, limit, ...how }: PoolParts): Omit<Database, 'close' | 'hurried'> {
  const ask = <Row>(from: pg.Pool, text: string, values?: readonly unknown[]): Promise<Row[]> =>
    limit(isLate =>
      retry(async () => {
        const client = await take(from, isLate)
        try {
          const rows = await runQuery<Row>(client, text, values)
          client.release()
          return rows
        } catch (error) {
          // As the pool does it: after an error, the connection may be of no use.
          client.release(true)
          throw error
        }
      }, how),
    )
  return {
    relaxed: { pool: relaxed, query: (text, values) => ask(relaxed, text, values) },
    query: (text, values) => ask(pool, text, values),
    transaction: work =>
      limit(async isLate => inTransaction(await retry(() => begin(pool, isLate), how), work)),
    together: statements =>
      limit(isLate => retry(async () => sendTogether(await take(pool, isLate), statements), how)),
    connect: () =>
      retry(async () => {
        const client = new pg.Client({ ...how.server.address(), ...KEEP_ALIVE })
        client.on('error', () => undefined)
        await client.connect()
        return client
      }, how),
  }
}

async function take(pool: pg.Pool, isLate: IsLate): Promise<pg.PoolClient> {
  const client = await pool.connect()
  if (!isLate()) return client
  client.release()
  throw new DatabaseUnavailable(new Error('it answered too late'))
}

/** What takes long on a server that answers goes on. */
async function whileAnswering<T>(work: (isLate: IsLate) => Promise<T>, server: Server): Promise<T> {
  let isLate = false
  const done = work(() => isLate).then(result => ({ result }))
  for (;;) {
    const first = await Promise.race([done, sleep(HURRY_MS, undefined, { ref: false })])
    if (first !== undefined) return first.result
    if (await answers(server)) continue
    isLate = true
    done.catch(() => undefined)
    throw new DatabaseUnavailable(new Error('it does not answer'))
  }
}

async function answers(server: Server): Promise<boolean> {
  const limits = { connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS }
  const client = new pg.Client({ ...server.address(), ...limits })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    client.end().catch(() => undefined)
  }
}

/**
 * The pool may hand out a connection to a server that was killed a moment ago. BEGIN finds that out before `work` has done
 * anything, so this much can always be retried.
 */
async function begin(pool: pg.Pool, isLate: IsLate): Promise<pg.PoolClient> {
  const client = await take(pool, isLate)
  try {
    await client.query('BEGIN')
    if (isLate()) throw new DatabaseUnavailable(new Error('it answered too late'))
    return client
  } catch (error) {
    client.release(true)
    throw error
  }
}

async function inTransaction<T>(client: pg.PoolClient, work: (queries: Queries) => Promise<T>): Promise<T> {
  try {
    const result = await work({ query: (text, values) => runQuery(client, text, values) })
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // Closing the connection ends the transaction, also where it can no longer be told so.
    client.release(true)
    throw isConnectionLost(error) ? new DatabaseUnavailable(error) : error
  }
}

/** After a statement that fails, PostgreSQL takes COMMIT for a ROLLBACK. */
async function sendTogether(
  client: pg.PoolClient,
  statements: (queries: Queries) => readonly Promise<unknown>[],
): Promise<void> {
  const sent: Promise<unknown>[] = []
  try {
    sent.push(
      client.query('BEGIN'),
      ...statements({ query: (text, values) => runQuery(client, text, values) }),
    )
    const all = Promise.all(sent)
    // One that could not even be made must not leave the others behind: that is known by now.
    await Promise.race([all, setImmediate()])
    await Promise.all([all, client.query('COMMIT')])
    client.release()
  } catch (error) {
    const reasons = (await Promise.allSettled(sent)).flatMap(each => ('reason' in each ? [each.reason] : []))
    client.release(true)
    throw reasons.find(reason => !isConsequence(reason)) ?? error
  }
}

/** The statements after one that failed fail too, and none of them says why. */
function isConsequence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25P02'
}

/** A worker on another machine that is cut off must lose its lock in minutes, not hours. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const

interface Server {
  /** Finds it, also again when it was started anew in another place. */
  find(): Promise<void>
  onMove(listener: (address: pg.ClientConfig) => void): void
  address(): pg.ClientConfig
  release(): void
}

function createServer(options: DatabaseOptions): Server {
  const { url } = options
  if (url !== undefined) {
    const address = { connectionString: url, application_name: 'kogu' }
    const nothing = () => undefined
    return { find: async () => undefined, onMove: nothing, address: () => address, release: nothing }
  }
  let lease: ServerLease | undefined
  let finding: Promise<void> | undefined
  const moved: { listener?: (address: pg.ClientConfig) => void } = {}
  const address = (): pg.ClientConfig => embeddedAddress(options.folder, lease?.place ?? '')
  const find = async (): Promise<void> => {
    lease?.release()
    lease = await useEmbeddedPostgres(options)
    moved.listener?.(address())
  }
  return {
    // Once for all who miss it at the same time.
    find() {
      finding ??= find().finally(() => {
        finding = undefined
      })
      return finding
    },
    onMove: listener => {
      moved.listener = listener
    },
    address,
    release: () => lease?.release(),
  }
}

export async function runQuery<Row>(
  on: pg.Pool | pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  // Named, so that the server parses and plans it once for each connection.
  const name = values.length === 0 ? {} : { name: hash('sha1', text) }
  // What the statement returns is the caller's promise; see Queries.
  return (await on.query({ ...name, text, values: values.map(withoutNul) })).rows as Row[]
}

/** PostgreSQL keeps no NUL in its texts, and a model may send one. JSON is seen to by `toJson`. */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
}

const RETRY_MS = 20_000
/** Of somebody who waits for an answer, with ANSWER_MS after it to see whether the server lives. */
const HURRY_MS = 3_500
const ANSWER_MS = 500
const LONGEST_PAUSE = 640

/**
 * A server that was killed is back within a second or two. Statements are written so that doing one twice is the same as
 * doing it once: an answer that was lost on the way does not tell whether it was done.
 */
async function retry<T>(
  work: () => Promise<T>,
  { server, patienceMs }: Pick<PoolParts, 'server' | 'patienceMs'>,
): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (let pause = 20; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    try {
      return await work()
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      if (performance.now() > deadline) throw new DatabaseUnavailable(error)
      await sleep(pause)
      // One that cannot be started yet, on a full disk for example, is away.
      if (pause === LONGEST_PAUSE) await server.find().catch(() => undefined)
    }
  }
}

/** Class 53 is a lack of something, such as room on its disk; what it could not write, it will write later. */
const LOST = new Set(['57P01', '57P02', '57P03', '08000', '08003', '08006', '08001', '58030'])
const LOST_SOCKET = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    LOST.has(code) ||
    /^53[0-9A-Z]{3}$/.test(code) ||
    LOST_SOCKET.has(code) ||
    // A socket that is gone, and no other file.
    (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect') ||
    /Connection terminated|is not queryable/i.test(error.message)
  )
}

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT'])

/** Nothing is wrong with what was to be done: the database is away, or there is no room on the disk. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isFull = isSystemError(error) && NO_ROOM.has(error.code ?? '')
  return isFull || error instanceof DatabaseUnavailable || isConnectionLost(error) || isOutage(error.cause)
}

/** Nothing is wrong with what was asked; the server is away. */
export class DatabaseUnavailable extends ToolError {
  constructor(cause: unknown) {
    const detail = cause instanceof Error ? cause.message : String(cause)
    super('failed', `The database cannot be reached: ${detail}`, { hint: 'See: kogu doctor', cause })
  }
}
