import { relative } from 'node:path'
import { isInside, realPathOf } from '../core/real-path.ts'
import type { Label, ToolContext } from '../core/tool.ts'
import { toLine } from '../core/visible.ts'

type Place = Pick<ToolContext, 'cwd' | 'workspace'>

/**
 * A path as results name it: relative to the call's folder when it is inside that or the workspace, else absolute. Either
 * form can be given back to a tool.
 */
export function resultPath(real: string, place: Place): string {
  // Where a path without links begins with the folder, that has none either.
  const folder = isInside(real, place.cwd) ? place.cwd : realFolderOf(place)
  if (real === folder) return '.'
  if (isInside(real, folder)) return relative(folder, real)
  // `..` goes by the names in a path: in a folder that was reached by a link it would lead elsewhere.
  const canClimb =
    folder === place.cwd && isInside(folder, place.workspace) && isInside(real, place.workspace)
  return canClimb ? relative(folder, real) : real
}

/** For each call once: results of a search have thousands of paths. */
const FOLDERS = new WeakMap<Place, string>()

function realFolderOf(place: Place): string {
  const known = FOLDERS.get(place) ?? realPathOf(place.cwd)
  FOLDERS.set(place, known)
  return known
}

/** A path on a line of its own: a name with a line break cannot pass for two results. */
export function shownPath(path: string): string {
  return toLine(path, 8192)
}

/** Content from outside the workspace is nobody's that the workspace's owner vouches for. */
export function labelOf(real: string, { workspace }: Place): { label?: Label } {
  if (isInside(real, workspace) || isInside(real, realPathOf(workspace))) return {}
  return { label: { origin: 'outside', trusted: false } }
}
