import { closeSync, constants, mkdirSync, openSync, readSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** A file of lines that several processes add to, each at once, and read as it grows. */
export interface AppendedLines {
  /** Returns when the line is with the system; with `flush`, when it is on the disk. */
  append(line: string, options?: { flush: boolean }): void
  /** Lines that were added since the last time, by whichever process. */
  readNew(): string[]
}

export function openAppended(path: string): AppendedLines {
  let read = 0
  let rest = ''
  return {
    append(line, { flush } = { flush: false }) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      // Begins with a line break: a line that a crash cut off must not swallow this one.
      const file = openSync(path, APPEND, 0o600)
      try {
        writeFileSync(file, `\n${line}\n`, { flush })
      } finally {
        closeSync(file)
      }
    },
    readNew() {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (size <= read) return []
      const added = rest + readFrom(path, read, size)
      read = size
      const lines = added.split('\n')
      rest = lines.pop() ?? ''
      return lines.filter(line => line !== '')
    },
  }
}

/** A link in its place, which a repository could bring along, is not followed. */
const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0)

function readFrom(path: string, start: number, end: number): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(end - start)
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start))
  } finally {
    closeSync(file)
  }
}
