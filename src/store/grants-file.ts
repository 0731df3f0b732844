import type { Grant, GrantStore } from '../permissions/grants.ts'
import { openListFile } from './list-file.ts'

/** Permanent grants. A damaged file holds none: then more is asked, never less. */
export function openGrantsFile(path: string): GrantStore {
  return openListFile(path, 'grants', isGrant)
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
