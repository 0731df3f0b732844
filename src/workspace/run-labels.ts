import { closeSync, constants, mkdirSync, openSync, readSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { KeptLabels } from '../core/run.ts'
import type { Label } from '../core/tool.ts'

/**
 * Labels of one run, a line each, only ever appended: processes that belong to the same run add theirs side by side, and
 * one that is killed leaves what it had seen.
 */
export function openRunLabels(path: string): KeptLabels {
  let read = 0
  let rest = ''
  return {
    add(label) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      // Begins with a line break: a line that a crash cut off must not swallow this one.
      const file = openSync(path, APPEND, 0o600)
      try {
        writeFileSync(file, `\n${JSON.stringify(label)}\n`, { flush: true })
      } finally {
        closeSync(file)
      }
    },
    refresh(labels) {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (size <= read) return
      const added = rest + readFrom(path, read, size)
      read = size
      const lines = added.split('\n')
      rest = lines.pop() ?? ''
      const known = new Set(labels.map(toKey))
      for (const label of lines.map(parseLabel)) {
        if (label === undefined || known.has(toKey(label))) continue
        known.add(toKey(label))
        labels.push(label)
      }
    },
  }
}

/** A link in its place, which a repository could bring along, is not followed. */
const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0)

const toKey = ({ origin, trusted, source }: Label): string => JSON.stringify([origin, trusted, source])

function readFrom(path: string, start: number, end: number): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(end - start)
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start))
  } finally {
    closeSync(file)
  }
}

/** A line that cannot be read was something that entered the run: it counts as the worst it could have been. */
function parseLabel(line: string): Label | undefined {
  if (line === '') return undefined
  try {
    const { origin, trusted, source } = JSON.parse(line) as Partial<Label>
    if (typeof origin === 'string' && typeof trusted === 'boolean') {
      return typeof source === 'string' ? { origin, trusted, source } : { origin, trusted }
    }
  } catch {
    // Cut off by a crash.
  }
  return { origin: 'other', trusted: false, source: 'unreadable' }
}
