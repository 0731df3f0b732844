import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { type FileLock, tryLock } from '../../core/lock-file.ts'
import { writeAnchor } from './anchors.ts'
import { formatLine, NO_HASH } from './line.ts'
import { newSegmentId, segmentPath } from './segment-files.ts'

export interface Folders {
  directory: string
  anchorDirectory: string
}

/** The last line of a segment. */
export interface Head {
  seq: number
  hash: string
}

/** Everything a writer has to know of a segment to go on with it. */
export interface SegmentState extends Head {
  id: string
  /** Hash of the first line. */
  first: string
  size: number
  fd: number
  lock: FileLock
}

const datasync = promisify(fdatasync)

/** A segment that this process alone may write to, until it is closed. */
export class Segment {
  readonly #folders: Folders
  readonly #state: SegmentState
  #anchored = 0
  #syncing = 0
  #closed = false

  constructor(folders: Folders, state: SegmentState) {
    this.#folders = folders
    this.#state = state
  }

  get id(): string {
    return this.#state.id
  }

  get size(): number {
    return this.#state.size
  }

  get head(): Head {
    return { seq: this.#state.seq, hash: this.#state.hash }
  }

  /** Writes one line. If that fails, the file is as it was before. */
  append(at: string, event: string): void {
    const state = this.#state
    const { text, hash } = formatLine(state.seq + 1, at, state.hash, event)
    const line = Buffer.from(text)
    try {
      writeWhole(state.fd, line)
    } catch (error) {
      ftruncateSync(state.fd, state.size)
      throw error
    }
    state.seq += 1
    state.hash = hash
    state.size += line.length
  }

  /** Brings everything written so far to the disk, then renews the anchor. */
  async sync(): Promise<void> {
    const head = this.head
    if (this.#closed || this.#anchored === head.seq) return
    this.#syncing += 1
    try {
      await datasync(this.#state.fd)
    } finally {
      this.#syncing -= 1
      if (this.#closed) this.#closeFile()
    }
    if (!this.#closed) this.#anchor(head)
  }

  syncNow(): void {
    const head = this.head
    if (this.#anchored === head.seq) return
    fdatasyncSync(this.#state.fd)
    this.#anchor(head)
  }

  /** Why the file is no longer the one that was written, if it is not: somebody removed, replaced, cut or filled it. */
  damage(): string | undefined {
    const { fd, id, size } = this.#state
    const opened = fstatSync(fd)
    const named = lstatSync(segmentPath(this.#folders.directory, id), { throwIfNoEntry: false })
    if (named === undefined || opened.nlink === 0) return 'its file was removed'
    if (named.ino !== opened.ino || named.dev !== opened.dev) return 'its file was replaced'
    if (opened.size !== size) return `its file has ${opened.size} bytes instead of ${size}`
    return undefined
  }

  /** Says in the anchor that this is the end, so that what somebody adds is found. Only true of what was synced. */
  seal(): void {
    if (this.#anchored === this.#state.seq) this.#writeAnchor(this.head, false)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#state.lock.release()
    this.#closeFile()
  }

  /** A descriptor that is closed while a sync is under way could already stand for another file. */
  #closeFile(): void {
    if (this.#syncing === 0) closeSync(this.#state.fd)
  }

  #anchor({ seq, hash }: Head): void {
    // A sync that took long must not put an older anchor over a newer one.
    if (seq <= this.#anchored) return
    if (this.#writeAnchor({ seq, hash }, true)) this.#anchored = seq
  }

  #writeAnchor({ seq, hash }: Head, open: boolean): boolean {
    const { id, first } = this.#state
    return writeAnchor(this.#folders.anchorDirectory, { segment: id, seq, hash, first, open })
  }
}

/**
 * Starts a segment. Its first line names it, so that a renamed or copied file is noticed, and the segment that it
 * continues, so that segments form one chain.
 */
export function startSegment(
  folders: Folders,
  at: string,
  after: (Head & { segment: string }) | undefined,
): Segment {
  const id = newSegmentId(at, after?.segment)
  const path = segmentPath(folders.directory, id)
  const lock = tryLock(`${path}.lock`)
  if (lock === undefined) throw new Error(`The lock of a new segment is taken: ${path}`)
  try {
    const segment = createFile(folders, lock, { id, at, after })
    // The anchor must never know of a file that a power failure can undo.
    syncFolder(folders.directory)
    segment.syncNow()
    return segment
  } catch (error) {
    lock.release()
    throw error
  }
}

interface Beginning {
  id: string
  at: string
  after: (Head & { segment: string }) | undefined
}

function createFile(folders: Folders, lock: FileLock, { id, at, after }: Beginning): Segment {
  const path = segmentPath(folders.directory, id)
  const header = { type: 'note', action: 'segment-started', details: { segment: id, after: after ?? null } }
  const { text, hash } = formatLine(1, at, after?.hash ?? NO_HASH, JSON.stringify(header))
  // The name appears together with the first line: an empty segment would have nothing to be checked against.
  const fd = openSync(
    `${path}.new`,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL,
    0o600,
  )
  const line = Buffer.from(text)
  try {
    writeWhole(fd, line)
    renameSync(`${path}.new`, path)
  } catch (error) {
    closeSync(fd)
    rmSync(`${path}.new`, { force: true })
    throw error
  }
  return new Segment(folders, { id, first: hash, seq: 1, hash, size: line.length, fd, lock })
}

function writeWhole(fd: number, data: Buffer): void {
  for (let written = 0; written < data.length; ) written += writeSync(fd, data, written)
}

function syncFolder(directory: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(directory, constants.O_RDONLY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
