import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { writeWhole } from '../../core/write-whole.ts'

// The sockets of a shared server lie in /tmp and not in its own folder, for the reason that supervisor-place.ts gives:
// commands see every folder of the machine except /tmp, and whoever sees a socket can connect to it.

const NOTE = 'place'
const PORT = 'port'

/** Said when the keeper listens. */
export function announceServer(folder: string, place: string): void {
  writeWhole(join(folder, NOTE), place)
}

/** Undefined when no keeper was here, or when somebody else owns a folder of that name by now. */
export function findServerPlace(folder: string): string | undefined {
  try {
    const place = readFileSync(join(folder, NOTE), 'utf8')
    const { uid, mode } = lstatSync(place)
    // Windows has no such modes; there the folder lies in the person's own profile.
    if (process.platform === 'win32') return place
    return uid === process.getuid?.() && (mode & 0o170077) === 0o040000 ? place : undefined
  } catch {
    return undefined
  }
}

export function keeperSocket(place: string): string {
  return process.platform === 'win32' ? `\\\\.\\pipe\\${basename(place)}` : join(place, 'keeper')
}

/** Where a server without sockets listens: another one after each start. */
export function announcePort(place: string, port: number): void {
  writeFileSync(join(place, PORT), String(port), { mode: 0o600 })
}

/** Undefined when it has sockets. */
export function findPort(place: string): number | undefined {
  try {
    return Number(readFileSync(join(place, PORT), 'utf8'))
  } catch {
    return undefined
  }
}
