import { ToolError } from '../core/errors.ts'

/** At most so many at once; the others wait for their turn. */
export interface Slots {
  acquire(signal: AbortSignal): Promise<void>
  release(): void
}

export function createSlots(most: number): Slots {
  let free = most
  const waiting: (() => void)[] = []
  return {
    acquire(signal) {
      if (signal.aborted) return Promise.reject(cancelled())
      if (free > 0) {
        free -= 1
        return Promise.resolve()
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const give = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        waiting.splice(waiting.indexOf(give), 1)
        reject(cancelled())
      }
      waiting.push(give)
      signal.addEventListener('abort', leave, { once: true })
      return promise
    },
    release() {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    },
  }
}

function cancelled(): ToolError {
  return new ToolError('cancelled', 'It was stopped before it began.')
}
