import { lstatSync, mkdirSync, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { Permit } from '../../core/permit.ts'
import { isInside, realPathOf } from '../../core/real-path.ts'
import type { SandboxDenial } from '../../core/sandbox.ts'
import { explainDenial } from '../../sandbox/walls/denial.ts'
import type { CommandParts } from './parts.ts'

// `[sandbox] background_write`: folders of the workspace that background commands change directly. There is no layer, so
// that nothing is recorded; what can be checked is checked before the command starts.

/** The setting as real folders, each made when it is missing. Whatever stands against one of them stops the command. */
export function foldersToWrite(
  { workspace, backgroundWrite }: Pick<CommandParts, 'workspace' | 'backgroundWrite'>,
  permit: Permit,
): string[] {
  const folders = [...new Set(backgroundWrite.map(folder => join(workspace, folder)))]
  // Only the outermost: whoever may write a folder could put a link in the place of one inside it.
  const outermost = folders.filter(
    folder => !folders.some(other => other !== folder && isInside(folder, other)),
  )
  for (const folder of outermost) {
    if (folder === workspace || !isInside(folder, workspace)) refuse(folder, 'it is not inside the workspace')
    refuseUnwritable(folder, folder, permit)
    makeWithoutLinks(folder, workspace)
    refuseContents(folder, permit)
  }
  return outermost
}

/** Component by component: a link, dangling or not, would open another folder than the one that was named. */
function makeWithoutLinks(folder: string, workspace: string): void {
  const names = folder
    .slice(workspace.length)
    .split('/')
    .filter(name => name !== '')
  let path = workspace
  for (const name of names) {
    path = join(path, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) mkdirSync(path)
    else if (!found.isDirectory())
      refuse(folder, `${path} is ${found.isSymbolicLink() ? 'a link' : 'no folder'}`)
  }
  if (realPathOf(folder) !== folder) refuse(folder, `it leads to ${realPathOf(folder)}`)
}

const MOST_ENTRIES = 50_000

/** A folder that holds something protected cannot be opened around it: names that do not exist yet have no wall. */
function refuseContents(folder: string, permit: Permit): void {
  const waiting = [folder]
  let seen = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = opendirSync(next)
    try {
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
        seen += 1
        if (seen > MOST_ENTRIES) refuse(folder, `it holds more than ${MOST_ENTRIES} files to check`)
        const path = join(next, entry.name)
        refuseUnwritable(folder, path, permit)
        if (entry.isDirectory()) waiting.push(path)
      }
    } finally {
      entries.closeSync()
    }
  }
}

function refuseUnwritable(folder: string, path: string, { isProtected, command }: Permit): void {
  const holds = path === folder ? 'it is' : `it holds ${path}, which is`
  if (isProtected(path)) refuse(folder, `${holds} protected`)
  const rule =
    command?.deniesChange?.('file_write', path) ?? command?.deniesChange?.('file_delete', path) ?? null
  if (rule !== null) refuse(folder, `${holds} not to be changed: ${rule}`)
}

function refuse(folder: string, why: string): never {
  throw new ToolError('forbidden', `Background commands cannot be given ${folder} to write: ${why}.`, {
    hint: 'Change [sandbox] background_write.',
  })
}

/** Node's words when it makes a folder with its parents on a read-only file system; Vite's cache, for example. */
const NODE_MKDIR = /ENOENT: no such file or directory, mkdir/

/** Which place of the workspace a background command could not write, by its own words, and the setting that opens it. */
export function explainReadOnly(
  lines: readonly string[],
  { workspace, limits }: Pick<CommandParts, 'workspace' | 'limits'>,
  cwd: string,
  isProtected: Permit['isProtected'],
): SandboxDenial | null {
  const stderr = lines
    .map(line => line.replace(NODE_MKDIR, 'EROFS: read-only file system, mkdir'))
    .filter(line => /EROFS|Read-only file system/i.test(line))
    .join('\n')
  const walls = { writable: [], readable: [], hidden: [], protected: [], env: {}, limits, cwd }
  const profile = { ...walls, network: 'none', unixSockets: false } as const
  const found = explainDenial({ exitCode: 1, signal: null, limit: null, stderr }, profile)
  if (found?.kind !== 'write') return null
  const { target } = found
  if (target !== null && (!isInside(target, workspace) || isProtected(target))) {
    return { ...found, allowedBy: null }
  }
  const message = `The command could not write ${target ?? 'there'}: the workspace is read-only for background commands, except for the folders that [sandbox] background_write names.`
  return { ...found, message, allowedBy: null }
}
