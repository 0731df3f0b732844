import { ToolError } from './errors.ts'

export interface TimeLimit {
  readonly signal: AbortSignal
  /** Rejects with the reason when the time is over or the caller has cancelled. */
  readonly expired: Promise<never>
  /** Waiting for a person is not running: the clock stands still meanwhile. */
  pausedFor<T>(work: () => Promise<T>): Promise<T>
  clear(): void
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
  const state = { left: ms, since: performance.now(), timer: undefined as NodeJS.Timeout | undefined }
  const start = (): void => {
    state.since = performance.now()
    state.timer = setTimeout(() => stop(new ToolError('timeout', message)), state.left)
  }
  start()
  outer.addEventListener('abort', onAbort, { once: true })
  if (outer.aborted) onAbort()
  return {
    signal: controller.signal,
    expired: promise,
    async pausedFor(work) {
      clearTimeout(state.timer)
      state.left = Math.max(0, state.left - (performance.now() - state.since))
      try {
        return await work()
      } finally {
        start()
      }
    },
    clear() {
      clearTimeout(state.timer)
      outer.removeEventListener('abort', onAbort)
    },
  }
}
