import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import type { Access } from '../core/access.ts'
import type { Receipts } from '../core/files.ts'
import { absolutePath, realPathOf } from '../core/real-path.ts'
import type { AccessContext } from '../core/tool.ts'

/** Larger files are never read for a question; they have no receipt either. */
const HASHED = 64 * 1024 * 1024

/** What `access` of a tool that writes has to know of the file that is there now. Nothing is changed. */
export interface ExistingFile {
  readonly stat: Stats
  /** Null: too large, or not a regular file. */
  readonly sha256: string | null
  /** What this run saw of it last. */
  readonly receipt: string | undefined
}

export function lookAtExisting(path: string, { cwd, receipts }: AccessContext): ExistingFile | null {
  const real = realPathOf(absolutePath(path, cwd))
  let descriptor: number
  try {
    // Non-blocking: a named pipe would otherwise wait for a writer.
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    // Nothing there, or nothing that may be read: the write itself will say so.
    return null
  }
  try {
    const stat = fstatSync(descriptor)
    const isHashed = stat.isFile() && stat.size <= HASHED
    const sha256 = isHashed ? createHash('sha256').update(readFileSync(descriptor)).digest('hex') : null
    return { stat, sha256, receipt: receipts.get(real) }
  } finally {
    closeSync(descriptor)
  }
}

/** Writing a file that has other names changes those too, so it is confirmed by itself. */
export function hardLinkAccess(
  path: string,
  existing: ExistingFile | null,
  { cwd }: AccessContext,
): Access[] {
  if (existing === null || !existing.stat.isFile() || existing.stat.nlink < 2) return []
  return [{ kind: 'custom', name: 'write_hard_link', details: absolutePath(path, cwd) }]
}

/**
 * A receipt means that this run has seen the file as it is. After a change to a file that it had not, the old state of
 * affairs holds: otherwise the next whole-file write would destroy what somebody else wrote, with a valid receipt.
 */
export function restoreReceipt(receipts: Receipts, real: string, receipt: string | undefined): void {
  if (receipt === undefined) receipts.delete(real)
  else receipts.set(real, receipt)
}
