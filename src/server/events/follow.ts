import type { StoredEvent } from '../../store/tables/run-events.ts'
import type { EventHub } from './event-hub.ts'

export interface Follower {
  readonly hub: EventHub
  readonly after: number
  readonly run?: string
  readonly signal: AbortSignal
  /** After this long without an event an empty batch comes, to keep the connection open. */
  readonly idleMs: number
}

/** Batches of events, without gaps, for as long as somebody takes them. */
export async function* follow({
  hub,
  after,
  run,
  signal,
  idleMs,
}: Follower): AsyncGenerator<readonly StoredEvent[]> {
  let position = after
  while (!signal.aborted) {
    const before = hub.newest
    const batch = await hub.read(position, run)
    if (batch.length > 0) {
      position = batch.at(-1)?.seq ?? position
      yield batch
      continue
    }
    // Nothing of this run up to here: the next look begins there.
    position = Math.max(position, before)
    const idle = AbortSignal.timeout(idleMs)
    await hub.wait(position, AbortSignal.any([signal, idle]))
    if (idle.aborted && !signal.aborted) yield []
  }
}
