import { existsSync, renameSync } from 'node:fs'
import type { Folders } from './segment.ts'
import { toCompactTime } from './segment-files.ts'
import { type VerifyReport, verifyAudit } from './verify.ts'

export interface Restarted {
  /** What was wrong with the log that ended. */
  readonly report: VerifyReport
  /** Where what was left of it is now. */
  readonly kept: readonly string[]
}

/**
 * Ends a log that is broken for good, for example because a person deleted its folder, so that a new one can begin.
 * Nothing is deleted: what is left of the log, and the anchors that prove what is missing, get another name. Whoever
 * calls this records it as the first event of the new log. Undefined: the log is intact and goes on.
 */
export async function restartAudit(folders: Folders, now: Date): Promise<Restarted | undefined> {
  const report = await verifyAudit(folders)
  if (report.ok) return undefined
  const ended = `-ended-${toCompactTime(now.toISOString())}`
  const kept: string[] = []
  for (const folder of [folders.directory, folders.anchorDirectory]) {
    if (!existsSync(folder)) continue
    renameSync(folder, folder + ended)
    kept.push(folder + ended)
  }
  return { report, kept }
}
