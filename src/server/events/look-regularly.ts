import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 1_000

export interface RegularLook {
  /** Looks now, after a look that is under way. */
  look(): Promise<void>
  /** The same without waiting; once for many calls. */
  lookSoon(): void
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
  let isWanted = false
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
    lookSoon() {
      if (isWanted || stopped.signal.aborted) return
      isWanted = true
      const lookOnce = async (): Promise<void> => {
        isWanted = false
        await look()
      }
      // The regular look comes back to what could not be read.
      last = last.then(lookOnce, lookOnce).catch(() => undefined)
    },
    async close() {
      stopped.abort()
      await ended
      await last.catch(() => undefined)
    },
  }
}
