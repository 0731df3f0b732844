import { addDays, dayOf } from '../../i18n/day.ts'

export const RANGES = ['today', 'days7', 'days30', 'days365', 'custom'] as const
export type Range = (typeof RANGES)[number]
const DAYS = { today: 1, days7: 7, days30: 30, days365: 365 } as const
const MOST_DAYS = 366
const DAY_MS = 86_400_000

/** The first and the last day, such as `2026-11-16`. */
export interface Span {
  readonly since: string
  /** Defaults to now. */
  readonly until?: string
  readonly days: number
}

/** Whole days, so that the address of a request stays the same for a day. What cannot be read is the last week. */
export function toSpan(range: Range, from: string, to: string, now = Date.now()): Span {
  const today = dayOf(now)
  if (range !== 'custom') {
    const days = DAYS[range]
    return { since: addDays(today, 1 - days), days }
  }
  const until = readDay(to) ?? today
  const first = readDay(from) ?? addDays(until, -6)
  const between = Math.round((Date.parse(until) - Date.parse(first)) / DAY_MS) + 1
  const days = Math.max(1, Math.min(between, MOST_DAYS))
  return { since: addDays(until, 1 - days), until, days }
}

function readDay(text: string): string | undefined {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
  // The 31st of February is in March.
  return isDay ? addDays(text, 0) : undefined
}
