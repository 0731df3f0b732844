import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach } from 'vitest'

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
    await sleep(20)
    rmSync(state.root, { recursive: true, force: true })
  })
  return state
}
