import { setTimeout as sleep } from 'node:timers/promises'
import { LostRun } from '../agents/durable-turn.ts'
import { toToolError } from '../core/errors.ts'
import type { Runs } from '../runs.ts'
import type { Runtime } from '../runtime.ts'
import type { Database } from '../store/database/database.ts'
import { listenTo } from '../store/database/listen.ts'
import { claimRun, QUEUE_CHANNEL, requeueRun, runsAwaitingAnswers } from '../store/tables/run-queue.ts'
import { followFolder } from './events/follow-folder.ts'

/** Works on the queued runs of one workspace, beside any number of other workers. */
export interface Worker {
  /** How many runs it works on now. */
  readonly running: number
  /** Takes nothing new, waits a while for what is under way, then pauses it and leaves it to others. */
  close(): Promise<void>
}

export interface WorkerOptions {
  readonly runtime: Runtime
  readonly runs: Runs
  readonly database: Database
  /** Runs at once in this process. */
  readonly most: number
  /** Runs at once of one agent, in all workers of the workspace. */
  readonly mostPerAgent: number
  readonly log: (line: Record<string, unknown>) => void
  readonly drainMs?: number
  /** How often runs are looked for that nobody works on. */
  readonly rescueMs?: number
}

const LOOK_MS = 1_000
const DRAIN_MS = 5_000
/** How often runs are looked for whose worker is gone. */
const RESCUE_MS = 2_000

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { runs, database, most, mostPerAgent, log, rescueMs = RESCUE_MS } = options
  const work = createWork(options)
  const stopped = new AbortController()
  let wake = Promise.withResolvers<void>()
  const listening = await listenTo(database, [QUEUE_CHANNEL], () => wake.resolve())
  // An answer is a file: what waits for it goes on at once.
  const answers = followFolder(options.runtime.places.approvals, () => wake.resolve())
  const takeQueued = async (): Promise<void> => {
    while (work.running.size < most && !stopped.signal.aborted) {
      const id = await claimRun(database, runs.place, { executor: runs.executor, perAgent: mostPerAgent })
      if (id === undefined) return
      work.begin(id, runs.take, () => wake.resolve())
    }
  }
  // Seen without anybody at work on them the last time. Twice: a run that was only just begun, and one whose worker needs a
  // moment to come back to a server that was away, is not left.
  let lost = new Set<string>()
  const rescue = async (): Promise<void> => {
    const left = [...(await runs.interrupted()), ...(await runs.orphaned())]
    const again = left.filter(id => lost.has(id) && !work.running.has(id))
    lost = new Set(left)
    for (const id of again) {
      if (work.running.size >= most || stopped.signal.aborted) return
      work.begin(id, runs.rescue, () => wake.resolve())
    }
  }
  const loop = async (): Promise<void> => {
    let rescued = Number.NEGATIVE_INFINITY
    while (!stopped.signal.aborted) {
      wake = Promise.withResolvers()
      answers.follow()
      try {
        await takeQueued()
        await continueAnswered(options)
        if (performance.now() - rescued > rescueMs) {
          await rescue()
          rescued = performance.now()
        }
      } catch (error) {
        log({ level: 'error', event: 'worker', message: toToolError(error).message })
      }
      await Promise.race([
        wake.promise,
        sleep(LOOK_MS, undefined, { signal: stopped.signal }).catch(() => undefined),
      ])
    }
  }
  const ended = loop()
  return {
    get running() {
      return work.running.size
    },
    async close() {
      stopped.abort()
      answers.close()
      await ended
      await listening.close()
      await work.drain(options.drainMs ?? DRAIN_MS)
    },
  }
}

function createWork({ runs, database, log }: WorkerOptions) {
  const pausing = new AbortController()
  const running = new Map<string, Promise<void>>()
  const work = async (id: string, take: Runs['rescue']): Promise<void> => {
    log({ level: 'info', event: 'run.taken', run: id })
    try {
      const run = await take(id)
      const done = await runs.work(run, { signal: pausing.signal })
      log({ level: 'info', event: 'run.left', run: id, status: done.status, stop_reason: done.stopReason })
    } catch (error) {
      const lost = error instanceof LostRun
      log({
        level: lost ? 'warn' : 'error',
        event: 'run.failed',
        run: id,
        message: toToolError(error).message,
      })
    }
    // Somebody else goes on where it was paused.
    if (pausing.signal.aborted) await requeueRun(database, id, 'paused')
  }
  return {
    running,
    begin(id: string, take: Runs['rescue'], onEnd: () => void): void {
      // One that was let go may be claimed again while that is still being put away.
      const ended = (running.get(id) ?? Promise.resolve())
        .then(() => work(id, take))
        .catch(error =>
          log({ level: 'error', event: 'run.failed', run: id, message: toToolError(error).message }),
        )
        .finally(() => {
          if (running.get(id) === ended) running.delete(id)
          onEnd()
        })
      running.set(id, ended)
    },
    async drain(ms: number): Promise<void> {
      const all = Promise.all(running.values())
      await Promise.race([all, sleep(ms, undefined, { ref: false })])
      pausing.abort()
      await all
    },
  }
}

/** A run goes on when all its questions are answered, or have ended without an answer. */
async function continueAnswered({ runtime, runs, database }: WorkerOptions): Promise<void> {
  const standing = await runsAwaitingAnswers(database, runs.place)
  if (standing.length === 0) return
  const questions = await runtime.listQuestions()
  const open = new Set(questions.filter(({ answer }) => answer === null).map(({ id }) => id))
  for (const { id, questions: own } of standing) {
    if (!own.some(question => open.has(question))) await requeueRun(database, id, 'awaiting_approval')
  }
}
