/** A token bucket per caller. */
export interface RateLimit {
  take(caller: string): boolean
}

const MOST_CALLERS = 1_000

export function createRateLimit(options: { perSecond: number; burst: number; now: () => number }): RateLimit {
  const { perSecond, burst, now } = options
  const buckets = new Map<string, { left: number; at: number }>()
  return {
    take(caller) {
      const at = now()
      const bucket = buckets.get(caller) ?? { left: burst, at }
      // A clock that is set back must not lock everybody out.
      const passed = Math.max(0, at - bucket.at) / 1000
      const left = Math.min(burst, bucket.left + passed * perSecond)
      // Names that keep coming must neither fill the memory nor give those back their limit who have used it up.
      buckets.delete(caller)
      const [oldest] = buckets.keys()
      if (buckets.size >= MOST_CALLERS && oldest !== undefined) buckets.delete(oldest)
      buckets.set(caller, { left: left >= 1 ? left - 1 : left, at })
      return left >= 1
    },
  }
}
