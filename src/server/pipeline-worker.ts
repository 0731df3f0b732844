import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { toToolError } from '../core/errors.ts'
import { workOnRun } from '../pipelines/build/build.ts'
import type { PipelineOptions, PipelineParts } from '../pipelines/pipelines.ts'
import type { PipelineEvent } from '../pipelines/work.ts'
import { pipelineRunsOf, type SavedPipelineRun } from '../store/pipeline-runs.ts'
import { insertWorkspaceEvents } from '../store/tables/run-events.ts'
import { findRun } from '../store/tables/workflow-runs.ts'
import { startDue } from './pipeline-clock.ts'

/** Works on runs of pipelines in this process: those begun here, those that are due, those whose questions were answered. */
export interface PipelineWorker {
  begin(run: SavedPipelineRun, options?: Pick<PipelineOptions, 'approve' | 'by' | 'retry' | 'skip'>): void
  /** False when nobody works on it here. */
  stop(id: string): boolean
  isWorking(id: string): boolean
  /** Why the last try to go on came to nothing. */
  problemOf(id: string): string | null
  close(): Promise<void>
}

const LOOK_MS = 1_000
/** What could not go on, because somebody has to look first, is not tried again at once. */
const AFTER_PROBLEM_MS = 30_000

export function startPipelineWorker(
  parts: PipelineParts & {
    readonly log: (line: Record<string, unknown>) => void
    readonly lookMs?: number
    now?(): Date
  },
): PipelineWorker {
  const { runtime, database, runs, log, lookMs = LOOK_MS, now = () => new Date() } = parts
  const working = new Map<string, { stop: AbortController; ended: Promise<void> }>()
  const problems = new Map<string, { message: string; since: number }>()
  const stopped = new AbortController()
  const tell = (run: SavedPipelineRun): Promise<void> => {
    const event = { type: 'pipeline.changed' as const, name: run.pipeline, pipeline_run: run.id }
    return insertWorkspaceEvents(database, runs.place, [
      { id: randomUUID(), at: new Date().toISOString(), event },
    ]).catch(() => undefined)
  }
  const work = async (run: SavedPipelineRun, options: PipelineOptions): Promise<void> => {
    const now = pipelineRunsOf(runtime.places).find(run.id)
    if (now?.status === 'completed' || now?.status === 'failed') return
    log({ level: 'info', event: 'pipeline.taken', run: run.id, pipeline: run.pipeline })
    problems.delete(run.id)
    try {
      const onEvent = ({ type }: PipelineEvent): void => {
        if (type !== 'agent.event') void tell(run)
      }
      const left = await workOnRun(parts, run.id, { ...options, onEvent })
      log({ level: 'info', event: 'pipeline.left', run: run.id, status: left.status })
      // Nobody wanted it to stop: the server did. The next one goes on with it.
      if (left.status === 'stopped' && left.isServers === true && stopped.signal.aborted)
        pipelineRunsOf(runtime.places).save({ ...left, status: 'running' })
    } catch (error) {
      const { message } = toToolError(error)
      problems.set(run.id, { message, since: performance.now() })
      log({ level: 'warn', event: 'pipeline.failed', run: run.id, message })
    }
    await tell(run)
  }
  const begin: PipelineWorker['begin'] = (run, options = {}) => {
    if (stopped.signal.aborted) return
    const stop = new AbortController()
    // A gate may be opened while the work that stopped at it is still being put away.
    const before = working.get(run.id)?.ended ?? Promise.resolve()
    const ended = before.then(() => work(run, { ...options, signal: stop.signal }))
    const mine = { stop, ended }
    working.set(run.id, mine)
    void ended.finally(() => {
      if (working.get(run.id) === mine) working.delete(run.id)
    })
  }
  const isLeftAlone = (id: string): boolean =>
    working.has(id) ||
    performance.now() - (problems.get(id)?.since ?? Number.NEGATIVE_INFINITY) < AFTER_PROBLEM_MS
  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await continueOpen(parts, isLeftAlone, begin)
        .then(() => startDue({ ...parts, begin }, now()))
        .catch(error => log({ level: 'error', event: 'pipelines', message: toToolError(error).message }))
      await sleep(lookMs, undefined, { signal: stopped.signal }).catch(() => undefined)
    }
  }
  const ended = loop()
  return {
    begin,
    stop(id) {
      working.get(id)?.stop.abort()
      return working.has(id)
    },
    isWorking: id => working.has(id),
    problemOf: id => problems.get(id)?.message ?? null,
    async close() {
      stopped.abort()
      for (const { stop } of working.values()) stop.abort()
      await Promise.all([ended, ...[...working.values()].map(each => each.ended)])
    },
  }
}

/**
 * A run goes on when one of its questions has an answer, or when the run of a panel it waits for stands still no longer. One that
 * a server began goes on after a crash, too.
 */
async function continueOpen(
  { runtime, database }: PipelineParts,
  isLeftAlone: (id: string) => boolean,
  begin: PipelineWorker['begin'],
): Promise<void> {
  const runs = pipelineRunsOf(runtime.places)
  const open = runs.listOpen().filter(({ id, parent }) => parent === undefined && !isLeftAlone(id))
  for (const run of open) {
    if (run.status === 'running' && run.isServers === true && !runs.isLocked(run.id)) begin(run)
  }
  const waiting = open.filter(({ status }) => status === 'waiting')
  if (waiting.length === 0) return
  const questions = await runtime.listQuestions()
  for (const run of waiting) {
    // The worker of agents' runs goes on with those of a panel, but for a build's: they belong to its copy.
    const own = [run.id, ...(run.build === undefined ? [] : run.runs)]
    const answered = questions.some(
      ({ runPath, answer }) => answer !== null && own.some(id => runPath.includes(id)),
    )
    if (answered || (await hasEndedPanel(database, run))) begin(run)
  }
}

async function hasEndedPanel(database: PipelineParts['database'], { progress }: SavedPipelineRun) {
  for (const step of Object.values(progress.steps)) {
    if (step.status !== 'waiting' || step.run === undefined) continue
    const status = (await findRun(database, step.run))?.status
    if (status === 'completed' || status === 'failed' || status === 'cancelled') return true
  }
  return false
}
