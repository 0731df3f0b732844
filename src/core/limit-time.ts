import { ToolError } from './errors.ts'
import { LIMITS } from './limits.ts'

export interface TimeLimit {
  readonly signal: AbortSignal
  /** Rejects with the reason when the time is over or the caller has cancelled. */
  readonly expired: Promise<never>
  /** Waiting for a person is not running: the clock stands still meanwhile. */
  pausedFor<T>(work: () => Promise<T>): Promise<T>
  clear(): void
}

/** What a tool of anybody's is asked before it runs may neither take for ever nor keep the caller from cancelling. */
export async function inTime<T>(work: Promise<T>, signal: AbortSignal, tool: string): Promise<T> {
  const message = `The tool '${tool}' did not declare its access within ${LIMITS.accessMs} ms.`
  const limit = limitTime(signal, { ms: LIMITS.accessMs, message })
  try {
    return await Promise.race([work, limit.expired])
  } finally {
    limit.clear()
  }
}

/** An abort signal that also ends after `ms`. */
export function limitTime(outer: AbortSignal, { ms, message }: { ms: number; message: string }): TimeLimit {
  const controller = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  // Nobody may be listening by the time it rejects.
  promise.catch(() => undefined)
  const stop = (error: ToolError): void => {
    controller.abort(error)
    reject(error)
  }
  const onAbort = (): void => stop(new ToolError('cancelled', 'The call was cancelled.'))
  const startWith = (left: number) => ({
    at: performance.now() + left,
    timer: setTimeout(() => stop(new ToolError('timeout', message)), left),
  })
  let deadline = startWith(ms)
  outer.addEventListener('abort', onAbort, { once: true })
  if (outer.aborted) onAbort()
  return {
    signal: controller.signal,
    expired: promise,
    async pausedFor(work) {
      clearTimeout(deadline.timer)
      const left = Math.max(0, deadline.at - performance.now())
      try {
        return await work()
      } finally {
        deadline = startWith(left)
      }
    },
    clear() {
      clearTimeout(deadline.timer)
      outer.removeEventListener('abort', onAbort)
    },
  }
}
