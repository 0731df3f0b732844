import { createHash, hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { type Access, WRITE_HARD_LINK } from '../core/access.ts'
import type { Effect } from '../core/effects.ts'
import type { Receipts } from '../core/files.ts'
import { absolutePath, resolvePath as resolveNow } from '../core/real-path.ts'
import type { AccessContext } from '../core/tool.ts'

/** Larger files are never read for a question; they have no receipt either. */
const HASHED = 64 * 1024 * 1024
/** Larger files are read piece by piece, and other calls go on meanwhile. */
const HASHED_AT_ONCE = 1024 * 1024

const SHOWN = 1024 * 1024

/** Non-blocking: a named pipe would otherwise wait for a writer. */
const FOR_LOOKING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

/** A regular file where a call wants to write. */
export interface Present {
  readonly size: number
  /** Whether this run has not seen its present content. */
  readonly isUnseen: boolean | Promise<boolean>
  /** What its writing needs to be confirmed by itself: see hardLinkAccess. */
  readonly access: readonly Access[]
}

/** Undefined when there is no regular file. Nothing is changed. */
export function presentFile(path: string, context: AccessContext): Present | undefined {
  let found: Present | undefined
  look(path, context, (descriptor, stat, real) => {
    if (!stat.isFile()) return
    found = {
      size: stat.size,
      isUnseen: isUnseen(descriptor, stat, real, context.receipts.get(real)),
      access: otherNames(path, stat, context),
    }
  })
  return found
}

function isUnseen(
  descriptor: number,
  { size }: Stats,
  real: string,
  receipt: string | undefined,
): boolean | Promise<boolean> {
  if (size === 0) return false
  if (receipt === undefined || size > HASHED) return true
  if (size <= HASHED_AT_ONCE) return receipt !== hash('sha256', readFileSync(descriptor))
  return hashInPieces(real).then(
    found => found !== receipt,
    // Gone or out of reach since: the write itself will say so.
    () => true,
  )
}

async function hashInPieces(real: string): Promise<string> {
  const file = await open(real, FOR_LOOKING)
  try {
    const sum = createHash('sha256')
    const piece = Buffer.allocUnsafe(HASHED_AT_ONCE)
    for (let position = 0; position <= HASHED; ) {
      const { bytesRead } = await file.read(piece, 0, piece.length, position)
      if (bytesRead === 0) break
      sum.update(piece.subarray(0, bytesRead))
      position += bytesRead
    }
    return sum.digest('hex')
  } finally {
    await file.close()
  }
}

/** Size of the regular file that a path leads to; 0 when there is none. */
export function presentSize(path: string, context: Pick<AccessContext, 'cwd'>): number {
  let size = 0
  look(path, context, (_, stat) => {
    if (stat.isFile()) size = stat.size
  })
  return size
}

/** Writing a file that has other names changes those too, so it is confirmed by itself. */
export function hardLinkAccess(path: string, context: AccessContext): Access[] {
  let access: Access[] = []
  look(path, context, (_, stat) => {
    access = otherNames(path, stat, context)
  })
  return access
}

function otherNames(path: string, stat: Stats, { cwd }: AccessContext): Access[] {
  if (!stat.isFile() || stat.nlink === 1) return []
  return [{ kind: 'custom', name: WRITE_HARD_LINK, details: absolutePath(path, cwd) }]
}

/** The bytes that are there, for showing a difference; undefined when there is nothing, or too much to show. */
export function presentBytes(path: string, context: AccessContext): Uint8Array | undefined {
  let bytes: Uint8Array | undefined
  look(path, context, (descriptor, stat) => {
    if (stat.isFile() && stat.size <= SHOWN) bytes = readFileSync(descriptor)
  })
  return bytes
}

function look(
  path: string,
  { cwd, resolvePath = resolveNow }: Pick<AccessContext, 'cwd' | 'resolvePath'>,
  onFound: (descriptor: number, stat: Stats, real: string) => void,
): void {
  const { real, missing } = resolvePath(absolutePath(path, cwd))
  if (missing.length > 0) return
  let descriptor: number
  try {
    descriptor = openSync(real, FOR_LOOKING)
  } catch {
    // Nothing there, or nothing that may be read: the write itself will say so.
    return
  }
  try {
    onFound(descriptor, fstatSync(descriptor), real)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * A receipt means that this run has seen the file as it is. After a change to a file that it had not, the old state of
 * affairs holds: otherwise the next whole-file write would destroy what somebody else wrote, with a valid receipt.
 */
export function restoreReceipt(receipts: Receipts, real: string, receipt: string | undefined): void {
  if (receipt === undefined) receipts.delete(real)
  else receipts.set(real, receipt)
}

/** Whoever made a file read-only may not have wanted this change; the system does not stop it, since the file is replaced. */
export function readOnlyNote({ before }: Effect): string {
  return before === undefined || (before.mode & 0o222) !== 0
    ? ''
    : 'The file was read-only; its mode is kept.'
}
