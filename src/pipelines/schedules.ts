import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Cron } from 'croner'
import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { type ListFile, openListFile } from '../store/list-file.ts'
import type { Places } from '../store/places.ts'

// When pipelines run by themselves. Kept in the state folder: a repository must not start anything.

const schema = z.object({
  id: z.string(),
  pipeline: z.string(),
  /** Minute, hour, day, month, weekday. */
  cron: z.string(),
  /** Such as `Europe/Berlin`. Defaults to that of the machine. */
  timezone: z.string().optional(),
  input: z.record(z.string(), z.unknown()),
  /** What happens to times at which no server was there: `once` for all of them, `skip`, or `all` of them. */
  catchUp: z.enum(['once', 'skip', 'all']),
  /** Times up to this one are done with. */
  handled: z.string(),
  /** Nothing runs by it until somebody lets it go on; times meanwhile are not made up for. */
  paused: z.boolean().optional(),
  /** What became of the newest time that something was to run at. */
  last: z.object({ at: z.string(), run: z.string().optional(), problem: z.string().optional() }).optional(),
})

export type Schedule = z.output<typeof schema>

export function openSchedules({ pipelines }: Places): ListFile<Schedule> {
  const isSchedule = (value: unknown): value is Schedule => schema.safeParse(value).success
  return openListFile(join(pipelines, 'schedules.json'), 'schedules', isSchedule)
}

export type NewSchedule = Pick<Schedule, 'pipeline' | 'cron' | 'input' | 'catchUp'> & { timezone?: string }

/** From now on: times that lie behind are none of its. */
export function createSchedule(wanted: NewSchedule, now: Date): Schedule {
  const schedule: Schedule = {
    ...wanted,
    id: `ps_${randomBytes(4).toString('hex')}`,
    handled: now.toISOString(),
  }
  if (nextTime(schedule, now) === null)
    throw new ToolError('invalid_input', `'${wanted.cron}' never comes up again.`)
  return schedule
}

/** A pause, or the end of one: from then on, as if it were new. */
export function withPause(schedule: Schedule, paused: boolean, now: Date): Schedule {
  return { ...schedule, paused, handled: paused ? schedule.handled : now.toISOString() }
}

/** As doors show it, with the next times that it runs at. */
export function showSchedule(schedule: Schedule, now: Date) {
  const { id, pipeline, cron, timezone, catchUp, input, paused = false, last } = schedule
  const next = paused ? [] : nextTimes(schedule, now, NEXT_SHOWN)
  return {
    ...{ id, pipeline, cron, timezone: timezone ?? null, catch_up: catchUp, input, paused },
    next: next[0] ?? null,
    next_times: next,
    last: last === undefined ? null : { at: last.at, run: last.run ?? null, problem: last.problem ?? null },
  }
}

const NEXT_SHOWN = 5

/** As ISO 8601. */
export function nextTimes(when: Pick<Schedule, 'cron' | 'timezone'>, now: Date, count: number): string[] {
  const times: string[] = []
  for (let time = nextTime(when, now); time !== null && times.length < count; time = nextTime(when, time))
    times.push(time.toISOString())
  return times
}

/** Null when there is none. */
export function nextTime(schedule: Pick<Schedule, 'cron' | 'timezone'>, after: Date): Date | null {
  return parseCron(schedule).nextRun(after)
}

function parseCron({ cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>): Cron {
  const words = cron.trim().split(/\s+/)
  const hint = 'Write minute, hour, day, month and weekday, such as "0 9 * * 1" for Mondays at nine.'
  if (words.length !== 5 && !/^@\w+$/.test(cron.trim()))
    throw new ToolError('invalid_input', `'${cron}' is not a valid schedule.`, { hint })
  try {
    const made = new Cron(cron, { ...(timezone === undefined ? {} : { timezone }) })
    // A wrong time zone is noticed only now.
    made.nextRun()
    return made
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    throw new ToolError('invalid_input', `'${cron}' is not a valid schedule: ${detail}`, { hint })
  }
}

/** A time counts as missed when nobody was there for so long after it. */
const PUNCTUAL_MS = 60_000
const MOST_CAUGHT_UP = 24
/** A clock that was set back by less goes through the same times again, and nothing runs twice. By more, it was wrong before. */
const MOST_AHEAD_MS = 3 * 60 * 60_000

/** The times to run for now, and up to which one all are done with. */
export function dueTimes(schedule: Schedule, now: Date): { times: Date[]; handled: Date } {
  const handled = new Date(schedule.handled)
  if (schedule.paused === true) return { times: [], handled }
  if (handled.getTime() - now.getTime() > MOST_AHEAD_MS) return { times: [], handled: now }
  const cron = parseCron(schedule)
  const next = cron.nextRun(handled)
  if (next === null || next > now) return { times: [], handled }
  // Of a schedule that was not served for long only the newest times matter. The reference itself is not counted.
  const past = cron
    .previousRuns(MOST_CAUGHT_UP, new Date(now.getTime() + 1_000))
    .filter(time => time > handled && time <= now)
    .sort((a, b) => a.getTime() - b.getTime())
  const last = past.at(-1) ?? next
  const punctual = past.filter(each => now.getTime() - each.getTime() <= PUNCTUAL_MS)
  if (schedule.catchUp === 'all') return { times: past, handled: last }
  if (schedule.catchUp === 'skip') return { times: punctual.slice(-1), handled: last }
  return { times: [last], handled: last }
}
