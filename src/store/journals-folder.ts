import { hash } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { CallJournals, JournalLine } from '../core/inner-calls.ts'
import { waitForLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import type { Seal } from '../core/seal.ts'

const LOCK_MS = 5000

/** Nobody goes on with a call that waited for so long. */
const SWEPT_AFTER_MS = 90 * 24 * 3_600_000

/**
 * Journals of calls that make calls, one file each (0600), outside of the workspace: no checkout brings one back. They are
 * only appended to, line by line, each with its seal: a kill can cut off the last line and no other.
 */
export function openJournalsFolder(directory: string, seal: Seal): CallJournals {
  // Ids hold names that a person chose.
  const pathOf = (call: string): string => join(directory, `${hash('sha256', call).slice(0, 32)}.lines`)
  return {
    read(call) {
      const path = pathOf(call)
      return existsSync(path) ? readLines(readFileSync(path, 'utf8'), seal) : undefined
    },
    append(call, lines) {
      makeFolders(directory)
      const text = lines.map(line => `\n${seal.add(JSON.stringify(line))}`).join('')
      appendFileSync(pathOf(call), text, { mode: 0o600 })
    },
    end: call => rmSync(pathOf(call), { force: true }),
    async hold(call) {
      makeFolders(directory)
      return waitForLock(`${pathOf(call)}.lock`, LOCK_MS)
    },
  }
}

/** Takes away what calls have left that were killed, or whose questions nobody answered. */
export function sweepJournals(directory: string, now: number): void {
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    if (now - statSync(path).mtimeMs > SWEPT_AFTER_MS) rmSync(path, { force: true })
  }
}

/** A line that was cut off was never written: what it would have said had not happened yet, or its result is lost. */
function readLines(text: string, seal: Seal): readonly JournalLine[] {
  const rows = text.split('\n')
  return rows.flatMap((row, index) => {
    const line = row === '' ? undefined : seal.open(`${row}\n${rows[index + 1] ?? ''}\n`)
    // Kogu alone writes these files.
    return line === undefined ? [] : [JSON.parse(line) as JournalLine]
  })
}
