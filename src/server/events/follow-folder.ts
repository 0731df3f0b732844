import { type FSWatcher, watch } from 'node:fs'

export interface FollowedFolder {
  /** Begins, when the folder has come into being since. */
  follow(): void
  close(): void
}

/**
 * Calls back as soon as something in a folder changes. Not every file system tells of it, so whoever needs to know for sure
 * looks by itself now and then.
 */
export function followFolder(folder: string, onChange: () => void): FollowedFolder {
  let watcher: FSWatcher | undefined
  const stop = (): void => {
    watcher?.close()
    watcher = undefined
  }
  const follow = (): void => {
    if (watcher !== undefined) return
    try {
      watcher = watch(folder, { persistent: false }, onChange)
      watcher.on('error', stop)
    } catch {
      // It is not there yet, or the system has no more watches: a regular look finds everything too.
    }
  }
  follow()
  return { follow, close: stop }
}
