import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { Permit } from '../../core/permit.ts'
import { isInside } from '../../core/real-path.ts'
import { toLine } from '../../core/visible.ts'
import type { OverlayChange, OverlayChanges } from '../../sandbox/layer/overlay-changes.ts'

/** As the kernel. */
const MOST_LINKS = 40

/**
 * Symlinks that a command made and that lead out of the workspace, or to what tools run by themselves, each named in a
 * sentence. Whatever the person starts next would write through them, and no layer shows that.
 */
export function leavingLinks(
  { workspace, changes }: Pick<OverlayChanges, 'workspace' | 'changes'>,
  { isProtected }: Pick<Permit, 'isProtected'>,
): string[] {
  const made = new Map(changes.map(change => [change.path, change]))
  return changes.flatMap(({ path, after }) => {
    if (after?.target === undefined) return []
    const end = endOf(join(workspace, path), workspace, made)
    if (end !== undefined && isInside(end, workspace) && !isProtected(end)) return []
    return [`${toLine(path)} -> ${toLine(after.target)}`]
  })
}

/** Where a path leads once the changes are in the workspace; what is missing counts as it is called. */
function endOf(
  path: string,
  workspace: string,
  made: ReadonlyMap<string, OverlayChange>,
): string | undefined {
  const pending = path.split(sep)
  let end: string = sep
  for (let links = 0; links <= MOST_LINKS; ) {
    const part = pending.shift()
    if (part === undefined) return end
    if (part === '' || part === '.') continue
    if (part === '..') {
      end = dirname(end)
      continue
    }
    const next = join(end, part)
    const target = targetOf(next, workspace, made)
    if (target === undefined) {
      end = next
      continue
    }
    links += 1
    if (target.startsWith(sep)) end = sep
    pending.unshift(...target.split(sep))
  }
  // A loop.
  return undefined
}

function targetOf(
  path: string,
  workspace: string,
  made: ReadonlyMap<string, OverlayChange>,
): string | undefined {
  const change = isInside(path, workspace) ? made.get(relative(workspace, path)) : undefined
  if (change !== undefined) return change.after?.target
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? readlinkSync(path)
      : undefined
  } catch {
    // Below a file, or not for us to look at: no link leads on from there.
    return undefined
  }
}
