import type { CallFinished, CallStarted } from '../../core/audit.ts'
import { type ReadOptions, readEvents, type StoredEvent } from './read.ts'

/** A finished call as it is listed. */
export interface ListedCall {
  /** When it ended. */
  readonly at: string
  readonly segment: string
  readonly seq: number
  readonly hash: string
  readonly finished: CallFinished
  /** Undefined when its beginning was not found near its end. */
  readonly started: CallStarted | undefined
}

export interface RecentOptions {
  readonly directory: ReadOptions['directory']
  readonly since?: Date
  readonly until?: Date
  readonly run?: string
  /** Those that ended before this one. */
  readonly after?: Pick<ListedCall, 'at' | 'segment' | 'seq'>
  readonly limit: number
  matches(call: ListedCall): boolean
}

/** A call that takes longer than this many events has no beginning in the list. */
const MOST_BETWEEN = 20_000

/** Finished calls, the newest first: read backwards from the end of the log, no further than the page needs. */
export async function listRecentCalls(options: RecentOptions): Promise<ListedCall[]> {
  const { directory, since, until, run, after, limit, matches } = options
  const open = new Map<string, { call: ListedCall; read: number }>()
  const found: ListedCall[] = []
  let read = 0
  const bound = after === undefined ? until : new Date(after.at)
  const settle = (call: ListedCall): void => {
    open.delete(call.finished.call)
    if (matches(call)) found.push(call)
  }
  const events = readEvents({
    directory,
    newestFirst: true,
    ...(since === undefined ? {} : { since }),
    ...(bound === undefined ? {} : { until: bound }),
    ...(run === undefined ? {} : { run }),
  })
  for await (const stored of events) {
    read += 1
    const { event } = stored
    if (event.type === 'call-finished' && (after === undefined || isBefore(stored, after))) {
      const { at, segment, seq, hash } = stored
      const call = { at, segment, seq, hash, finished: event, started: undefined }
      open.set(event.call, { call, read })
    }
    if (event.type === 'call-started') {
      const known = open.get(event.call)
      if (known !== undefined) settle({ ...known.call, started: event })
    }
    for (const { call, read: at } of open.values()) {
      if (read - at <= MOST_BETWEEN) break
      settle(call)
    }
    // Enough when none that is still open could come before the last of the page.
    const edge = found.length >= limit ? sorted(found)[limit - 1] : undefined
    if (edge !== undefined && ![...open.values()].some(({ call }) => isLater(call, edge))) break
  }
  for (const { call } of [...open.values()]) settle(call)
  return sorted(found).slice(0, limit)
}

function sorted(calls: readonly ListedCall[]): ListedCall[] {
  return calls.toSorted((a, b) => (isLater(a, b) ? -1 : 1))
}

function isLater(a: ListedCall, b: ListedCall): boolean {
  if (a.at !== b.at) return a.at > b.at
  return a.segment === b.segment ? a.seq > b.seq : a.segment > b.segment
}

function isBefore(
  { at, segment, seq }: Pick<StoredEvent, 'at' | 'segment' | 'seq'>,
  last: Pick<ListedCall, 'at' | 'segment' | 'seq'>,
): boolean {
  if (at !== last.at) return at < last.at
  return segment === last.segment ? seq < last.seq : segment < last.segment
}
