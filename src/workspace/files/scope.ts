import { type Access, type AccessKind, WRITE_HARD_LINK } from '../../core/access.ts'
import type { Effect } from '../../core/effects.ts'
import { ToolError } from '../../core/errors.ts'
import type { Receipts } from '../../core/files.ts'
import type { Permit } from '../../core/permit.ts'
import { absolutePath, isInside, type Resolved } from '../../core/real-path.ts'
import type { CallReference } from '../undo/undo-record.ts'
import type { UndoStore } from '../undo/undo-store.ts'
import type { PathLocks } from './path-locks.ts'
import {
  followLinks,
  followParent,
  placeWithoutLinks,
  refuseFolderSpelling,
  refuseSystemPath,
} from './paths.ts'

/** What the file operations of one call share. */
export interface CallScope {
  readonly cwd: string
  readonly permit: Permit
  readonly call: CallReference
  readonly undo: UndoStore
  readonly locks: PathLocks
  readonly receipts: Receipts
  /** Grows with every change. */
  readonly effects: Effect[]
  /** Throws once the call has ended: a tool that was cancelled may still be running. */
  assertOpen(): void
}

/** Where a path leads, if the call may read there. */
export function locateForReading(scope: CallScope, path: string): Resolved {
  scope.assertOpen()
  const absolute = absolutePath(path, scope.cwd)
  const place = followLinks(absolute)
  const judged = scope.permit.judged(absolute)
  if (judged !== undefined && judged !== place.real) throw leadsElsewhere(absolute, place.real)
  if (judged === undefined && !scope.permit.mayRead(place.real)) {
    throw new ToolError('denied', `This call may not read ${absolute}`)
  }
  if (place.missing.length > 0) throw new ToolError('not_found', `No such file or folder: ${absolute}`)
  return place
}

/** A path that the call was judged for, if it had no links then. Whether it has any now is for the caller to find out. */
export function locateAsJudged(scope: CallScope, path: string): string | undefined {
  scope.assertOpen()
  const absolute = absolutePath(path, scope.cwd)
  refuseSystemPath(absolute)
  return scope.permit.judged(absolute) === absolute ? absolute : undefined
}

/** Where a file to be written is. Links are followed: their target is written, they stay. */
export function locateForWriting(scope: CallScope, path: string): Resolved {
  scope.assertOpen()
  refuseFolderSpelling(path)
  const absolute = absolutePath(path, scope.cwd)
  const judged = scope.permit.judged(absolute)
  // A path that was judged as it stands has no links. One that was put in since is found when its folder is pinned.
  const place = (judged === absolute ? placeWithoutLinks(absolute) : undefined) ?? followLinks(absolute)
  requireDeclared(scope, absolute, place.real, ['file_write'])
  if (judged !== place.real) throw leadsElsewhere(absolute, place.real)
  requireChangeable(scope.permit, place.real)
  return place
}

/** Where an entry to be moved or removed is. A link is the entry itself, not what it points to. */
export function locateEntry(scope: CallScope, path: string, kinds: readonly AccessKind[]): Resolved {
  scope.assertOpen()
  const absolute = absolutePath(path, scope.cwd)
  const place = followParent(absolute)
  const judged = scope.permit.judged(absolute)
  requireDeclared(scope, absolute, place.real, kinds)
  if (judged !== place.real && judged !== followLinks(absolute).real)
    throw leadsElsewhere(absolute, place.real)
  requireChangeable(scope.permit, place.real)
  if (scope.permit.writeScope.includes(place.real)) {
    throw new ToolError(
      'forbidden',
      `The folder that tools work in cannot be moved or removed: ${place.real}`,
    )
  }
  return place
}

/** Inside the write scope, and not one of the paths that no file tool changes. */
export function requireChangeable(permit: Permit, real: string): void {
  if (!permit.writeScope.some(folder => isInside(real, folder))) {
    throw new ToolError('forbidden', `This path is outside the folders that this call may change: ${real}`, {
      hint: `It may change: ${permit.writeScope.join(', ') || 'nothing'}`,
    })
  }
  if (permit.isProtected(real)) {
    throw new ToolError('forbidden', `This path is protected; no file tool may change it: ${real}`)
  }
}

/** Whether the call said beforehand, and was judged for, this kind of access. */
export function isDeclared(
  scope: CallScope,
  absolute: string,
  real: string,
  kinds: readonly AccessKind[],
): boolean {
  return scope.permit.access.some(access => {
    const path = pathOf(access)
    if (path === undefined || !kinds.includes(access.kind)) return false
    const declared = absolutePath(path, scope.cwd)
    return declared === absolute || declared === real || scope.permit.judged(declared) === real
  })
}

/** Whether somebody confirmed that a file with several names may be written. */
export function isHardLinkConfirmed(scope: CallScope, real: string): boolean {
  return scope.permit.access.some(
    access =>
      access.kind === 'custom' &&
      access.name === WRITE_HARD_LINK &&
      followLinks(absolutePath(access.details, scope.cwd)).real === real,
  )
}

/** A tool that says "read" and then writes would pass a read-only mode: what was not declared was not judged. */
function requireDeclared(
  scope: CallScope,
  absolute: string,
  real: string,
  kinds: readonly AccessKind[],
): void {
  if (scope.permit.judged(absolute) !== undefined && isDeclared(scope, absolute, real, kinds)) return
  throw new ToolError(
    'forbidden',
    `The tool did not declare that it would change ${absolute}, so it may not.`,
  )
}

function pathOf(access: Access): string | undefined {
  return 'path' in access ? access.path : undefined
}

function leadsElsewhere(absolute: string, real: string): ToolError {
  return new ToolError('conflict', `${absolute} now resolves to ${real}, which was not approved.`, {
    hint: 'A symlink or folder changed in the meantime. Look at it, then repeat the call.',
  })
}
