import type { Places } from '../places.ts'
import { type Anchor, listAnchors, readAnchor } from './anchors.ts'
import { ChainCheck, type Problem } from './chain.ts'
import { type DigestInput, digestHere, hasOtherInput } from './input-digest.ts'
import { NO_HASH, parseStamp } from './line.ts'
import type { Folders, Head } from './segment.ts'
import { listSegments, readForward, segmentPath } from './segment-files.ts'

/** What was found in one log, and where it is. */
export interface LogReport extends VerifyReport {
  directory: string
}

export interface VerifyReport {
  /** No problem was found. What `anchored` leaves out could still have been cut or recomputed as a whole. */
  ok: boolean
  segments: number
  events: number
  /** By segment and line. A segment with very many is not looked at to its end. */
  problems: Problem[]
  anchored: {
    /** Segments that were compared with their anchor. */
    segments: number
    /** Segments without one: written on another machine, or where the anchor folder could not be written. */
    missing: string[]
  }
  /** Unfinished last lines, of a process that writes now or was killed while it wrote. Not tampering. */
  torn: { segment: string; bytes: number }[]
}

/** What the first line of a segment says of it. */
interface Header {
  segment: string
  after: (Head & { segment: string }) | null
}

interface Checked {
  id: string
  problems: Problem[]
  end: { seq: number; hash: string | undefined; lines: number }
  header: Header | undefined
  firstHash: string | undefined
  firstPrev: string | undefined
  /** The line that has the number the anchor names. */
  anchoredAt: { line: number; hash: string } | undefined
  torn: number
}

/** Checks every log of a workspace: it may have been read-only for a while, or still be. */
export async function verifyLogs({
  logs,
  sealKey,
}: Pick<Places, 'logs' | 'sealKey'>): Promise<VerifyReport & { logs: LogReport[] }> {
  const reports: LogReport[] = []
  const digest = digestHere(sealKey)
  for (const log of logs)
    reports.push({ directory: log.directory, ...(await verifyAudit({ ...log, digest })) })
  return {
    ok: reports.every(({ ok }) => ok),
    segments: sum(reports.map(({ segments }) => segments)),
    events: sum(reports.map(({ events }) => events)),
    problems: reports.flatMap(({ problems }) => problems),
    anchored: {
      segments: sum(reports.map(({ anchored }) => anchored.segments)),
      missing: reports.flatMap(({ anchored }) => anchored.missing),
    },
    torn: reports.flatMap(({ torn }) => torn),
    logs: reports,
  }
}

export interface VerifyOptions extends Folders {
  /** By the key of the workspace the log was written in; without it, inputs are not compared with their digests. */
  readonly digest?: DigestInput | undefined
}

/** Checks the whole log, one segment after another, without holding it in memory. */
export async function verifyAudit({
  directory,
  anchorDirectory,
  digest,
}: VerifyOptions): Promise<VerifyReport> {
  // In this order: what is read later may have grown, and an anchor must not be newer than the file it is compared with.
  const anchors = listAnchors(anchorDirectory)
  const ids = listSegments(directory)
  const checked = new Map<string, Checked>()
  for (const id of ids) checked.set(id, await checkSegment(directory, id, anchors.get(id), digest))

  const problems: Problem[] = []
  for (const segment of checked.values()) {
    problems.push(...segment.problems)
    const anchor = anchors.get(segment.id)
    if (anchor !== undefined) problems.push(...compareWithAnchor(segment, anchor))
    if (anchor?.open === false) problems.push(...checkClosed(segment, anchor, anchorDirectory))
    problems.push(...checkHeader(segment, checked))
  }
  for (const id of anchors.keys()) {
    if (!checked.has(id)) problems.push(missingSegment(id, 'its anchor is still there'))
  }
  const unique = withoutRepeats(problems)
  return {
    ok: unique.length === 0,
    segments: ids.length,
    events: sum([...checked.values()].map(segment => segment.end.lines)),
    problems: unique,
    anchored: {
      segments: ids.filter(id => anchors.has(id)).length,
      missing: ids.filter(id => !anchors.has(id)),
    },
    torn: [...checked.values()]
      .filter(({ torn }) => torn > 0)
      .map(({ id, torn }) => ({ segment: id, bytes: torn })),
  }
}

async function checkSegment(
  directory: string,
  id: string,
  anchor: Anchor | undefined,
  digest: VerifyOptions['digest'],
): Promise<Checked> {
  const check = new ChainCheck(id)
  const forged: Problem[] = []
  const result: Checked = {
    id,
    problems: check.problems,
    end: check.end,
    header: undefined,
    firstHash: undefined,
    firstPrev: undefined,
    anchoredAt: undefined,
    torn: 0,
  }
  try {
    const batches = readForward(segmentPath(directory, id))
    for (let batch = await batches.next(); ; batch = await batches.next()) {
      if (batch.done === true) {
        result.torn = batch.value.length
        break
      }
      for (const text of batch.value) {
        if (check.end.lines === 0) readFirst(text, result)
        const line = check.next(text)
        if (line !== undefined && line.seq === anchor?.seq) {
          result.anchoredAt ??= { line: check.end.lines, hash: line.hash }
        }
        // A segment without an anchor may come from another machine, whose key is not here.
        if (
          line !== undefined &&
          anchor !== undefined &&
          digest !== undefined &&
          hasOtherInput(text, digest)
        ) {
          const message =
            'The input is not the one that its keyed digest was made of: the log was hashed again.'
          forged.push({ segment: id, line: check.end.lines, seq: line.seq, kind: 'recomputed', message })
        }
      }
    }
  } catch (error) {
    const message = `The file cannot be read: ${error instanceof Error ? error.message : String(error)}`
    check.problems.push({ segment: id, line: 0, kind: 'unreadable', message })
  }
  check.finish()
  return { ...result, problems: [...check.problems, ...forged], end: check.end }
}

