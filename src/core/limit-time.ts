import { ToolError } from './errors.ts'

export interface TimeLimit {
  readonly signal: AbortSignal
  /** Rejects with the reason why the signal was aborted. */
  readonly expired: Promise<never>
  clear(): void
}

/** An abort signal that also ends after `ms`, and a promise that rejects with the reason. */
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
  const timer = setTimeout(() => stop(new ToolError('timeout', message)), ms)
  outer.addEventListener('abort', onAbort, { once: true })
  if (outer.aborted) onAbort()
  return {
    signal: controller.signal,
    expired: promise,
    clear() {
      clearTimeout(timer)
      outer.removeEventListener('abort', onAbort)
    },
  }
}
