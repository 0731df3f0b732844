import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../core/errors.ts'
import { waitForLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import { writeWhole } from '../core/write-whole.ts'
import { type AuthorityChange, compareParts, hashPart, type ProjectPart } from './authority.ts'
import type { Environment } from './environment.ts'
import { isTable } from './tables.ts'

/**
 * Whether a project's files may do more than tighten. Bound to the real path of the workspace and to what the person
 * reviewed: any change of a setting that matters ends it.
 */
export type Trust =
  /** Nothing in the files needs to be trusted. */
  | { readonly status: 'not-needed' }
  | { readonly status: 'trusted'; readonly since: string }
  | { readonly status: 'untrusted' }
  | { readonly status: 'changed'; readonly since: string; readonly changes: readonly AuthorityChange[] }

type StateEnvironment = Pick<Environment, 'directories' | 'insideCall' | 'uid'>

export function isTrusted(trust: Trust): boolean {
  return trust.status === 'trusted' || trust.status === 'not-needed'
}

export function trustOf(environment: StateEnvironment, workspace: string, part: ProjectPart): Trust {
  if (Object.keys(part).length === 0) return { status: 'not-needed' }
  const records = readRecords(environment)
  const record = Object.hasOwn(records, workspace) ? records[workspace] : undefined
  if (record === undefined) return { status: 'untrusted' }
  if (record.sha256 === hashPart(part)) return { status: 'trusted', since: record.since }
  return { status: 'changed', since: record.since, changes: compareParts(record.part, part) }
}

/** Trusts exactly `part`, which the person has seen: what the files say by now plays no role. */
export async function trust(
  environment: StateEnvironment,
  workspace: string,
  part: ProjectPart,
): Promise<void> {
  await changeRecords(environment, records => {
    records[workspace] = { sha256: hashPart(part), since: new Date().toISOString(), part }
  })
}

/** True when there was trust to end. */
export async function untrust(environment: StateEnvironment, workspace: string): Promise<boolean> {
  let existed = false
  await changeRecords(environment, records => {
    existed = Object.hasOwn(records, workspace)
    delete records[workspace]
  })
  return existed
}

interface TrustRecord {
  readonly sha256: string
  readonly since: string
  /** What was trusted, so that a change can be shown. */
  readonly part: ProjectPart
}

type Records = Record<string, TrustRecord>

/** Where the person's trust is kept. */
export function trustFile(environment: Pick<StateEnvironment, 'directories'>): string {
  return join(environment.directories.state, 'trust.json')
}

/** A store that cannot be read trusts nothing. */
function readRecords(environment: StateEnvironment): Records {
  const records: Records = Object.create(null)
  try {
    const path = trustFile(environment)
    const { uid, mode } = statSync(path)
    // What others could have written is not what the person said.
    if (environment.uid !== undefined && (uid !== environment.uid || (mode & 0o022) !== 0)) return records
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const workspaces = isTable(stored) && isTable(stored.workspaces) ? stored.workspaces : {}
    for (const [path, record] of Object.entries(workspaces)) if (isRecord(record)) records[path] = record
  } catch {
    // No store yet, or a damaged one: trust has to be given again.
  }
  return records
}

function isRecord(value: unknown): value is TrustRecord {
  return (
    isTable(value) &&
    typeof value.sha256 === 'string' &&
    typeof value.since === 'string' &&
    isTable(value.part) &&
    Object.values(value.part).every(isTable)
  )
}

async function changeRecords(
  environment: StateEnvironment,
  change: (records: Records) => void,
): Promise<void> {
  if (environment.insideCall !== undefined) {
    throw new ToolError('forbidden', 'Trust cannot be changed from inside a Kogu call.', {
      hint: 'Run this command yourself, outside the agent.',
    })
  }
  const path = trustFile(environment)
  makeFolders(environment.directories.state)
  const lock = await waitForLock(`${path}.lock`, 5000)
  if (lock === undefined)
    throw new ToolError('conflict', 'Another Kogu is changing the trust store; try again.')
  try {
    const records = readRecords(environment)
    change(records)
    writeWhole(path, `${JSON.stringify({ version: 1, workspaces: records }, null, 2)}\n`)
  } finally {
    lock.release()
  }
}
