import { addDays, dayOf } from '../../i18n/day.ts'

/** Of `GET /api/audit/calls`. */
export interface AuditedCall {
  readonly call: string
  readonly at: string
  readonly agent: string | null
  readonly caller: string | null
  readonly ok: boolean
  readonly error: { readonly code: string; readonly message: string } | null
  readonly input: Readonly<Record<string, unknown>> | null
}

interface Caller {
  readonly who: string
  readonly calls: number
  readonly failed: number
  readonly last: string
}

/** Agents and doors that called it, the most frequent first. `calls`: the newest first. */
export function callersOf(calls: readonly AuditedCall[]): Caller[] {
  return [...Map.groupBy(calls, ({ agent, caller }) => agent ?? caller ?? '–')]
    .map(([who, own]) => ({
      who,
      calls: own.length,
      failed: own.filter(({ ok }) => !ok).length,
      last: own[0]?.at ?? '',
    }))
    .sort((a, b) => b.calls - a.calls)
}

const DAYS = 30

/** Runs of the last 30 days. What has no readable time is in none of them. */
export function daysOf(
  runs: readonly { readonly at: string; readonly ok: boolean }[],
  now: number,
): { day: string; ok: number; failed: number }[] {
  const byDay = Map.groupBy(runs, ({ at }) => (Number.isNaN(Date.parse(at)) ? '' : dayOf(Date.parse(at))))
  return Array.from({ length: DAYS }, (_, index) => {
    const day = addDays(dayOf(now), index + 1 - DAYS)
    const own = byDay.get(day) ?? []
    const ok = own.filter(run => run.ok).length
    return { day, ok, failed: own.length - ok }
  })
}
