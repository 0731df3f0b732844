import { join } from 'node:path'
import { toToolError } from '../core/errors.ts'
import { tryLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import { createPipelineRun, type PipelineParts } from '../pipelines/pipelines.ts'
import { dueTimes, openSchedules, type Schedule } from '../pipelines/schedules.ts'
import { pipelineRunsOf, type SavedPipelineRun } from '../store/pipeline-runs.ts'

export interface ClockParts extends PipelineParts {
  readonly log: (line: Record<string, unknown>) => void
  begin(run: SavedPipelineRun): void
}

/**
 * Starts what is due. Of several servers of a workspace one does so. A time is written down as done with before its run
 * is made: after a crash a run is missing, and never there twice.
 */
export async function startDue(parts: ClockParts, now: Date): Promise<void> {
  const { runtime } = parts
  const schedules = openSchedules(runtime.places)
  if (schedules.list().length === 0) return
  makeFolders(runtime.places.pipelines)
  const lock = tryLock(join(runtime.places.pipelines, 'schedules.turn'))
  if (lock === undefined) return
  try {
    for (const schedule of schedules.list()) {
      // One that cannot be read any more must not hold up the others.
      await startDueOf(parts, schedules, schedule, now).catch(error =>
        parts.log({
          level: 'error',
          event: 'schedule',
          schedule: schedule.id,
          message: toToolError(error).message,
        }),
      )
    }
  } finally {
    lock.release()
  }
}

/** One run at a time: a time that comes while the run before is under way or waits for somebody counts as missed. */
async function startDueOf(
  parts: ClockParts,
  schedules: ReturnType<typeof openSchedules>,
  schedule: Schedule,
  now: Date,
): Promise<void> {
  const { times, handled } = dueTimes(schedule, now)
  if (handled.toISOString() === schedule.handled) return
  const open = openRunOf(parts, schedule)
  const [time] = times
  const keep = async (more: Partial<Schedule>): Promise<void> => {
    const current = schedules.list().find(({ id }) => id === schedule.id)
    if (current !== undefined) await schedules.replace({ ...current, ...more })
  }
  if (open !== undefined && time !== undefined) {
    const problem = `The run ${open} has not ended, so that no other one begins.`
    // What is missed is made up for when it has; or it is not, by `catch_up`.
    const isOver = schedule.catchUp === 'skip' ? { handled: handled.toISOString() } : {}
    if (schedule.last?.problem !== problem || schedule.catchUp === 'skip')
      await keep({ ...isOver, last: { at: time.toISOString(), run: open, problem } })
    return
  }
  const done = schedule.catchUp === 'all' && time !== undefined ? time : handled
  await keep({ handled: done.toISOString() })
  if (time !== undefined)
    await keep({ last: { at: time.toISOString(), ...(await startOne(parts, schedule, time)) } })
}

function openRunOf({ runtime }: ClockParts, { last }: Schedule): string | undefined {
  const status = last?.run === undefined ? undefined : pipelineRunsOf(runtime.places).find(last.run)?.status
  return status === 'running' || status === 'waiting' ? last?.run : undefined
}

async function startOne(
  parts: ClockParts,
  { id, pipeline, input }: Schedule,
  time: Date,
): Promise<{ run: string } | { problem: string }> {
  const { runtime, log, begin } = parts
  const about = { schedule: id, pipeline, time: time.toISOString() }
  try {
    const run = await createPipelineRun(parts, pipeline, input, { isServers: true })
    runtime.note('schedule-started', { ...about, run: run.id })
    begin(run)
    return { run: run.id }
  } catch (error) {
    // Changed since it was trusted, for example: a person has to look, and the next time is tried all the same.
    const { message } = toToolError(error)
    runtime.note('schedule-failed', { ...about, error: message })
    log({ level: 'error', event: 'schedule', ...about, message })
    return { problem: message }
  }
}
