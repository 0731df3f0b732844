import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openListFile } from './list-file.ts'

/** A script that a person has read, by its content. */
interface TrustedScript {
  readonly id: string
  readonly workspace: string
  readonly path: string
  readonly sha256: string
}

export interface ScriptTrust {
  isTrusted(script: { readonly path: string; readonly sha256: string }): boolean
  trust(script: { readonly path: string; readonly sha256: string }): Promise<void>
}

export function scriptTrustFile(stateDirectory: string): string {
  return join(stateDirectory, 'scripts.json')
}

/** Kept in the state folder, which no tool can write. */
export function openScriptTrust(stateDirectory: string, workspace: string): ScriptTrust {
  const file = openListFile(scriptTrustFile(stateDirectory), 'scripts', isTrustedScript)
  return {
    isTrusted: ({ path, sha256 }) =>
      file.list().some(each => each.workspace === workspace && each.path === path && each.sha256 === sha256),
    trust: ({ path, sha256 }) => file.add({ id: randomUUID(), workspace, path, sha256 }),
  }
}

function isTrustedScript(value: unknown): value is TrustedScript {
  if (typeof value !== 'object' || value === null) return false
  const { id, workspace, path, sha256 } = value as Partial<TrustedScript>
  return [id, workspace, path, sha256].every(field => typeof field === 'string')
}
