import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface IdleMemory {
  /** A call has ended. */
  called(): void
  stop(): void
}

/** After the last call. */
const IDLE_MS = 3_000
/** Below that it is not worth the pause of a tenth of a second. */
const LEAST_BYTES = 48 * 1024 ** 2

/**
 * Calls leave garbage that V8 keeps as room for more. A server that waits for hours gives it back: 60 MB after a thousand
 * reads of small files.
 */
export function giveBackMemory(): IdleMemory {
  let timer: NodeJS.Timeout | undefined
  let last = 0
  // Set once for many calls: one for each call cost more than reading its request.
  const wait = (ms: number): void => {
    timer = setTimeout(() => {
      const idle = performance.now() - last
      timer = undefined
      if (idle < IDLE_MS) wait(IDLE_MS - idle)
      else if (process.memoryUsage().heapTotal > LEAST_BYTES)
        collector()({ type: 'major', flavor: 'last-resort' })
    }, ms).unref()
  }
  return {
    called() {
      last = performance.now()
      if (timer === undefined) wait(IDLE_MS)
    },
    stop: () => clearTimeout(timer),
  }
}

type Collector = (options: { type: 'major'; flavor: 'last-resort' }) => void

/** Node shows it to contexts that are made while the flag is set. */
function collector(): Collector {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('gc') as Collector // V8's own
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
