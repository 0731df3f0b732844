import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, vi } from 'vitest'

/** For each test of a file: a folder with a workspace, and one for a supervisor, which ends with the test. */
export function useBackgroundPlace(): { root: string; folder: string } {
  const state = { root: '', folder: '' }
  beforeEach(() => {
    state.root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
    // Longer than the name of a socket may be.
    state.folder = join(state.root, 'deep/'.repeat(30), 'background')
    mkdirSync(join(state.root, 'work'))
  })
  afterEach(async () => {
    const lock = join(state.folder, 'supervisor.lock')
    const supervisor = Number(existsSync(lock) ? readFileSync(lock, 'utf8').split(' ')[0] : 0)
    if (supervisor > 0 && existsSync(`/proc/${supervisor}`)) process.kill(supervisor, 'SIGKILL')
    await vi.waitUntil(() => supervisor === 0 || !existsSync(`/proc/${supervisor}`), { timeout: 30_000 })
    // Its commands die a moment after it, and may still be writing.
    rmSync(state.root, { recursive: true, force: true, maxRetries: 10 })
  })
  return state
}

/** Living processes whose command line has this word. */
export function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(name => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
        return words.at(-2) === word && !/\) Z /.test(readFileSync(`/proc/${name}/stat`, 'utf8'))
      } catch {
        // It ended while we looked.
        return false
      }
    })
    .map(Number)
}

/** The control groups that this process has made. Tests of other files may have run in it too: compare with before. */
export function ownGroups(): string[] {
  const trees = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .flatMap(line => (/ cgroup2? /.test(line) ? [line.split(' ')[1] ?? ''] : []))
  return trees.flatMap(tree =>
    readdirSync(tree)
      .filter(name => name.startsWith(`kogu-${process.pid}-`))
      .map(name => join(tree, name)),
  )
}
