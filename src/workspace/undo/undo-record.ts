import * as fs from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { zstdCompress, zstdCompressSync } from 'node:zlib'
import type { Effect } from '../../core/effects.ts'
import { isSystemError } from '../../core/errors.ts'
import { indexAt } from './git-index-digest.ts'
import type { RecordFile } from './record-file.ts'

// One record holds what one step of a call is about to change, and what is needed to put it back. It is a sequence of
// JSON lines: a header, kept contents, temporary files, changes; and when all of them were made, `done`. Records are
// appended to a file in `pending/`, which moves to `calls/` when it is full or its process ends. A kill leaves it in
// `pending/` with a last record that is not done. The next start compares each change of that one with the disk
// (recovery.ts): so every change is either not there or can be undone.
//
// A kill cannot lose what was written, only a loss of power can: records are synced in batches soon after they are
// complete (batch-sync.ts), contents that have a file of their own are left to the system.

export interface CallReference {
  readonly id: string
  readonly run: string
  readonly tool: string
  /** How its command ended, in words: the record holds all that the call did. */
  readonly ended?: string
}

/**
 * Where the bytes of `before` are: kept with the record; for a file that was set aside, the file itself, under this
 * number in the folder of the record; for an entry that was moved, where it is now.
 */
export type ContentSource = 'kept' | { setAside: number } | { movedTo: string }

export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface Change extends Effect {
  /** Missing when there was no content, or when it was too large to keep (`undoable: false`). */
  content?: ContentSource
  /** Owner and group of what was there, where they are not those of this process. */
  owner?: Owner
  /** Targets of links. */
  target?: { before?: string; after?: string }
  /**
   * Written into the file itself; a kill in the middle leaves a mixture of both contents. Names the record that has the
   * bytes of `after`, or is empty when a temporary sibling has them.
   */
  inPlace?: { afterIn?: string }
}

export interface RecordHeader {
  readonly format: 1
  readonly id: string
  readonly call: string
  readonly run: string
  readonly tool: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly ended?: string
  /** The calls that this one took back. */
  readonly undoes?: readonly string[]
}

/** What a line of a record can be. */
export type RecordLine =
  | { header: RecordHeader }
  | { object: string; raw: string }
  | { object: string; zstd: string }
  /** `movedFrom`: not made by us but moved there; it goes back. */
  | { temporary: string; movedFrom?: string }
  /** A folder that is made writable for the moment, and the mode it gets back. */
  | { opened: string; mode: number }
  | { change: Change }
  /** The change before it turned out to be this one. */
  | { instead: Change }
  /** What the index of a repository says after the changes, whatever git saw of the disk (git-index-digest.ts). */
  | { gitIndex: string; path: string }
  /** The record is complete: all changes happened, or only these of them, by their order. */
  | { done: 'all' | readonly number[] }

export interface StorePlaces {
  readonly pending: string
  readonly calls: string
  /** Kept files too large for the record, and those that were set aside; one folder per record. */
  readonly files: string
}

export interface RecordOptions {
  readonly places: StorePlaces
  readonly header: RecordHeader
  readonly budgetBytes: number
  readonly largeFileBytes: number
  readonly makeRoom: (bytes: number) => void
  /** A file that nobody else appends to. */
  readonly takeFile: (id: string) => RecordFile
  readonly giveBack: (file: RecordFile) => void
}

/** Contents up to this size lie in the record itself: one file to write and to sync, however many were changed. */
export const INLINE_BYTES = 64 * 1024
/** Below this, compressing costs more time than it saves space. */
const WORTH_COMPRESSING = 16 * 1024
/** A record copies so many of the files that go. What is copied, nobody can change; many are set aside, which is faster. */
const COPIED_FILES = 64
/** What is set aside is not compressed: half of the budget, and the rest of a huge folder is copied as well as it fits. */
const ASIDE_PART = 1 / 2
const BLOCK = 4096
const WRITE_CHUNK = 4 * 1024 * 1024

const compress = promisify(zstdCompress)

