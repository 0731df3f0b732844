import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DBOS } from '@dbos-inc/dbos-sdk'
import type { Database } from '../database/database.ts'
import { LOCKS } from '../database/locks.ts'

// DBOS on our own PostgreSQL, by four rules: one workflow per turn, so that a run that waits for a person costs nothing; a
// claim before each effect (durable-turn.ts); liveness by advisory lock (executors.ts); a pinned application version. Each
// attempt at a turn has an id of its own, `run:tN:` and a random part: under a shared one, whoever takes a run over would get
// what the engine noted of the attempt before, such as that it was lost. Who may write is up to the owner of the run.

export type TurnWork = () => Promise<void>

export interface TurnId {
  readonly run: string
  readonly turn: number
}

export interface TurnEngine {
  take(turn: TurnId, work: TurnWork): Promise<void>
  /** Ends the turns of a run that executors left behind, in what the engine notes. */
  abandon(run: string): Promise<void>
  close(): Promise<void>
}

/** Workflows are found by name and run by this version of the code only; it changes when old turns could not go on. */
const APPLICATION_VERSION = '1'

/** What the turns of this process do, by workflow id. */
const works = new Map<string, TurnWork>()

// DBOS has one state per process, and knows workflows before it is launched.
const turnWorkflow = DBOS.registerWorkflow(
  async (): Promise<void> => {
    const work = works.get(DBOS.workflowID ?? '')
    if (work === undefined) throw new Error('This turn was started by another process.')
    // Not in steps of the engine: what it does is written down in our own tables, and the engine never does a turn again
    // that was cut off. Each step would cost seven round trips more.
    await work()
  },
  { name: 'turn' },
)

export async function openTurnEngine(database: Database, executor: string): Promise<TurnEngine> {
  DBOS.setConfig({
    name: 'kogu',
    // What it notes can be lost with the server: the state of a run is in our own tables.
    systemDatabasePool: database.relaxed.pool,
    applicationVersion: APPLICATION_VERSION,
    executorID: executor,
    logger: SILENT,
    // Turns are started by whoever owns the run, never taken from a queue, and nobody sends messages to them.
    listenQueues: [],
    useListenNotify: false,
  })
  await launchAlone(database)
  const ending = new Set<Promise<void>>()
  return {
    async take(turn, work) {
      const id = `${turn.run}:t${turn.turn}:${randomUUID()}`
      const worked = Promise.withResolvers<void>()
      works.set(id, () => {
        work().then(worked.resolve, worked.reject)
        return worked.promise
      })
      const handle = await DBOS.startWorkflow(turnWorkflow, { workflowID: id })()
      const ended = handle.getResult().finally(() => {
        works.delete(id)
        ending.delete(ended)
      })
      ending.add(ended)
      ended.catch(() => undefined)
      // What the turn did is written down by then; that the engine notes its end can go on beside the next one.
      await Promise.race([worked.promise, ended])
    },
    async abandon(run) {
      const left = await DBOS.listWorkflows({ workflow_id_prefix: `${run}:t`, status: 'PENDING' })
      for (const { workflowID } of left) await DBOS.cancelWorkflow(workflowID)
    },
    async close() {
      await Promise.allSettled(ending)
      await DBOS.shutdown()
    },
  }
}

/**
 * The engine makes its tables when it is launched, with indexes that are built concurrently: these wait for every statement
 * of others, so that two engines on a new machine, or one that waits for a lock, would deadlock. Hence one after another,
 * and by asking again and again.
 */
async function launchAlone(database: Database): Promise<void> {
  const client = await database.connect()
  try {
    const isFree = async (): Promise<boolean> =>
      (await client.query('SELECT pg_try_advisory_lock($1) AS free', [LOCKS.launch])).rows[0]?.free === true
    while (!(await isFree())) await sleep(20)
    await DBOS.launch()
  } finally {
    // With the connection goes the lock.
    await client.end()
  }
}

/** What goes wrong comes back as an error of `take`; lines on the terminal of a person say nothing to them. */
const nothing = (): void => undefined
const SILENT = { info: nothing, debug: nothing, warn: nothing, error: nothing }
