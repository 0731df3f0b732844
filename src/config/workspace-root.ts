import { realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { ToolError } from '../core/errors.ts'
import type { Environment } from './environment.ts'

export interface Workspace {
  /** Real path of the folder that writes are confined to. */
  readonly root: string
  /** Real path of the folder that Kogu was started in. */
  readonly cwd: string
  /** What made it the root. */
  readonly by: 'kogu' | 'git' | 'cwd'
}

/**
 * The nearest folder upwards with `.kogu` or `kogu.toml`, else the git root, else the folder itself. The root folder, the
 * home folder and what contains it are never found by searching (a dotfiles repository or a stray `~/.kogu` would open
 * everything a person has to writes); they have to be named (`explicit`: the folder came from `--cwd`).
 */
export function findWorkspace(
  cwd: string,
  environment: Pick<Environment, 'home' | 'uid'>,
  explicit = false,
): Workspace {
  const start = realFolder(cwd)
  const home = realOrSame(environment.home)
  const candidates = ancestors(start).filter(folder => !holdsHome(folder, home))
  if (explicit && holdsHome(start, home)) return { root: start, cwd: start, by: 'cwd' }
  const kogu = candidates.find(folder => hasMarker(folder, start, environment.uid, ['.kogu', 'kogu.toml']))
  if (kogu !== undefined) return { root: kogu, cwd: start, by: 'kogu' }
  const git = candidates.find(folder => hasMarker(folder, start, environment.uid, ['.git']))
  if (git !== undefined) return { root: git, cwd: start, by: 'git' }
  if (holdsHome(start, home)) {
    const what = start === home ? 'your home folder' : start
    throw new ToolError('invalid_input', `Kogu does not use ${what} as a workspace unless you say so.`, {
      hint: `Go to a project folder, or name the folder: --cwd ${start}`,
    })
  }
  return { root: start, cwd: start, by: 'cwd' }
}

/** The folder and all above it, the nearest first. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

function holdsHome(folder: string, home: string): boolean {
  const inside = relative(folder, home)
  return inside === '' || !(inside === '..' || inside.startsWith(`..${sep}`))
}

/**
 * In a folder that everybody may write (/tmp), anybody could plant a marker and thereby move the workspaces of others up
 * to it; there only one's own marker counts. The starting folder was chosen by the person.
 */
function hasMarker(
  folder: string,
  start: string,
  uid: number | undefined,
  markers: readonly string[],
): boolean {
  return markers.some(marker => {
    const entry = statOf(join(folder, marker))
    if (entry === undefined) return false
    if (marker === '.kogu' && !entry.isDirectory()) return false
    if (marker === 'kogu.toml' && !entry.isFile()) return false
    if (folder === start || uid === undefined || entry.uid === uid) return true
    const open = ((statOf(folder)?.mode ?? 0o002) & 0o002) !== 0
    return !open
  })
}

function statOf(path: string): Stats | undefined {
  // Unreadable is as good as absent: a workspace whose marker cannot be seen cannot be used either.
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function realFolder(path: string): string {
  const stats = statOf(path)
  if (stats === undefined) throw new ToolError('not_found', `No such folder: ${path}`)
  if (!stats.isDirectory()) throw new ToolError('invalid_input', `Not a folder: ${path}`)
  return realpathSync(path)
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // A home folder that does not exist cannot hold the workspace.
    return path
  }
}
