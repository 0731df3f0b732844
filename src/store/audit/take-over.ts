import { closeSync, constants, fstatSync, ftruncateSync, lstatSync, openSync, readSync } from 'node:fs'
import { type FileLock, tryLock } from '../../core/lock-file.ts'
import { type Anchor, ensureAnchorFolder, readAnchor, writeAnchor } from './anchors.ts'
import { NO_HASH, type ParsedLine, parseLine, parseStamp, sha256 } from './line.ts'
import { type Folders, Segment } from './segment.ts'
import { listSegments, PLAIN_FILE, segmentPath, splitLines } from './segment-files.ts'

export interface TakenOver {
  segment: Segment | undefined
  /** What was found and has to be recorded. */
  notes: { action: string; details: Record<string, unknown> }[]
}

/** Older ones are full, or belong to a crowd of processes that is long gone. */
const NEWEST = 32

/**
 * Goes on with the newest segment that is not full and that nobody holds, so that many short processes do not leave as
 * many files. A segment that does not fit its anchor is left as it is: to go on with it would renew the anchor and wipe
 * out the evidence.
 */
export function takeOverSegment(folders: Folders, segmentBytes: number): TakenOver {
  const anchored = ensureAnchorFolder(folders.anchorDirectory)
  const notes: TakenOver['notes'] = []
  for (const id of listSegments(folders.directory).slice(-NEWEST).reverse()) {
    const path = segmentPath(folders.directory, id)
    const file = lstatSync(path, { throwIfNoEntry: false })
    if (file === undefined || !file.isFile() || file.size >= segmentBytes) continue
    const lock = tryLock(`${path}.lock`)
    if (lock === undefined) continue
    const result = resume(folders, id, lock, anchored)
    notes.push(...result.notes)
    if (result.segment !== undefined) return { segment: result.segment, notes }
    lock.release()
  }
  return { segment: undefined, notes }
}

function resume(folders: Folders, id: string, lock: FileLock, anchored: boolean): TakenOver {
  const anchor = readAnchor(folders.anchorDirectory, id)
  // Anchors can be kept here and this one has none: the segment came from elsewhere, for example with a repository.
  if (anchor === undefined && anchored) return { segment: undefined, notes: [] }
  let fd: number
  try {
    fd = openSync(segmentPath(folders.directory, id), constants.O_RDWR | constants.O_APPEND | PLAIN_FILE)
  } catch (error) {
    return refused(id, `it cannot be opened: ${error instanceof Error ? error.message : String(error)}`)
  }
  const { size, nlink } = fstatSync(fd)
  const tail = readTail(fd, size, anchor?.seq)
  const fault = nlink > 1 ? 'its file has a second name' : findFault(tail.lines, anchor)
  const last = tail.lines.at(-1)
  if (fault !== undefined || last === undefined || isEnded(tail.lastText)) {
    closeSync(fd)
    return fault === undefined ? { segment: undefined, notes: [] } : refused(id, fault)
  }
  // Said before anything is written: a closed anchor would make what follows look like somebody else's.
  if (anchor?.open === false && !writeAnchor(folders.anchorDirectory, { ...anchor, open: true })) {
    closeSync(fd)
    return refused(id, 'its anchor cannot be renewed')
  }
  const kept = size - tail.torn.length
  if (kept < size) ftruncateSync(fd, kept)
  const first = anchor?.first ?? readFirstHash(fd)
  const segment = new Segment(folders, { id, first, seq: last.seq, hash: last.hash, size: kept, fd, lock })
  if (kept === size) return { segment, notes: [] }
  const details = { segment: id, bytes: tail.torn.length, sha256: sha256(tail.torn) }
  return { segment, notes: [{ action: 'tail-repaired', details }] }
}

function refused(segment: string, reason: string): TakenOver {
  return { segment: undefined, notes: [{ action: 'segment-refused', details: { segment, reason } }] }
}

function readFirstHash(fd: number): string {
  const head = Buffer.alloc(512)
  return parseStamp(head.subarray(0, readSync(fd, head, 0, head.length, 0)))?.hash ?? NO_HASH
}

interface Tail {
  /** The last lines, from the anchored one on (without an anchor, at least the last); undefined: not a line. */
  lines: (ParsedLine | undefined)[]
  lastText: string
  /** What follows the last line feed: a line whose writer died. */
  torn: Buffer
}

function readTail(fd: number, size: number, anchoredSeq: number | undefined): Tail {
  for (let length = Math.min(size, 16 * 1024); ; length = Math.min(size, length * 4)) {
    const data = Buffer.alloc(length)
    const got = data.subarray(0, readSync(fd, data, 0, length, size - length))
    // Unless the piece begins the file, its first line is cut.
    const start = length === size ? 0 : got.indexOf(10) + 1
    const end = got.lastIndexOf(10) + 1
    const texts = end > start ? splitLines(got.subarray(start, end)) : []
    const first = texts[0] === undefined ? undefined : parseLine(texts[0])
    const reaches = first !== undefined && (anchoredSeq === undefined || first.seq <= anchoredSeq)
    if (!reaches && length < size) continue
    const lines = texts.map(parseLine)
    const from = anchoredSeq === undefined ? -1 : lines.findIndex(line => line?.seq === anchoredSeq)
    return {
      lines: from === -1 ? lines.slice(-1) : lines.slice(from),
      lastText: texts.at(-1)?.toString('utf8') ?? '',
      torn: got.subarray(end),
    }
  }
}

function findFault(lines: Tail['lines'], anchor: Anchor | undefined): string | undefined {
  const first = lines[0]
  if (anchor !== undefined && first?.seq !== anchor.seq)
    return `event ${anchor.seq}, which was synced, is missing`
  if (anchor !== undefined && first?.hash !== anchor.hash)
    return `event ${anchor.seq} is not the one that was synced`
  if (anchor?.open === false && lines.length > 1)
    return `events were added after event ${anchor.seq}, its last`
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1]
    const follows = before === undefined || (line?.seq === before.seq + 1 && line.prev === before.hash)
    if (line === undefined || !line.intact || !follows) return 'its last events do not form a chain'
  }
  return undefined
}

export const ENDED = '{"type":"note","action":"segment-ended","details":{}}'

/** A segment that another one continues must stay as it is, or the other's first line would no longer be true. */
function isEnded(line: string): boolean {
  return line.endsWith(`,${ENDED.slice(1)}`)
}