function readFirst(text: Buffer, result: Checked): void {
  const stamp = parseStamp(text)
  result.firstHash = stamp?.hash
  result.firstPrev = stamp?.prev
  try {
    const value: unknown = JSON.parse(text.toString('utf8'))
    if (isHeader(value)) result.header = value.details
  } catch {
    // The chain check reports a line that is not JSON.
  }
}

function isHeader(value: unknown): value is { details: Header } {
  const { action, details } = asRecord(value)
  const { segment, after } = asRecord(details)
  return action === 'segment-started' && typeof segment === 'string' && (after === null || isHead(after))
}

function isHead(value: unknown): boolean {
  const { segment, seq, hash } = asRecord(value)
  return typeof segment === 'string' && Number.isSafeInteger(seq) && typeof hash === 'string'
}

/** The members of what may be an object; of anything else, none. */
function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function compareWithAnchor(segment: Checked, anchor: Anchor): Problem[] {
  const { id, end, anchoredAt, problems } = segment
  if (end.seq < anchor.seq) return [cutTail(segment, anchor.seq, 'its anchor')]
  if (anchoredAt !== undefined && anchoredAt.hash !== anchor.hash) {
    const message = `The file was rewritten and hashed again: event ${anchor.seq} is not the one that was anchored. The change is in this line or before it.`
    return [{ segment: id, line: anchoredAt.line, seq: anchor.seq, kind: 'recomputed', message }]
  }
  // Everything else that can keep the anchored event or the first line from being found was reported with its place.
  if (problems.length > 0 || (anchoredAt !== undefined && segment.firstHash === anchor.first)) return []
  const message = 'The file was rewritten and hashed again: it does not begin as it was anchored.'
  return [{ segment: id, line: 1, seq: 1, kind: 'recomputed', message }]
}

/** A segment that was closed cleanly ends with the event it was closed with. */
function checkClosed({ id, end }: Checked, anchor: Anchor, anchorDirectory: string): Problem[] {
  if (end.seq <= anchor.seq) return []
  // A process that goes on with a segment renews the anchor first; it may have done so since we looked.
  const now = readAnchor(anchorDirectory, id)
  if (now === undefined || now.open || now.seq !== anchor.seq) return []
  const message = `Events were added after event ${anchor.seq}, with which the segment was closed.`
  return [{ segment: id, line: end.lines, seq: anchor.seq + 1, kind: 'inserted', message }]
}

/** The first line must name its own file, and what it says of the segment before it must be true. */
function checkHeader(segment: Checked, all: ReadonlyMap<string, Checked>): Problem[] {
  const { id, header, firstPrev, problems } = segment
  const place = { segment: id, line: 1, seq: 1 }
  if (header === undefined) {
    const known = problems.length > 0 || segment.end.lines === 0
    return known
      ? []
      : [{ ...place, kind: 'misplaced', message: 'The first line does not name the segment.' }]
  }
  if (header.segment !== id) {
    const message = `The file is a copy of segment ${header.segment}, or was renamed.`
    return [{ ...place, kind: 'misplaced', message }]
  }
  const { after } = header
  if (firstPrev !== (after?.hash ?? NO_HASH)) {
    return [
      {
        ...place,
        kind: 'changed',
        message: 'The first line contradicts itself about the segment before it.',
      },
    ]
  }
  if (after === null) return []
  const before = all.get(after.segment)
  if (before === undefined) return [missingSegment(after.segment, `segment ${id} continues it`)]
  return compareWithNext(before, after, id)
}

function compareWithNext(before: Checked, after: Head, next: string): Problem[] {
  const { id, end } = before
  const place = { segment: id, line: end.lines, seq: end.seq }
  if (end.seq < after.seq) return [cutTail(before, after.seq, `segment ${next}`)]
  if (end.seq > after.seq) {
    const message = `Events were added after event ${after.seq}, with which the segment ended when ${next} continued it.`
    return [{ ...place, kind: 'inserted', message }]
  }
  if (end.hash === after.hash || before.problems.some(problem => problem.line === end.lines)) return []
  const message = `The file was rewritten and hashed again: segment ${next} continues another event ${after.seq}.`
  return [{ ...place, kind: 'recomputed', message }]
}

function cutTail({ id, end }: Checked, known: number, by: string): Problem {
  const which = known === end.seq + 1 ? `Event ${known} is` : `Events ${end.seq + 1} to ${known} are`
  const message = `${which} missing at the end of the file; ${by} knows of them.`
  return { segment: id, line: end.lines, seq: end.seq + 1, kind: 'cut-tail', message }
}

function missingSegment(segment: string, why: string): Problem {
  return {
    segment,
    line: 0,
    kind: 'missing-segment',
    message: `The file of this segment is missing; ${why}.`,
  }
}

/** Anchor and next segment may both know of the same fault. */
function withoutRepeats(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>()
  const unique = problems.filter(({ segment, line, seq, kind }) => {
    const key = `${segment} ${line} ${seq} ${kind}`
    const fresh = !seen.has(key)
    seen.add(key)
    return fresh
  })
  return unique.sort((a, b) => (a.segment < b.segment ? -1 : a.segment > b.segment ? 1 : a.line - b.line))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
