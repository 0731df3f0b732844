import { ToolError } from '../../core/errors.ts'
import type { SandboxProcesses } from '../processes/processes.ts'

/**
 * Which of these folders in the upper directory replace the one beneath instead of adding to it. The kernel marks them
 * by an extended attribute, which Node cannot read; tar can, and writes it into its header.
 */
export async function findOpaqueFolders(
  processes: SandboxProcesses,
  upper: string,
  { folders, isPrivileged }: { folders: readonly string[]; isPrivileged: boolean },
): Promise<Set<string>> {
  if (folders.length === 0) return new Set()
  const chunks: Uint8Array[] = []
  const result = await processes.run({
    file: '/bin/tar',
    args: ['-c', '-f', '-', '--format=pax', '--no-recursion', '--null', '-T', '-', ...ATTRIBUTES],
    cwd: upper,
    env: { LC_ALL: 'C' },
    // Each with ./ in front: tar takes a name that starts with a hyphen for an option.
    stdin: Buffer.from(folders.map(folder => `./${folder}\0`).join('')),
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    onStdout: chunk => void chunks.push(chunk),
  })
  if (result.exitCode !== 0) {
    throw new ToolError(
      'failed',
      'Kogu could not determine what the command deleted, so none of its changes were kept.',
      {
        hint: 'Kogu needs GNU tar at /bin/tar for this.',
      },
    )
  }
  return readArchive(Buffer.concat(chunks), isPrivileged)
}

const ATTRIBUTES = ['--xattrs', '--xattrs-include=*.overlay.opaque']
const BLOCK = 512

/** Names of the entries whose extended header says opaque. */
function readArchive(archive: Buffer, isPrivileged: boolean): Set<string> {
  const found = new Set<string>()
  let header = new Map<string, string>()
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const size = Number.parseInt(text(archive, at + 124, 12), 8) || 0
    const type = text(archive, at + 156, 1)
    const body = archive.subarray(at + BLOCK, at + BLOCK + size)
    if (type === 'x') {
      header = readHeader(body)
    } else {
      const prefix = text(archive, at + 345, 155)
      const short = text(archive, at, 100)
      const name = header.get('path') ?? (prefix === '' ? short : `${prefix}/${short}`)
      if (isOpaque(header, isPrivileged)) found.add(name.replace(/^\.\//, '').replace(/\/$/, ''))
      header = new Map()
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return found
}

/**
 * Of the two places for the mark, the kernel uses the one that the command cannot write on this kind of layer; a mark in
 * the other one is forged, and would delete what a wall kept the command from deleting.
 */
function isOpaque(header: ReadonlyMap<string, string>, isPrivileged: boolean): boolean {
  const space = isPrivileged ? 'trusted' : 'user'
  return header.get(`SCHILY.xattr.${space}.overlay.opaque`) === 'y'
}

/** Records of the form `length key=value\n`, where the length counts the whole record in bytes. */
function readHeader(body: Buffer): Map<string, string> {
  const entries = new Map<string, string>()
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at)
    const length = Number(body.subarray(at, space).toString())
    if (space === -1 || !(length > 0)) break
    const record = body.subarray(space + 1, at + length - 1).toString()
    const equals = record.indexOf('=')
    entries.set(record.slice(0, equals), record.slice(equals + 1))
    at += length
  }
  return entries
}

function text(archive: Buffer, at: number, length: number): string {
  const bytes = archive.subarray(at, at + length)
  const end = bytes.indexOf(0)
  return bytes.subarray(0, end === -1 ? length : end).toString()
}
