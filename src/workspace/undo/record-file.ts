import * as fs from 'node:fs'
import { promisify } from 'node:util'

const syncAsync = promisify(fs.fsync)
const closeAsync = promisify(fs.close)

/**
 * A file that records are appended to, one after the other. A file for each would cost a small write more than all the
 * rest of it: making a file is the slowest thing that a file system does.
 */
export class RecordFile {
  /** Of its first record. */
  readonly id: string
  readonly path: string
  readonly #descriptor: number
  #size = 0
  /** What its records keep beside it. */
  #keptBytes = 0

  constructor(folder: string, id: string) {
    this.id = id
    this.path = `${folder}/${id}.jsonl`
    this.#descriptor = fs.openSync(this.path, 'wx', 0o600)
  }

  get size(): number {
    return this.#size
  }

  /** Somebody removed it: what is appended now would be lost. */
  isGone(): boolean {
    return fs.fstatSync(this.#descriptor).nlink === 0
  }

  get totalBytes(): number {
    return this.#size + this.#keptBytes
  }

  /** All of it or nothing: half a line would spoil the record that comes next. */
  append(bytes: Uint8Array): void {
    try {
      let done = 0
      // A full disk shows as a short write first and as an error only on the next one.
      while (done < bytes.length)
        done += fs.writeSync(this.#descriptor, bytes, done, bytes.length - done, this.#size + done)
    } catch (error) {
      this.cutTo(this.#size)
      throw error
    }
    this.#size += bytes.length
  }

  addKept(bytes: number): void {
    this.#keptBytes += bytes
  }

  cutTo(size: number): void {
    fs.ftruncateSync(this.#descriptor, size)
    this.#size = size
  }

  async sync(): Promise<void> {
    await syncAsync(this.#descriptor)
  }

  async close(): Promise<void> {
    await closeAsync(this.#descriptor)
  }
}
