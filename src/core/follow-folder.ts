import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Watches a folder; as long as it is not there, the nearest one above it, for the name that leads to it. */
export function followFolder(
  folder: string,
  watchers: Set<FSWatcher>,
  changed: (name: string | null) => void,
): void {
  let at = folder
  let awaited: string | undefined
  while (!existsSync(at) && dirname(at) !== at) {
    awaited = basename(at)
    at = dirname(at)
  }
  try {
    const watcher = watch(at, { persistent: false }, (_, name) => {
      if (awaited === undefined) return changed(name)
      if (name !== awaited) return
      watcher.close()
      watchers.delete(watcher)
      followFolder(folder, watchers, changed)
      // What was put into it before it was watched counts too.
      changed(null)
    })
    watcher.on('error', () => watcher.close())
    watchers.add(watcher)
  } catch {
    // The machine has no watcher left: what is new comes with the next start.
  }
}
