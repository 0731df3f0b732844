import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 1_000

export interface RegularLook {
  /** Looks now, after a look that is under way. */
  look(): Promise<void>
  close(): Promise<void>
}

/** Looks every second until it is closed, never twice at the same time. */
export function lookRegularly(look: () => Promise<void>): RegularLook {
  const stopped = new AbortController()
  let last = Promise.resolve()
  const lookInTurn = (): Promise<void> => {
    last = last.then(look, look)
    return last
  }
  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      // What cannot be read now may be readable in a second.
      await lookInTurn().catch(() => undefined)
      await sleep(LOOK_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
    }
  }
  const ended = loop()
  return {
    look: lookInTurn,
    async close() {
      stopped.abort()
      await ended
    },
  }
}
