import type { AuditEvent, AuditLog } from '../../core/audit.ts'
import { ToolError } from '../../core/errors.ts'
import type { Redaction } from '../../core/redact.ts'
import { createEventText } from './event-text.ts'
import { type Folders, type Segment, startSegment } from './segment.ts'
import { ensureOwnFolder } from './segment-files.ts'
import { ENDED, type TakenOver, takeOverSegment } from './take-over.ts'

/** `anchorDirectory` belongs to this log alone, in a place that no tool can write. */
export interface AuditLogOptions extends Folders {
  redact: Redaction
  now?: () => number
  /** A segment that has grown beyond this is continued in a new one. */
  segmentBytes?: number
  /** Written events reach the disk within this time; 0: before `record` returns. */
  syncMs?: number
}

/**
 * The append-only, hash-chained log. Nothing is touched on the disk before the first event. An event that `record`
 * returned from survives the death of the process; within `syncMs`, and after `flush` or `close`, that of the machine.
 */
export function openAuditLog(options: AuditLogOptions): AuditLog {
  return new FileAuditLog(options)
}

class FileAuditLog implements AuditLog {
  readonly #options: Required<AuditLogOptions>
  readonly #toText: ReturnType<typeof createEventText>
  #segment: Segment | undefined
  #timer: NodeJS.Timeout | undefined
  #syncing: Promise<void> | undefined
  #closed = false
  #last = { ms: Number.NaN, text: '' }
  /** A sync that failed: events may be lost, so none is accepted any more. */
  #failure: unknown

  constructor(options: AuditLogOptions) {
    this.#options = { now: Date.now, segmentBytes: 16 * 1024 * 1024, syncMs: 200, ...options }
    this.#toText = createEventText(options.redact)
  }

  record(event: AuditEvent): void {
    if (this.#closed) throw new ToolError('failed', 'The audit log is closed already.')
    try {
      if (this.#failure !== undefined) throw this.#failure
      const text = this.#toText(event)
      const segment = this.#writable()
      segment.append(this.#at(), text)
      if (this.#options.syncMs === 0) segment.syncNow()
      else this.#timer ??= setTimeout(() => this.#syncInBackground(), this.#options.syncMs).unref()
    } catch (cause) {
      this.#drop()
      throw notWritten(this.#options.directory, cause)
    }
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#syncing
    try {
      if (this.#failure !== undefined) throw this.#failure
      await this.#sync()
    } catch (cause) {
      throw notWritten(this.#options.directory, cause)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      await this.flush()
      this.#segment?.seal()
    } finally {
      this.#drop()
    }
  }

  #at(): string {
    const ms = this.#options.now()
    // The two events of a short call often have the same.
    if (this.#last.ms !== ms) this.#last = { ms, text: new Date(ms).toISOString() }
    return this.#last.text
  }

  /** The segment that the next event goes to. */
  #writable(): Segment {
    const segment = this.#segment ?? this.#open([])
    this.#segment = segment.size < this.#options.segmentBytes ? segment : this.#rotate(segment)
    return this.#segment
  }

  #open(notes: TakenOver['notes']): Segment {
    ensureOwnFolder(this.#options.directory)
    const taken = takeOverSegment(this.#options, this.#options.segmentBytes)
    const segment = taken.segment ?? startSegment(this.#options, this.#at(), undefined)
    this.#segment = segment
    for (const note of [...notes, ...taken.notes]) {
      segment.append(this.#at(), this.#toText({ type: 'note', ...note }))
    }
    return segment
  }

  #rotate(full: Segment): Segment {
    full.append(this.#at(), ENDED)
    full.syncNow()
    full.seal()
    const next = startSegment(this.#options, this.#at(), { segment: full.id, ...full.head })
    full.close()
    return next
  }

  #syncInBackground(): void {
    this.#timer = undefined
    // One after another: two syncs at once gain nothing.
    this.#syncing = (this.#syncing ?? Promise.resolve())
      .then(() => this.#sync())
      .catch((error: unknown) => {
        this.#failure = error
      })
  }

  async #sync(): Promise<void> {
    const segment = this.#segment
    if (segment === undefined) return
    const reason = segment.damage()
    if (reason === undefined) return segment.sync()
    // What was tampered with under our hands stays as it is, with its last anchor; events go on in another segment.
    this.#drop()
    return this.#open([{ action: 'segment-refused', details: { segment: segment.id, reason } }]).sync()
  }

  #drop(): void {
    this.#segment?.close()
    this.#segment = undefined
  }
}

function notWritten(directory: string, cause: unknown): ToolError {
  const detail = cause instanceof Error ? cause.message : String(cause)
  return new ToolError('failed', `The audit log in ${directory} cannot be written: ${detail}`, {
    hint: 'Nothing runs without a record. Check that the folder can be written to and that the disk is not full.',
    cause,
  })
}
