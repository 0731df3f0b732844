import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder that only this user can enter. Those of a Kogu that was killed are removed on the way. */
export function createPrivateFolder(kind: 'spawn' | 'sandbox' | 'server'): string {
  const prefix = `kogu-${kind}-`
  for (const name of readdirSync(tmpdir())) {
    const owner = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined
    if (owner === undefined || existsSync(`/proc/${owner}`) || process.platform !== 'linux') continue
    removeOwn(join(tmpdir(), name))
  }
  return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
}

/** Everybody can make folders with such names in /tmp; only our own are touched. */
function removeOwn(path: string): void {
  try {
    if (lstatSync(path).uid === process.getuid?.()) rmSync(path, { recursive: true, force: true })
  } catch {
    // Another Kogu was faster.
  }
}
