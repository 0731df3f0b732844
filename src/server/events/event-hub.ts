import type { Database } from '../../store/database/database.ts'
import { listenTo } from '../../store/database/listen.ts'
import { EVENTS_CHANNEL, listEvents, newestEvent, type StoredEvent } from '../../store/tables/run-events.ts'
import type { RunPlace } from '../../store/tables/run-place.ts'

/**
 * The events of a workspace, for any number of listeners. Each listener pulls at its own pace: one that is slow reads what
 * it missed from the table, and holds nobody back.
 */
export interface EventHub {
  /** The number of the newest event that was seen. */
  readonly newest: number
  /** Events after a number, in order: from memory, or from the table when they are too old for it. */
  read(after: number, run?: string): Promise<readonly StoredEvent[]>
  /** Resolves when there is something after this number, or at the abort of the signal. */
  wait(after: number, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Kept in memory: what a listener misses while it writes to a socket. */
const MOST_KEPT = 5_000
const BATCH = 500

export async function openEventHub(database: Database, place: RunPlace): Promise<EventHub> {
  const state = { newest: await newestEvent(database), floor: 0, kept: [] as StoredEvent[] }
  state.floor = state.newest
  const waiting = new Set<() => void>()
  const wake = (): void => {
    const all = [...waiting]
    waiting.clear()
    for (const resolve of all) resolve()
  }
  const load = async (): Promise<void> => {
    for (;;) {
      const found = await listEvents(database, { place, after: state.newest, limit: BATCH })
      state.newest = found.at(-1)?.seq ?? state.newest
      state.kept.push(...found)
      const surplus = state.kept.length - MOST_KEPT
      if (surplus > 0) state.floor = state.kept.splice(0, surplus).at(-1)?.seq ?? state.floor
      if (found.length > 0) wake()
      if (found.length < BATCH) return
    }
  }
  const listening = await listenTo(database, [EVENTS_CHANNEL], oneAtATime(load))
  return {
    get newest() {
      return state.newest
    },
    async read(after, run) {
      if (after < state.floor) {
        return listEvents(database, { place, after, limit: BATCH, ...(run === undefined ? {} : { run }) })
      }
      const first = firstAfter(state.kept, after)
      if (run === undefined) return state.kept.slice(first, first + BATCH)
      // All of them: an empty batch says that there is nothing of this run up to the newest event.
      return state.kept.slice(first).filter(event => belongsTo(event, run))
    },
    wait(after, signal) {
      if (state.newest > after || signal.aborted) return Promise.resolve()
      return new Promise(resolve => {
        const done = (): void => {
          waiting.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
        waiting.add(done)
        signal.addEventListener('abort', done, { once: true })
      })
    },
    async close() {
      await listening.close()
      wake()
    },
  }
}

function belongsTo({ run, event }: StoredEvent, wanted: string): boolean {
  return run === wanted || ('run' in event && event.run === wanted)
}

/** By halving: a listener that is up to date needs the last few of thousands. */
function firstAfter(events: readonly StoredEvent[], after: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((events[middle]?.seq ?? 0) > after) high = middle
    else low = middle + 1
  }
  return low
}

/** Runs the work again when it was wanted meanwhile, but never twice at once. */
function oneAtATime(work: () => Promise<void>): () => void {
  const state = { running: false, again: false }
  const run = async (): Promise<void> => {
    if (state.running) {
      state.again = true
      return
    }
    state.running = true
    try {
      do {
        state.again = false
        await work()
      } while (state.again)
    } catch {
      // The next notification tries again; after a lost connection there is one for sure.
    } finally {
      state.running = false
    }
  }
  return () => void run()
}