export class ChangeRecord {
  readonly header: RecordHeader
  readonly changes: Change[] = []
  readonly #options: RecordOptions
  readonly #filesPath: string
  readonly #kept = new Set<string>()
  #copied = 0
  #setAside = 0
  #lines: string[] = []
  #buffered = 0
  #bytes = 0
  #keptBytes = 0
  #place: { file: RecordFile; start: number } | undefined

  constructor(options: RecordOptions) {
    this.#options = options
    this.header = options.header
    this.#filesPath = join(options.places.files, options.header.id)
    this.#append({ header: options.header })
  }

  /** Keeps bytes that are in memory. False: too large, so the change cannot be undone. */
  async keepBytes(content: Uint8Array, hash: string): Promise<boolean> {
    if (this.#kept.has(hash)) return true
    if (!this.#fits(content.length)) return false
    if (content.length <= INLINE_BYTES) {
      this.#kept.add(hash)
      this.#appendText(contentLine(content, hash))
      return true
    }
    const packed = await compress(content)
    const compressed = packed.length < content.length
    const kept = compressed ? packed : content
    const descriptor = fs.openSync(this.#filePath(hash, compressed), 'w', 0o600)
    try {
      writeWhole(descriptor, kept)
    } finally {
      fs.closeSync(descriptor)
    }
    this.#countKept(kept.length)
    this.#kept.add(hash)
    return true
  }

  /**
   * Keeps a file too large for the memory. `displaced`: its name is about to go, so that a second name will do;
   * otherwise it is copied (reflinked where the file system can).
   */
  keepFile(path: string, file: { sha256: string; size: number; displaced: boolean }): boolean {
    if (this.#kept.has(file.sha256)) return true
    if (!this.#fits(file.size)) return false
    const to = this.#filePath(file.sha256, false)
    // A file with other names stays in use: as one more name of it, what is kept would change with it.
    const mayLink = file.displaced && fs.lstatSync(path).nlink === 1
    if (!mayLink || !tryLink(path, to)) fs.copyFileSync(path, to, fs.constants.COPYFILE_FICLONE)
    this.#countKept(file.size)
    this.#kept.add(file.sha256)
    return true
  }

  /**
   * Keeps a file whose name is about to go; undefined: too large. One of the first small ones is copied. Any other is set
   * aside: it gets a second name in the store, and undo gives it its old one back. Nothing is copied then, and no inode
   * is freed: ext4 takes seconds to make ten thousand files when as many were deleted within the last minute.
   */
  async keepDeleted(
    path: string,
    file: { sha256: string; size: number; nlink: number; read?: () => Uint8Array },
  ): Promise<ContentSource | undefined> {
    const { sha256, size, read } = file
    // A file with other names stays in use: as one more name of it, what is kept would change with it.
    const isCopied = file.nlink > 1 || (read !== undefined && this.#copied < COPIED_FILES)
    if (!isCopied && this.#giveSecondName(path, size)) return { setAside: this.#setAside++ }
    this.#copied += 1
    const kept =
      read === undefined
        ? this.keepFile(path, { sha256, size, displaced: false })
        : await this.keepBytes(read(), sha256)
    return kept ? 'kept' : undefined
  }

  /** For a change that did not happen: the file still has its name, and shall have no other. */
  forget({ content }: Change): void {
    if (typeof content === 'object' && 'setAside' in content)
      fs.rmSync(join(this.#filesPath, String(content.setAside)), { force: true })
  }

  add(change: Change): void {
    this.changes.push(change)
    this.#append({ change })
  }

  /** The last change turned out to be another one than was announced. */
  correct(change: Change): void {
    this.changes[this.changes.length - 1] = change
    this.#append({ instead: change })
  }

  /** Names a temporary file or folder before it is created, so that the next start can remove it after a kill. */
  temporary(path: string, movedFrom?: string): void {
    this.#append(movedFrom === undefined ? { temporary: path } : { temporary: path, movedFrom })
  }

  /** Names a folder before it is made writable, so that the next start can close it again after a kill. */
  opened(path: string, mode: number): void {
    this.#append({ opened: path, mode })
  }

  /** Writes everything so far. Must come before the first change becomes visible. */
  seal(): void {
    this.#options.makeRoom(this.#bytes)
    this.#write()
  }

  /** Where it is being written; undefined before the first `seal`. */
  get place(): { path: string; start: number } | undefined {
    return this.#place === undefined ? undefined : { path: this.#place.file.path, start: this.#place.start }
  }

  /** The changes are visible: the call can be undone from now on. `happened`: only these of them did. */
  commit(happened?: readonly Change[]): void {
    for (const { path, after } of happened ?? this.changes) {
      const gitIndex = after === undefined ? undefined : indexAt(path, after)
      if (gitIndex !== undefined) this.#append({ gitIndex, path })
    }
    if (happened === undefined || happened.length === this.changes.length) this.#append({ done: 'all' })
    else {
      const chosen = new Set(happened)
      this.#append({ done: this.changes.flatMap((change, index) => (chosen.has(change) ? [index] : [])) })
      this.changes.splice(0, this.changes.length, ...happened)
    }
    const { file } = this.#write()
    file.addKept(this.#keptBytes)
    this.#place = undefined
    this.#options.giveBack(file)
  }

  /** Nothing was changed. */
  abort(): void {
    this.changes.length = 0
    fs.rmSync(this.#filesPath, { recursive: true, force: true })
    if (this.#place === undefined) return
    const { file, start } = this.#place
    this.#place = undefined
    file.cutTo(start)
    this.#options.giveBack(file)
  }

  #countKept(bytes: number): void {
    this.#bytes += bytes
    this.#keptBytes += bytes
  }

  #fits(size: number): boolean {
    return size <= this.#options.largeFileBytes && this.#bytes + size <= this.#options.budgetBytes
  }

  #giveSecondName(path: string, size: number): boolean {
    const bytes = asideBytes(size)
    if (!this.#fits(bytes) || this.#bytes + bytes > this.#options.budgetBytes * ASIDE_PART) return false
    if (this.#setAside === 0) fs.mkdirSync(this.#filesPath, { recursive: true, mode: 0o700 })
    if (!tryLink(path, join(this.#filesPath, String(this.#setAside)))) return false
    this.#countKept(bytes)
    return true
  }

  #filePath(hash: string, compressed: boolean): string {
    fs.mkdirSync(this.#filesPath, { recursive: true, mode: 0o700 })
    return join(this.#filesPath, storedName(hash, compressed))
  }

  #append(line: RecordLine): void {
    this.#appendText(`${JSON.stringify(line)}\n`)
  }

  #appendText(text: string): void {
    this.#lines.push(text)
    this.#buffered += text.length
    this.#bytes += text.length
    if (this.#buffered > WRITE_CHUNK) this.#write()
  }

  #write(): { file: RecordFile } {
    if (this.#place === undefined) {
      const file = this.#options.takeFile(this.header.id)
      this.#place = { file, start: file.size }
    }
    this.#place.file.append(Buffer.from(this.#lines.join('')))
    this.#lines = []
    this.#buffered = 0
    return this.#place
  }
}

export function toEffect({ content: _, target: __, inPlace: ___, owner: ____, ...effect }: Change): Effect {
  return effect
}

/** Of a full file of records. The size is in the name so that keeping to the budget needs no more than a listing. */
export function recordName(id: string, bytes: number): string {
  return `${id}.${bytes}.jsonl`
}

/** What a file that was set aside takes of the disk. */
export function asideBytes(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK
}

export function storedName(hash: string, compressed: boolean): string {
  return compressed ? `${hash}.zst` : hash
}

/** The JSON of a line with a content. Nothing in it needs escaping. */
function contentLine(content: Uint8Array, hash: string): string {
  if (content.length >= WORTH_COMPRESSING) {
    const packed = zstdCompressSync(content)
    if (packed.length < content.length) return `{"object":"${hash}","zstd":"${packed.toString('base64')}"}\n`
  }
  return `{"object":"${hash}","raw":"${Buffer.from(content).toString('base64')}"}\n`
}

function tryLink(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to)
    return true
  } catch (error) {
    // Another file system, one without hard links, or another user's file: copied instead.
    if (isSystemError(error) && error.code !== 'ENOENT') return false
    throw error
  }
}

/** A full disk shows as a short write first and as an error only on the next one. */
function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(descriptor, bytes, done)
}
