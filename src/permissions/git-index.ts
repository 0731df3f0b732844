import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const MOST_BYTES = 32 * 1024 * 1024
/** Looking at more of them would take longer than the command. */
const MOST_ENTRIES = 100_000

/**
 * Full paths of the files that git tracks in the repository at or above a folder, read from its index without starting
 * git. Undefined when there is no repository, or its index is too large or not one that is understood.
 */
export function trackedFiles(folder: string): string[] | undefined {
  const found = repositoryAbove(folder)
  if (found === undefined) return undefined
  const index = readBounded(join(found.repository, 'index'))
  return index === undefined ? undefined : namesOf(index)?.map(name => join(found.root, name))
}

/** The nearest repository at or above a folder: its working tree and where its own files lie. */
export function repositoryAbove(folder: string): { root: string; repository: string } | undefined {
  for (let root = folder; ; root = dirname(root)) {
    const repository = repositoryOf(root)
    if (repository !== undefined) return { root, repository }
    if (dirname(root) === root) return undefined
  }
}

function repositoryOf(root: string): string | undefined {
  const path = join(root, '.git')
  try {
    if (lstatSync(path).isDirectory()) return path
    const target = /^gitdir: (.+)$/m.exec(readBounded(path)?.toString() ?? '')?.[1]
    return target === undefined ? undefined : resolve(root, target)
  } catch {
    // Not there, or not readable, and so not for git.
    return undefined
  }
}

/** Undefined: not there, not a file, or far too large. */
export function readBounded(path: string): Buffer | undefined {
  let file: number
  try {
    // A pipe in its place would be waited for.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    // Nothing was ever added.
    return undefined
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > MOST_BYTES) return undefined
    const bytes = Buffer.alloc(stat.size)
    return bytes.subarray(0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

const HEADER = 12
/** Times, owner, size and hash of an entry, and its flags. */
const BEFORE_NAME = 62
const EXTENDED = 0x4000

/** The names in an index file of version 2, 3 or 4. */
function namesOf(bytes: Buffer): string[] | undefined {
  if (bytes.length < HEADER || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = bytes.readUInt32BE(4)
  const count = bytes.readUInt32BE(8)
  if (version < 2 || version > 4 || count > MOST_ENTRIES) return undefined
  const names: string[] = []
  let name = ''
  let at = HEADER
  for (let entry = 0; entry < count; entry += 1) {
    if (at + BEFORE_NAME > bytes.length) return undefined
    const isExtended = (bytes.readUInt16BE(at + BEFORE_NAME - 2) & EXTENDED) !== 0
    let start = at + BEFORE_NAME + (isExtended ? 2 : 0)
    let kept = ''
    if (version === 4) {
      const { value, end } = readVariable(bytes, start)
      kept = name.slice(0, name.length - value)
      start = end
    }
    const end = bytes.indexOf(0, start)
    if (end === -1) return undefined
    // One character for each byte, so that version 4 can cut them off by bytes.
    name = kept + bytes.toString('latin1', start, end)
    names.push(Buffer.from(name, 'latin1').toString('utf8'))
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7)
  }
  return names
}

/** Seven bits a byte, as in offsets of packs. */
function readVariable(bytes: Buffer, start: number): { value: number; end: number } {
  let at = start
  let byte = bytes[at++] ?? 0
  let value = byte & 127
  while ((byte & 128) !== 0) {
    byte = bytes[at++] ?? 0
    value = (value + 1) * 128 + (byte & 127)
  }
  return { value, end: at }
}
