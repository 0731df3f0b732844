import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { tryLock } from '../../core/lock-file.ts'
import type { SandboxProfile } from '../../core/sandbox.ts'
import type { SandboxProcesses } from '../processes/processes.ts'
import type { Sandbox, SandboxCommand, SandboxResult } from '../walls/sandbox.ts'
import { type DiskLimits, exceeds, watchDisk } from './disk-watch.ts'
import { copyAfresh } from './fresh-copy.ts'
import { findOpaqueFolders } from './opaque-folders.ts'
import { foldersOnBothSides, type OverlayChanges, readOverlay } from './overlay-changes.ts'
import { emptyFolder } from './remove-tree.ts'

export interface OverlayRequest {
  /** A real path. The command sees it as always; what it changes there goes to the overlay. */
  workspace: string
  /** A folder that does not exist yet, on the same file system as the workspace. */
  folder: string
  profile: SandboxProfile
  command: SandboxCommand
  /**
   * Whether no other sandbox lives that could have been handed descriptors on files of the layer. Asked when all processes
   * of the command are gone; where it is not certain, the layer is copied first.
   */
  isAlone?: () => Promise<boolean>
  /** A command that writes more, to its layer or elsewhere on the disk, is ended, and nothing of it is kept. */
  limits?: DiskLimits
}

export interface OverlayRun {
  result: SandboxResult
  changes: OverlayChanges
  /** Throws away what the command did. */
  discard(): void
}

/**
 * Runs a command on a layer over the workspace, which stays as it is: the layer holds what the command changed. To
 * bring it over is `commitOverlay`; a preview reads the changes and discards.
 */
export async function runOnOverlay(
  sandbox: Sandbox,
  processes: SandboxProcesses,
  request: OverlayRequest,
): Promise<OverlayRun> {
  const { workspace, folder } = request
  const discard = (): void => removeOverlay(folder)
  createOverlay(workspace, folder)
  try {
    const startedMs = statSync(join(folder, 'upper')).ctimeMs
    const result = await runWithin(sandbox, request)
    const upper = join(folder, 'upper')
    const closed = new Map<string, number>()
    makeReadable(upper, (path, mode) => closed.set(path, mode))
    const opaque = await findOpaqueFolders(processes, upper, {
      folders: foldersOnBothSides(workspace, upper),
      isPrivileged: sandbox.isPrivileged,
    })
    if (request.isAlone !== undefined && !(await request.isAlone())) copyAfresh(folder)
    const found = readOverlay(workspace, upper, { opaque, closed })
    return { result, changes: { workspace, upper, startedMs, ...found }, discard }
  } catch (error) {
    discard()
    throw error
  }
}

async function runWithin(sandbox: Sandbox, request: OverlayRequest): Promise<SandboxResult> {
  const { workspace, folder, profile, command, limits } = request
  if (limits === undefined) return sandbox.run(profile, command, { workspace, folder })
  const full = new AbortController()
  // Beside the layer, folders of the disk that the command has in the place of others.
  const written = [join(folder, 'upper'), ...(profile.replaced ?? []).flatMap(({ source }) => source ?? [])]
  let started: number | undefined
  const endWatch = watchDisk(written, limits, { pid: () => started, stop: () => full.abort() })
  try {
    const signal = AbortSignal.any([command.signal, full.signal])
    const onStarted = (pid: number): void => {
      started = pid
      command.onStarted?.(pid)
    }
    const result = await sandbox.run(profile, { ...command, signal, onStarted }, { workspace, folder })
    // What is written faster than we look is seen now.
    if (!full.signal.aborted && !exceeds(written, limits)) return result
    throw new ToolError(
      'failed',
      'The command wrote too much to the disk, so it was stopped and none of its changes were kept.',
      {
        hint: `What it changes may take ${Math.round(limits.bytes / 1024 ** 2)} MiB and ${limits.entries} entries.`,
      },
    )
  } finally {
    endWatch()
  }
}

