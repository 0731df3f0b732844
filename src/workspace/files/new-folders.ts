import { rmdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Change } from '../undo/undo-record.ts'
import { type PinnedDirectory, pinNewDirectory } from './pinned-directory.ts'

interface CreatedFolder {
  readonly parent: PinnedDirectory
  readonly name: string
  readonly folder: PinnedDirectory
  /** False when somebody else made it at the same moment. */
  readonly isNew: boolean
}

/** The missing folders on the way to a new file. Owns their descriptors: close it. */
export class NewFolders {
  readonly #base: PinnedDirectory
  readonly #names: readonly string[]
  readonly #created: CreatedFolder[] = []

  /** `base`: the deepest folder that exists; `names`: those below it that do not. */
  constructor(base: PinnedDirectory, names: readonly string[]) {
    this.#base = base
    this.#names = names
  }

  /** What will be created, for the record; must be sealed before `create`. */
  changes(): Change[] {
    return this.#names.map((_, index) => ({
      change: 'created',
      path: join(this.#base.real, ...this.#names.slice(0, index + 1)),
      entry: 'directory',
      // Whatever the system makes of it.
      after: { mode: 0o777, size: 0 },
    }))
  }

  /** The deepest of them; `base` when none was missing. */
  create(): PinnedDirectory {
    let parent = this.#base
    for (const name of this.#names) {
      const { folder, created } = pinNewDirectory(parent, name)
      this.#created.push({ parent, name, folder, isNew: created })
      parent = folder
    }
    return parent
  }

  /** All folders that have new names in them, without the deepest. */
  parents(): PinnedDirectory[] {
    return this.#created.map(({ parent }) => parent)
  }

  /** The changes that were really ours, out of those of a record. */
  withoutForeign(changes: readonly Change[]): Change[] {
    const foreign = new Set(this.#created.filter(each => !each.isNew).map(each => each.folder.real))
    return changes.filter(change => !foreign.has(change.path))
  }

  /** Of the changes of a record, the folders that we made. */
  ownFolders(changes: readonly Change[]): Change[] {
    const own = new Set(this.#created.filter(each => each.isNew).map(each => each.folder.real))
    return changes.filter(({ change, path }) => change === 'created' && own.has(path))
  }

  /** After a failure. A folder that somebody has used meanwhile stays. */
  takeBack(): void {
    for (const { parent, name, isNew } of this.#created.toReversed()) {
      if (!isNew) continue
      try {
        rmdirSync(parent.at(name))
      } catch {
        // Not empty any more, or gone: not ours to remove.
      }
    }
  }

  close(): void {
    for (const { folder } of this.#created) folder.close()
  }
}
