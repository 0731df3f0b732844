/** What the index of a repository says of one path. */
export interface IndexEntry {
  readonly name: string
  readonly mode: number
  /** All of the entry but what git saw of the file on the disk (times, owner, size), which it renews at every look. */
  readonly identity: string
}

/** Looking at more of them would take longer than the command. */
const MOST_ENTRIES = 300_000
const HEADER = 12
/** Times, mode, owner, size and hash of an entry, and its flags. */
const BEFORE_NAME = 62
const MODE = 24
const HASH = 40
const FOLDER = 0o040000
const EXTENDED = 0x4000
const CHECKSUM = 20

/** The entries of an index file of version 2, 3 or 4; undefined: not one that is understood. */
export function indexEntriesOf(bytes: Buffer): IndexEntry[] | undefined {
  if (bytes.length < HEADER || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = bytes.readUInt32BE(4)
  const count = bytes.readUInt32BE(8)
  if (version < 2 || version > 4 || count > MOST_ENTRIES) return undefined
  const entries: IndexEntry[] = []
  let name = ''
  let at = HEADER
  for (let entry = 0; entry < count; entry += 1) {
    if (at + BEFORE_NAME > bytes.length) return undefined
    const isExtended = (bytes.readUInt16BE(at + BEFORE_NAME - 2) & EXTENDED) !== 0
    let start = at + BEFORE_NAME + (isExtended ? 2 : 0)
    const identity = bytes.toString('hex', at + HASH, start)
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
    const mode = bytes.readUInt32BE(at + MODE)
    // A sparse index has whole folders in the place of their files.
    if (mode === FOLDER) return undefined
    entries.push({ name: Buffer.from(name, 'latin1').toString('utf8'), mode, identity })
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7)
  }
  return endsAsKnown(bytes, at) ? entries : undefined
}

/**
 * After the entries come extensions and a checksum. One that may not be passed over has a small letter: a split index,
 * for one, has most of its entries in another file. And with hashes of another length nothing would come out even.
 */
function endsAsKnown(bytes: Buffer, start: number): boolean {
  let at = start
  while (at + 8 <= bytes.length - CHECKSUM) {
    if (!/^[A-Z]/.test(bytes.toString('latin1', at, at + 1))) return false
    at += 8 + bytes.readUInt32BE(at + 4)
  }
  return at === bytes.length - CHECKSUM
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
