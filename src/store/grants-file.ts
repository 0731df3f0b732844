import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { waitForLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import type { Grant, GrantStore } from '../permissions/grants.ts'

/**
 * Permanent grants, in one file of the state folder (0600). A file that cannot be read counts as no grants at all:
 * then more is asked, never less.
 */
export function openGrantsFile(path: string): GrantStore {
  let cached: { stamp: string; grants: readonly Grant[] } | undefined
  const list = (): readonly Grant[] => {
    const stamp = stampOf(path)
    if (cached?.stamp !== stamp) cached = { stamp, grants: read(path) }
    return cached.grants
  }
  return {
    list,
    async add(grant) {
      await change(path, grants => [...grants, grant])
    },
    async remove(id) {
      const before = list().length
      await change(path, grants => grants.filter(grant => grant.id !== id))
      return list().length < before
    },
  }
}

async function change(path: string, edit: (grants: readonly Grant[]) => readonly Grant[]): Promise<void> {
  makeFolders(dirname(path))
  const lock = await waitForLock(`${path}.lock`, 5000)
  if (lock === undefined) throw new Error(`Another process holds ${path}.lock.`)
  try {
    const draft = `${path}.${process.pid}.tmp`
    writeFileSync(draft, `${JSON.stringify({ version: 1, grants: edit(read(path)) }, null, 2)}\n`, {
      mode: 0o600,
    })
    renameSync(draft, path)
  } finally {
    lock.release()
  }
}

function read(path: string): readonly Grant[] {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const grants =
      typeof content === 'object' && content !== null && 'grants' in content ? content.grants : []
    return Array.isArray(grants) ? grants.filter(isGrant) : []
  } catch {
    // Missing or damaged: no grants.
    return []
  }
}

function isGrant(value: unknown): value is Grant {
  if (typeof value !== 'object' || value === null) return false
  const { id, decision, workspace, spec } = value as Partial<Grant>
  return (
    typeof id === 'string' &&
    (decision === 'allow' || decision === 'deny') &&
    typeof workspace === 'string' &&
    typeof spec === 'object'
  )
}

function stampOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? 'missing' : `${stat.mtimeNs} ${stat.size} ${stat.ino}`
  } catch {
    // A state folder that cannot be looked into holds no grants.
    return 'unreadable'
  }
}
