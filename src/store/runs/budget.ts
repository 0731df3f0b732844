import { startOfDay, startOfMonth } from '../../core/local-day.ts'
import type { Queries } from '../database/database.ts'
import { spentSince } from '../tables/usage.ts'

/** What all runs together may cost in a calendar day and month of this machine, in USD. */
export interface Budget {
  readonly day?: number | undefined
  readonly month?: number | undefined
  /** From this share on, it is said how much is used up. */
  readonly warn_at: number
}

/** A sentence when the budget is used up or nearly so. What has no known price cannot be counted. */
export async function checkBudget(
  queries: Queries,
  { day, month, warn_at }: Budget,
  now: Date,
): Promise<{ exceeded: boolean; sentence: string } | undefined> {
  const spans = [
    { name: 'today', limit: day, since: startOfDay(now) },
    { name: 'this month', limit: month, since: startOfMonth(now) },
  ]
  let warning: string | undefined
  for (const { name, limit, since } of spans) {
    if (limit === undefined) continue
    const spent = await spentSince(queries, since)
    const sentence = `Runs have cost $${spent.toFixed(2)} ${name}; the budget is $${limit.toFixed(2)}.`
    if (spent >= limit) return { exceeded: true, sentence }
    if (spent >= limit * warn_at) warning ??= sentence
  }
  return warning === undefined ? undefined : { exceeded: false, sentence: warning }
}
