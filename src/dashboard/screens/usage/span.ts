const DAY_MS = 86_400_000
const DAYS: Readonly<Record<string, number>> = { today: 1, days7: 7, days30: 30, days365: 365 }
const MOST_DAYS = 366

export interface Span {
  readonly since: string
  /** Defaults to now. */
  readonly until?: string
  readonly days: number
}

/** Whole days in UTC, so that the address of a request stays the same for a day. What cannot be read is the last week. */
export function toSpan(range: string, from: string, to: string, now = Date.now()): Span {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  if (range !== 'custom') {
    const days = DAYS[range] ?? 7
    return { since: iso(today - (days - 1) * DAY_MS), days }
  }
  const last = readDay(to) ?? today
  const first = Math.min(readDay(from) ?? last - 6 * DAY_MS, last)
  const days = Math.min(Math.round((last - first) / DAY_MS) + 1, MOST_DAYS)
  return { since: iso(last - (days - 1) * DAY_MS), until: iso(last + DAY_MS - 1), days }
}

function readDay(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
