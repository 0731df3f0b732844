import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isInside } from '../../core/real-path.ts'
import { gitParts } from '../../git/git-folder.ts'
import { repositoryOfObject } from '../../git/git-objects.ts'
import type { Observer } from '../files/observer.ts'
import { indexAt, indexDigest } from './git-index-digest.ts'
import type { PlannedDisk } from './planned-disk.ts'
import type { CallChanges, PathState } from './undo-plan.ts'
import { readKept, type SavedRecord } from './undo-read.ts'
import type { Change, StorePlaces } from './undo-record.ts'

// The files of a repository belong together. An object that a call made may be what a tag of a person refers to by now:
// objects stay, unless the whole repository goes. And git itself keeps rewriting the index without changing what it says.

export interface Repositories {
  /** The outermost repository folder (`.git`, or one by its shape) that a path lies in. */
  around(path: string): string | undefined
  /** The repository folder whose object, or folder of objects, a path is. */
  ofObject(path: string): string | undefined
}

export function createRepositories(): Repositories {
  const known = new Map<string, boolean>()
  const exists = (path: string): boolean => {
    const found = known.get(path) ?? lstatSync(path, { throwIfNoEntry: false }) !== undefined
    known.set(path, found)
    return found
  }
  return {
    around(path) {
      const [outermost] = gitParts(path.slice(1), each => exists(`/${each}`))
      return outermost === undefined ? undefined : `/${outermost.folder}`
    },
    ofObject: path => repositoryOfObject(path, exists),
  }
}

interface Planned {
  readonly kept: ReadonlyMap<string, PathState | undefined>
  readonly disk: ReadonlyMap<string, PathState | 'other' | undefined>
}

/** Paths that would go according to plan and have to stay, and how many of them are objects. */
export function whatStaysOfRepositories(
  plan: Planned,
  observer: Observer,
  repositories: Repositories,
): { stays: string[]; leftObjects: number } {
  const goes = (path: string): boolean => plan.kept.has(path) && plan.kept.get(path) === undefined
  const objects = new Map<string, string[]>()
  for (const path of plan.kept.keys()) {
    if (!goes(path) || plan.disk.get(path) === undefined) continue
    const repository = repositories.ofObject(path)
    if (repository === undefined) continue
    const known = objects.get(repository)
    if (known === undefined) objects.set(repository, [path])
    else known.push(path)
  }
  const stays: string[] = []
  let leftObjects = 0
  for (const [repository, paths] of objects) {
    const more = goes(repository) ? othersIn(repository, observer, repositories, goes) : 'objects'
    if (more === 'nothing') continue
    // Somebody works with this new repository: it stays as it is, with all that makes it one.
    if (more === 'other things') {
      stays.push(...[...plan.kept.keys()].filter(path => path !== repository && isInside(path, repository)))
    } else stays.push(...paths)
    leftObjects += paths.filter(path => isFile(plan.disk.get(path))).length
  }
  return { stays, leftObjects }
}

/**
 * Plans that objects go which earlier undos left, where their whole repository goes now: nothing can refer to them any
 * more. `undone` is asked only when there is such a repository.
 */
export async function takeLeftObjects(
  disk: PlannedDisk,
  repositories: Repositories,
  undone: () => readonly CallChanges[],
): Promise<void> {
  const goes = (path: string): boolean => disk.kept.has(path) && disk.kept.get(path) === undefined
  const going = new Set([...disk.kept.keys()].map(repositories.ofObject).filter(each => each !== undefined))
  for (const repository of going) if (!goes(repository)) going.delete(repository)
  if (going.size === 0) return
  const made = undone().flatMap(({ records }) => records.flatMap(({ changes }) => changes))
  for (const { path, entry, before, after } of made) {
    const repository = before === undefined ? repositories.ofObject(path) : undefined
    if (repository === undefined || !going.has(repository) || disk.kept.has(path)) continue
    const now = await disk.look(path)
    if (typeof now !== 'object' || now.entry !== entry) continue
    if (entry === 'directory' || now.state.sha256 === after?.sha256) disk.put(path, undefined)
  }
  disk.keep()
}

function isFile(state: PathState | 'other' | undefined): boolean {
  return typeof state === 'object' && state.entry === 'file'
}

/** What a repository that is to go holds besides what goes. */
function othersIn(
  repository: string,
  observer: Observer,
  repositories: Repositories,
  goes: (path: string) => boolean,
): 'nothing' | 'objects' | 'other things' {
  let found: 'nothing' | 'objects' = 'nothing'
  const folders = [repository]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of observer.names(folder)) {
      const path = join(folder, name)
      const isGoing = goes(path)
      if (!isGoing && repositories.ofObject(path) === undefined) return 'other things'
      if (!isGoing) found = 'objects'
      if (lstatSync(observer.folder(dirname(path)).at(name)).isDirectory()) folders.push(path)
    }
  }
  return found
}

/** Whether an index says what the change left in it, although its bytes are others. */
export function saysTheSame(
  current: PathState | 'other' | undefined,
  { record, change, places }: { record: SavedRecord; change: Change; places: StorePlaces },
): boolean {
  const expected = record.gitIndexes.get(change.path)
  if (expected === undefined || current === undefined || current === 'other' || current.entry !== 'file')
    return false
  const { content, state } = current
  if (state.mode !== change.after?.mode || state.sha256 === undefined || content === undefined) return false
  const digest =
    content.from === 'disk'
      ? indexAt(content.path, state)
      : indexDigest(readKept(places, content.record, state.sha256))
  return digest === expected
}
