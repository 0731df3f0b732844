import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ToolError } from '../core/errors.ts'
import { makeFolders } from '../core/make-folders.ts'
import { writeWhole } from '../core/write-whole.ts'

// Files of `.kogu` that a person edits (panels, pipelines, configuration), read and replaced as a whole.

export interface SavedText {
  readonly text: string
  readonly sha256: string
}

/** Undefined when there is no such file. */
export function readText(path: string): SavedText | undefined {
  if (!existsSync(path)) return undefined
  refuseLinks(dirname(path))
  const text = readPlainFile(path)
  return text === undefined ? undefined : { text, sha256: hash('sha256', text) }
}

const MOST_BYTES = 10 * 1024 * 1024

/**
 * Undefined when there is no such file. A link is refused: it could be turned elsewhere between two looks. So is everything
 * that is no plain file, before it is opened: to open a device can do something, and a FIFO would hold the whole process.
 */
export function readPlainFile(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  const refused = new ToolError('invalid_input', `${path} is not a plain file.`)
  if (!found.isFile()) throw refused
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const opened = fstatSync(fd)
    if (!opened.isFile()) throw refused
    if (opened.size > MOST_BYTES)
      throw new ToolError('invalid_input', `${path} has more than ${MOST_BYTES} bytes.`)
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

/**
 * Replaces a file, or makes it. `expected` is the hash of what the person has edited, null for a new file: what somebody
 * else wrote meanwhile is not lost.
 */
export function replaceText(path: string, text: string, expected: string | null): SavedText {
  refuseStale(path, expected)
  const folder = dirname(path)
  makeFolders(folder)
  refuseLinks(folder)
  writeWhole(path, text, { mode: 0o666, flush: true })
  return { text, sha256: hash('sha256', text) }
}

export function removeText(path: string, expected: string): void {
  refuseStale(path, expected)
  refuseLinks(dirname(path))
  rmSync(path)
}

function refuseStale(path: string, expected: string | null): void {
  if ((readText(path)?.sha256 ?? null) === expected) return
  throw new ToolError('conflict', `${basename(path)} has changed since it was opened.`, {
    hint: 'Load it again, or overwrite it knowingly.',
  })
}

/** A repository can bring `.kogu/panels` as a link to any folder of the person. */
function refuseLinks(folder: string): void {
  if (
    realpathSync(folder) !==
    join(realpathSync(dirname(dirname(folder))), basename(dirname(folder)), basename(folder))
  )
    throw new ToolError('forbidden', `${folder} is reached through a link.`)
}
