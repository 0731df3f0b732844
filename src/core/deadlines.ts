/** A moment by `performance.now()`, and what happens then. */
export interface Deadline {
  readonly at: number
  expire(): void
}

export interface Deadlines {
  add(deadline: Deadline): void
  delete(deadline: Deadline): void
}

/** More than this a timer cannot wait; it is set again then. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Many deadlines, one timer. Most calls end within a millisecond, and a timer for each took as long as judging the call.
 * The timer is set for the earliest that there was: when that one is gone, it rings for nothing and is set for the next.
 */
export function createDeadlines(): Deadlines {
  const open = new Set<Deadline>()
  let timer: NodeJS.Timeout | undefined
  let ringsAt = Number.POSITIVE_INFINITY
  const set = (at: number): void => {
    clearTimeout(timer)
    ringsAt = at
    timer = setTimeout(ring, Math.min(Math.max(0, at - performance.now()), LONGEST_MS))
  }
  const ring = (): void => {
    timer = undefined
    ringsAt = Number.POSITIVE_INFINITY
    const now = performance.now()
    for (const deadline of open) {
      if (deadline.at > now) continue
      open.delete(deadline)
      deadline.expire()
    }
    const next = Math.min(...[...open].map(({ at }) => at))
    if (open.size > 0 && next < ringsAt) set(next)
  }
  return {
    add(deadline) {
      open.add(deadline)
      if (deadline.at < ringsAt) set(deadline.at)
      // What has a deadline keeps the process alive, as a timer of its own would.
      else if (open.size === 1) timer?.ref()
    },
    delete(deadline) {
      if (open.delete(deadline) && open.size === 0) timer?.unref()
    },
  }
}