/** Null when commands can run on a layer over this folder, else the reason why not. */
export function overlayProblem(workspace: string): string | null {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const inside = mounts
    .map(line =>
      (line.split(' ')[4] ?? '').replaceAll(/\\(\d{3})/g, (_, code) =>
        String.fromCharCode(Number.parseInt(code, 8)),
      ),
    )
    .find(point => point.startsWith(`${workspace}/`))
  if (inside !== undefined)
    return `${inside} is another file system, which a layer over ${workspace} would not show.`
  if (!existsSync('/bin/mount') || !existsSync('/usr/bin/unshare'))
    return 'The programs mount and unshare are missing.'
  return null
}

/** How the names of layers begin that are not locked yet. */
export const DRAFT = 'draft-'

function createOverlay(workspace: string, folder: string): void {
  // Under another name until it is locked: the lock says that its owner lives, and what has no living owner is settled
  // by whoever starts next, which may be at this moment.
  const draft = join(dirname(folder), `${DRAFT}${basename(folder)}`)
  mkdirSync(draft, { mode: 0o700 })
  tryLock(join(draft, 'lock'))
  renameSync(draft, folder)
  for (const name of ['upper', 'work', 'merged']) mkdirSync(join(folder, name), { mode: 0o700 })
  // The root of the layer takes its mode from here.
  chmodSync(join(folder, 'upper'), lstatSync(workspace).mode & 0o1777)
  // By a link, because commas and colons in the path of the workspace would be taken for mount options.
  symlinkSync(workspace, join(folder, 'lower'))
}

/** How the names of layers begin that only have to be removed. */
export const GONE = 'gone-'
/** Until the result is out. */
const SOON_MS = 10

/** For a layer on which nothing changed: nobody waits until it is removed. What is left of it goes with the next start. */
export function removeOverlaySoon(folder: string): void {
  const gone = putAside(folder)
  setTimeout(() => {
    try {
      removeOverlay(gone)
    } catch {
      // The workspace itself was removed meanwhile, or cannot be written any more.
    }
  }, SOON_MS)
}

export function removeOverlay(folder: string): void {
  const gone = putAside(folder)
  for (const name of ['work', 'upper', 'left']) {
    const found = lstatSync(join(gone, name), { throwIfNoEntry: false })
    if (found?.isDirectory() === true) emptyFolder(join(gone, name))
  }
  rmSync(gone, { recursive: true, force: true })
}

/** In one step: by a layer of which a kill left only a part, the next start could not tell whether its changes were kept. */
function putAside(folder: string): string {
  if (basename(folder).startsWith(GONE)) return folder
  const gone = join(dirname(folder), `${GONE}${basename(folder)}`)
  if (existsSync(folder)) renameSync(folder, gone)
  return gone
}

/** Below what a system call takes, with room for a name. */
const LONGEST_PATH = 3800

/**
 * Gives its owner every right over a folder and those in it, which a command may have taken away. Calls `onOpened` for
 * each that lacked some. Names as bytes: not all of them are text.
 */
export function makeReadable(
  root: string,
  onOpened: (path: string, mode: number) => void = () => undefined,
): void {
  const visit = (folder: Buffer): void => {
    if (folder.length > LONGEST_PATH) throw nestedTooDeeply()
    const { mode } = lstatSync(folder)
    if ((mode & 0o700) !== 0o700) {
      chmodSync(folder, 0o700)
      onOpened(folder.subarray(root.length + 1).toString(), mode)
    }
    for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
      if (entry.isDirectory()) visit(Buffer.concat([folder, Buffer.from('/'), entry.name]))
    }
  }
  if (lstatSync(root, { throwIfNoEntry: false })?.isDirectory() === true) visit(Buffer.from(root))
}

function nestedTooDeeply(): ToolError {
  return new ToolError(
    'failed',
    'The command created folders that are nested too deeply, so none of its changes were kept.',
    { hint: `Paths may have ${LONGEST_PATH} bytes in all.` },
  )
}
