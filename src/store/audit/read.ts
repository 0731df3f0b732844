import type { AuditEvent } from '../../core/audit.ts'
import type { DecidedBy, Outcome } from '../../core/decision.ts'
import type { Risk } from '../../core/tool.ts'
import { parseStamp, type Stamp } from './line.ts'
import { listSegments, readBackward, readForward, segmentPath, toCompactTime } from './segment-files.ts'

export interface StoredEvent extends Stamp {
  segment: string
  event: AuditEvent
  /** The line as it stands in the file. */
  text: string
}

export interface ReadOptions {
  /** The folder of a log, or those of several: a workspace that could not be written for a while has two. */
  directory: string | readonly string[]
  since?: Date
  until?: Date
  tool?: string
  call?: string
  /** With the sub-agents in it. */
  run?: string
  /** The panel or agent that it was made as. */
  agent?: string
  /** What was decided; of finished calls only. */
  outcome?: Outcome
  /** By what it was decided; of finished calls only. */
  by?: DecidedBy
  /** What it could have done; of finished calls only. */
  risk?: Risk
  type?: AuditEvent['type']
  /** Anywhere in the event, without regard to case. */
  text?: string
  limit?: number
  newestFirst?: boolean
}

/** A clock that is set back leaves events a little out of order; beyond this they are not looked for. */
const CLOCK_SLACK_MS = 10 * 60_000

/**
 * Events of all segments in the order of their time; of one millisecond, in the order of the segments: numbers begin anew in
 * each of them. Reads no more than it has to: from the end when the newest come
 * first. Lines that are not events are left out; `verifyAudit` reports them.
 */
export async function* readEvents(options: ReadOptions): AsyncGenerator<StoredEvent> {
  const { limit = Number.POSITIVE_INFINITY } = options
  if (limit <= 0) return
  const matches = createFilter(options)
  let found = 0
  for await (const line of options.newestFirst === true ? newestFirst(options) : oldestFirst(options)) {
    const event = matches(line)
    if (event === undefined) continue
    yield event
    found += 1
    if (found >= limit) return
  }
}

/** One event by where it stands; undefined when there is none. */
export async function findEvent(
  directory: ReadOptions['directory'],
  segment: string,
  seq: number,
): Promise<StoredEvent | undefined> {
  const place = segmentsIn(directory).find(({ id }) => id === segment)
  if (place === undefined) return undefined
  const cursor = createCursor(segment, readForward(place.path))
  try {
    do await cursor.advance()
    while (cursor.head !== undefined && cursor.head.stamp.seq !== seq)
    return cursor.head === undefined ? undefined : createFilter({ directory })(cursor.head)
  } finally {
    await cursor.close()
  }
}

interface SegmentPlace {
  id: string
  path: string
}

