import { accessSync, constants, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Effect } from '../../core/effects.ts'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { settleRecord } from '../undo/settle-record.ts'
import { type Change, toEffect } from '../undo/undo-record.ts'
import { changedMeanwhile } from './entry.ts'
import { type PinnedDirectory, pinDirectory } from './pinned-directory.ts'
import { goneNameOf, newTemporary } from './replace-file.ts'
import { type CallScope, locateEntry, requireChangeable } from './scope.ts'
import { isUnchanged, putBack, removeTree, surveyTree, type TreeEntry } from './tree.ts'

// Removing a file, link or whole folder: everything is kept first; then it disappears at once, by one rename to a
// temporary name beside it; then, when it is certain that nothing in it changed while it was being kept, it is renamed
// once more (`…-gone`: the point of no return, for whoever cleans up after a kill) and taken apart.

/** Files.remove: see there. */
export async function removeEntry(scope: CallScope, path: string): Promise<Effect[]> {
  const { real } = locateEntry(scope, path, ['file_delete'])
  return scope.locks.hold([real], async () => {
    const place = locateEntry(scope, path, ['file_delete'])
    if (place.missing.length > 0) throw new ToolError('not_found', `No such file or folder: ${place.real}`)
    const folder = pinDirectory(dirname(place.real))
    try {
      return await removeFrom(scope, folder, basename(place.real))
    } finally {
      folder.close()
    }
  })
}

async function removeFrom(scope: CallScope, folder: PinnedDirectory, name: string): Promise<Effect[]> {
  const record = scope.undo.begin(scope.call)
  const temporary = newTemporary()
  const gone = goneNameOf(temporary)
  let newcomers = false
  try {
    const check = (path: string): void => requireChangeable(scope.permit, path)
    const survey = await surveyTree(folder, name, { check, keep: record })
    refuseClosed(survey)
    record.temporary(join(folder.real, temporary), join(folder.real, name))
    record.temporary(join(folder.real, gone))
    for (const each of survey.toReversed()) record.add(deletion(each))
    scope.assertOpen()
    record.seal()
    renameSync(folder.at(name), folder.at(temporary))
    if (!isUnchanged(folder, temporary, survey)) {
      putBack(folder, temporary, name)
      throw changedMeanwhile(join(folder.real, name))
    }
    renameSync(folder.at(temporary), folder.at(gone))
    const whole = removeTree(folder, gone, survey)
    record.commit()
    newcomers = !whole
  } catch (error) {
    await settleRecord(record)
    throw error
  } finally {
    scope.effects.push(...record.changes.map(toEffect))
  }
  scope.undo.syncSoon(folder)
  for (const change of record.changes) scope.receipts.delete(change.path)
  if (newcomers) keepNewcomers(folder, gone, name)
  return record.changes.map(toEffect)
}

/** As for everybody: what is in a folder that is closed for writing cannot be removed. Found out before anything is. */
function refuseClosed(survey: readonly TreeEntry[]): void {
  for (const path of new Set(survey.slice(1).map(each => dirname(each.path)))) {
    try {
      accessSync(path, constants.W_OK | constants.X_OK)
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EACCES') throw error
      throw new ToolError('failed', `This folder is not writable, so nothing was removed: ${path}`, {
        hint: 'Make it writable with chmod u+wx, or remove only what is outside it.',
      })
    }
  }
}

export function deletion({ path, entry, state, target, content, owner }: TreeEntry): Change {
  return {
    change: 'deleted',
    path,
    entry,
    before: state,
    ...(target === undefined ? {} : { target: { before: target } }),
    ...(owner === undefined ? {} : { owner }),
    ...(content === undefined ? {} : { content }),
    ...(entry === 'file' && content === undefined ? { undoable: false } : {}),
  }
}

function keepNewcomers(folder: PinnedDirectory, gone: string, name: string): void {
  putBack(folder, gone, name)
  throw new ToolError(
    'conflict',
    `Files were added while the folder was being removed; only they are left: ${folder.real}/${name}`,
  )
}
