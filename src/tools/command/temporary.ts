import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileLock, waitForLock } from '../../core/lock-file.ts'
import { isInside } from '../../core/real-path.ts'
import type { SandboxProfile } from '../../core/sandbox.ts'
import { removeFilledFolder } from '../../sandbox/layer/remove-tree.ts'
import { openRunFolder } from '../../sandbox/layer/run-folder.ts'
import type { CommandParts } from './parts.ts'
import { STATE_FOLDER } from './run-state.ts'

// The /tmp that the commands of one run share. Only one that was approved may change it, one at a time; what a preview or
// a command that was cut off left there is gone, as are its changes to the workspace. In a folder of the run:
//   files    what is seen as /tmp
//   lock     held by the command that may change it
//   changing there while it does: when nobody holds the lock, it was killed
//   own-*    a /tmp for one command alone;  state-*  where a command says how it ended

export interface CommandTemporary {
  /** For the profile of the sandbox. */
  readonly walls: Pick<SandboxProfile, 'privateTmp' | 'privateTmpIs'>
  /** Seen by the command at STATE_FOLDER. */
  readonly state: string
  /** Has to be called; a second call does nothing. Returns what the person has to know. */
  end(wasCut: boolean): string[]
}

export interface TemporaryUse {
  readonly runId: string
  readonly preview: boolean
  readonly readsOnly: boolean
  /** Nobody approved it: it shares nothing, and its /tmp is in memory, whose size is limited. */
  readonly contained: boolean
}

/** How long a line that only reads waits for others of its run. */
const PATIENCE_MS = 1000

export async function openTemporary(parts: CommandParts, use: TemporaryUse): Promise<CommandTemporary> {
  const root = openRunFolder(parts.places.temporary, use.runId)
  const state = mkdtempSync(join(root, 'state-'))
  const { walls, end } = await open(root, use, parts.workspace)
  const ended = { notes: undefined as string[] | undefined }
  return {
    walls,
    state,
    end(wasCut) {
      if (ended.notes !== undefined) return []
      ended.notes = end(wasCut)
      removeQuietly(state)
      return ended.notes
    },
  }
}

type Opened = Pick<CommandTemporary, 'walls' | 'end'>

async function open(root: string, use: TemporaryUse, workspace: string): Promise<Opened> {
  if (use.contained) return { walls: {}, end: () => [] }
  if (use.preview) return openOwn(root, [])
  const files = join(root, 'files')
  // The workspace is then mounted inside it, and nobody may put a link in its way meanwhile.
  const isAlone = !use.readsOnly || isInside(workspace, '/tmp')
  if (!isAlone) {
    mkdirSync(files, { recursive: true, mode: 0o700 })
    return { walls: { privateTmp: files, privateTmpIs: 'shared' }, end: () => [] }
  }
  const lock = await waitForLock(join(root, 'lock'), use.readsOnly ? PATIENCE_MS : 0)
  if (lock !== undefined) return openLocked(root, files, use.readsOnly, lock)
  if (use.readsOnly) return { walls: {}, end: () => [] }
  return openOwn(root, [
    'Another command of this run is still running, so this one had an empty /tmp of its own, which has been removed.',
  ])
}

function openOwn(root: string, notes: readonly string[]): Opened {
  const folder = mkdtempSync(join(root, 'own-'))
  return {
    walls: { privateTmp: folder },
    end() {
      removeQuietly(folder)
      return [...notes]
    },
  }
}

function openLocked(root: string, files: string, readsOnly: boolean, lock: FileLock): Opened {
  const changing = join(root, 'changing')
  if (existsSync(changing)) discard(root, files)
  mkdirSync(files, { recursive: true, mode: 0o700 })
  if (readsOnly) {
    rmSync(changing, { force: true })
    const end = (): string[] => {
      lock.release()
      return []
    }
    return { walls: { privateTmp: files, privateTmpIs: 'read-only' }, end }
  }
  writeFileSync(changing, '', { mode: 0o600 })
  return {
    walls: { privateTmp: files },
    end(wasCut) {
      const isEmptied = wasCut && readdirSync(files).length > 0
      if (isEmptied) discard(root, files)
      rmSync(changing, { force: true })
      lock.release()
      return isEmptied ? ["The command was stopped, so this run's /tmp was emptied."] : []
    },
  }
}

/** By its name first: what cannot be removed is at least not seen again. */
function discard(root: string, files: string): void {
  if (!existsSync(files)) return
  const gone = join(root, `own-${randomUUID()}`)
  renameSync(files, gone)
  removeQuietly(gone)
}

function removeQuietly(folder: string): void {
  try {
    removeFilledFolder(folder)
  } catch {
    // Somebody else's files are in it. Nobody uses the name again.
  }
}

/** How the command finds the folder for its state. */
export function stateFolderOf({ state }: CommandTemporary) {
  return { path: STATE_FOLDER, source: state }
}