/** The oldest first. */
function segmentsIn(directory: ReadOptions['directory']): SegmentPlace[] {
  return [directory]
    .flat()
    .flatMap(each => listSegments(each).map(id => ({ id, path: segmentPath(each, id) })))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

interface Line {
  segment: string
  stamp: Stamp
  bytes: Buffer
}

/** The next line of one segment; undefined at its end. */
interface Cursor {
  head: Line | undefined
  advance(): Promise<void>
  close(): Promise<unknown>
}

async function* newestFirst({ directory, since, until }: ReadOptions): AsyncGenerator<Line> {
  const latest =
    until === undefined ? undefined : toCompactTime(new Date(until.getTime() + CLOCK_SLACK_MS).toISOString())
  const earliest = since === undefined ? '' : new Date(since.getTime() - CLOCK_SLACK_MS).toISOString()
  const places = segmentsIn(directory).filter(({ id }) => latest === undefined || id <= latest)
  const cursors = places.map(({ id, path }) => createCursor(id, readBackward(path)))
  try {
    for (const cursor of cursors) await cursor.advance()
    for (;;) {
      const cursor = pick(cursors, (a, b) =>
        a.stamp.at === b.stamp.at ? a.segment > b.segment : a.stamp.at > b.stamp.at,
      )
      if (cursor?.head === undefined || cursor.head.stamp.at < earliest) return
      yield cursor.head
      await cursor.advance()
    }
  } finally {
    await Promise.all(cursors.map(cursor => cursor.close()))
  }
}

async function* oldestFirst({ directory, since, until }: ReadOptions): AsyncGenerator<Line> {
  const latest = until === undefined ? '~' : new Date(until.getTime() + CLOCK_SLACK_MS).toISOString()
  const waiting = segmentsIn(directory)
  const open: Cursor[] = []
  try {
    for (;;) {
      const cursor = pick(open, (a, b) =>
        a.stamp.at === b.stamp.at ? a.segment < b.segment : a.stamp.at < b.stamp.at,
      )
      // A segment has nothing older than the time in its name, so it is opened only when its turn may come.
      const next = waiting[0]
      if (
        next !== undefined &&
        (cursor?.head === undefined || next.id.slice(0, 19) <= toCompactTime(cursor.head.stamp.at))
      ) {
        waiting.shift()
        const added = await openIfRecent(next, since)
        if (added !== undefined) open.push(added)
        continue
      }
      if (cursor?.head === undefined || cursor.head.stamp.at > latest) return
      yield cursor.head
      await cursor.advance()
      if (cursor.head === undefined) open.splice(open.indexOf(cursor), 1)
    }
  } finally {
    await Promise.all(open.map(cursor => cursor.close()))
  }
}

/** A segment that ended before `since` is not read from its beginning. */
async function openIfRecent(
  { id, path }: SegmentPlace,
  since: Date | undefined,
): Promise<Cursor | undefined> {
  if (since !== undefined) {
    const end = createCursor(id, readBackward(path))
    await end.advance()
    await end.close()
    const last = end.head?.stamp.at
    if (last === undefined || Date.parse(last) < since.getTime() - CLOCK_SLACK_MS) return undefined
  }
  const cursor = createCursor(id, readForward(path))
  await cursor.advance()
  return cursor
}

function createCursor(segment: string, batches: AsyncGenerator<Buffer[], unknown>): Cursor {
  let lines: Buffer[] = []
  let index = 0
  const cursor: Cursor = {
    head: undefined,
    async advance() {
      for (;;) {
        const bytes = lines[index]
        index += 1
        if (bytes === undefined) {
          const batch = await batches.next()
          cursor.head = undefined
          if (batch.done === true) return
          lines = batch.value
          index = 0
          continue
        }
        const stamp = parseStamp(bytes)
        if (stamp === undefined) continue
        cursor.head = { segment, stamp, bytes }
        return
      }
    },
    close: () => batches.return(undefined),
  }
  return cursor
}

function pick(cursors: readonly Cursor[], isBefore: (a: Line, b: Line) => boolean): Cursor | undefined {
  let best: Cursor | undefined
  for (const cursor of cursors) {
    if (cursor.head === undefined) continue
    if (best?.head === undefined || isBefore(cursor.head, best.head)) best = cursor
  }
  return best
}

/** Looks at the text of the line first: parsing is what costs. */
function createFilter(options: ReadOptions): (line: Line) => StoredEvent | undefined {
  const { tool, call, run, agent, outcome, by, risk, type } = options
  const since = options.since?.toISOString() ?? ''
  const until = options.until?.toISOString() ?? '~'
  const needles = [tool, call, run, agent].filter(needle => needle !== undefined).map(inJson)
  const wanted = options.text === undefined ? undefined : inJson(options.text).toLowerCase()
  return ({ segment, stamp, bytes }) => {
    if (stamp.at < since || stamp.at > until) return undefined
    const text = bytes.toString('utf8')
    if (!needles.every(needle => text.includes(needle))) return undefined
    if (wanted !== undefined && !text.toLowerCase().includes(wanted)) return undefined
    const event = parseEvent(text)
    if (event === undefined) return undefined
    if (type !== undefined && event.type !== type) return undefined
    if (tool !== undefined && !('tool' in event && event.tool === tool)) return undefined
    if (call !== undefined && !('call' in event && event.call === call)) return undefined
    if (run !== undefined && !('run' in event && isOfRun(event.run, run))) return undefined
    if (agent !== undefined && !('agent' in event && event.agent === agent)) return undefined
    if (outcome !== undefined && !(event.type === 'call-finished' && event.decision.outcome === outcome))
      return undefined
    if (by !== undefined && !(event.type === 'call-finished' && event.decision.by === by)) return undefined
    if (risk !== undefined && !(event.type === 'call-finished' && event.risk === risk)) return undefined
    const { seq, at, prev, hash } = stamp
    return { segment, seq, at, prev, hash, event, text }
  }
}

/** Sub-agents have the id of their run with something after a dot. */
function isOfRun(recorded: string | undefined, run: string): boolean {
  return recorded === run || recorded?.startsWith(`${run}.`) === true
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function parseEvent(text: string): AuditEvent | undefined {
  try {
    const { seq: _seq, at: _at, prev: _prev, hash: _hash, ...event } = JSON.parse(text)
    // Written by this log from an AuditEvent; whether it still is what was written, `verifyAudit` says.
    return typeof event.type === 'string' ? (event as AuditEvent) : undefined
  } catch {
    return undefined
  }
}
