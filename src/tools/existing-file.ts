import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { type Access, WRITE_HARD_LINK } from '../core/access.ts'
import type { Receipts } from '../core/files.ts'
import { absolutePath, realPathOf } from '../core/real-path.ts'
import type { AccessContext } from '../core/tool.ts'

/** Larger files are never read for a question; they have no receipt either. */
const HASHED = 64 * 1024 * 1024

const SHOWN = 1024 * 1024

/** Whether a file is there whose present content this run has not seen. Nothing is changed. */
export function isUnseen(path: string, context: AccessContext): boolean {
  return look(path, context, (descriptor, stat, real) => {
    if (!stat.isFile() || stat.size === 0) return false
    if (stat.size > HASHED) return true
    const receipt = context.receipts.get(real)
    return (
      receipt === undefined || receipt !== createHash('sha256').update(readFileSync(descriptor)).digest('hex')
    )
  })
}

/** Size of the regular file that a path leads to; 0 when there is none. */
export function presentSize(path: string, context: Pick<AccessContext, 'cwd'>): number {
  let size = 0
  look(path, context, (_, stat) => {
    if (stat.isFile()) size = stat.size
    return true
  })
  return size
}

/** Writing a file that has other names changes those too, so it is confirmed by itself. */
export function hardLinkAccess(path: string, context: AccessContext): Access[] {
  const hasOtherNames = look(path, context, (_, stat) => stat.isFile() && stat.nlink > 1)
  if (!hasOtherNames) return []
  return [{ kind: 'custom', name: WRITE_HARD_LINK, details: absolutePath(path, context.cwd) }]
}

/** The bytes that are there, for showing a difference; undefined when there is nothing, or too much to show. */
export function presentBytes(path: string, context: AccessContext): Uint8Array | undefined {
  let bytes: Uint8Array | undefined
  look(path, context, (descriptor, stat) => {
    if (stat.isFile() && stat.size <= SHOWN) bytes = readFileSync(descriptor)
    return true
  })
  return bytes
}

function look(
  path: string,
  { cwd }: Pick<AccessContext, 'cwd'>,
  judge: (descriptor: number, stat: Stats, real: string) => boolean,
): boolean {
  const real = realPathOf(absolutePath(path, cwd))
  let descriptor: number
  try {
    // Non-blocking: a named pipe would otherwise wait for a writer.
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    // Nothing there, or nothing that may be read: the write itself will say so.
    return false
  }
  try {
    return judge(descriptor, fstatSync(descriptor), real)
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
