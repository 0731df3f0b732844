import { join } from 'node:path'
import { toToolError } from '../core/errors.ts'
import { tryLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import { createPipelineRun, type PipelineParts } from '../pipelines/pipelines.ts'
import { dueTimes, openSchedules, type Schedule } from '../pipelines/schedules.ts'
import type { SavedPipelineRun } from '../store/pipeline-runs.ts'

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
      const { times, handled } = dueTimes(schedule, now)
      if (handled.toISOString() === schedule.handled) continue
      await schedules.replace({ ...schedule, handled: handled.toISOString() })
      for (const time of times) {
        const outcome = await startOne(parts, schedule, time)
        const current = schedules.list().find(({ id }) => id === schedule.id)
        if (current !== undefined)
          await schedules.replace({ ...current, last: { at: time.toISOString(), ...outcome } })
      }
    }
  } finally {
    lock.release()
  }
}

async function startOne(
  parts: ClockParts,
  { id, pipeline, input }: Schedule,
  time: Date,
): Promise<{ run: string } | { problem: string }> {
  const { runtime, log, begin } = parts
  const about = { schedule: id, pipeline, time: time.toISOString() }
  try {
    const run = await createPipelineRun(parts, pipeline, input)
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
