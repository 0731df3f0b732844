import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isFolderOrMissing } from '../../core/made-here.ts'

/** Where the output of a background command lies, older part first. */
export function logFiles(folder: string): string[] {
  if (!isFolderOrMissing(folder)) return []
  return [join(folder, 'output.older'), join(folder, 'output')].filter(path => existsSync(path))
}

/** Keeps the newest output: two files of half the limit, of which the older is dropped for the next. */
export function createBackgroundLog(folder: string, limit: number) {
  const path = join(folder, 'output')
  const state = { file: openSync(path, 'wx', 0o600), bytes: 0, total: 0 }
  return {
    write(chunk: Uint8Array): void {
      if (state.bytes > 0 && state.bytes + chunk.length > limit / 2) {
        closeSync(state.file)
        renameSync(path, join(folder, 'output.older'))
        state.file = openSync(path, 'wx', 0o600)
        state.bytes = 0
      }
      for (let done = 0; done < chunk.length; ) done += writeSync(state.file, chunk, done)
      state.bytes += chunk.length
      state.total += chunk.length
    },
    close: () => closeSync(state.file),
  }
}
