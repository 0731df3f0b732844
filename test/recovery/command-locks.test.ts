import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { tryLock } from '../../src/core/lock-file.ts'
import { recoverOverlays } from '../../src/sandbox/layer/overlay-commit.ts'
import { createPathLocks } from '../../src/workspace/files/path-locks.ts'
import { openTestRuntime } from '../support/runtime.ts'
import { noSandbox } from '../support/skips.ts'

test.skipIf(noSandbox !== '')(
  `a command waits for a file that another Kogu is writing, and sees what it wrote${noSandbox}`,
  async () => {
    const kogu = await openTestRuntime('[[permissions.rules]]\ntool = "run_command"\ndecision = "allow"\n')
    onTestFinished(() => kogu.close())
    kogu.write('shared', 'old')
    // Its first call marks the state as its own. Locks in a folder that nobody marked are put aside with it.
    await kogu.runtime.call({ tool: 'read_file', input: { path: 'shared' } })
    const path = join(kogu.workspace, 'shared')
    const locks = createPathLocks(join(kogu.workspace, '.kogu/locks'))
    const call = await locks.hold([path], async () => {
      const running = kogu.runtime.call({ tool: 'run_command', input: { command: 'echo mine > shared' } })
      const written = (): boolean =>
        layers(kogu.workspace).some(layer => contentOf(join(layer, 'upper/shared')) === 'mine\n')
      // A call that ends while the lock is held did not wait for it, and its result says why.
      expect(await Promise.race([until(written), running])).toBe(undefined)
      writeFileSync(path, 'theirs')
      return { running }
    })
    locks.close()
    expect(await call.running).toMatchObject({ ok: false, error: { code: 'conflict' } })
    expect(readFileSync(path, 'utf8')).toBe('theirs')
    expect(readdirSync(kogu.workspace).filter(name => name.startsWith('shared'))).toEqual(['shared'])
  },
)

test('a layer that another Kogu is just making is left alone', async () => {
  const kogu = await openTestRuntime()
  onTestFinished(() => kogu.close())
  const directory = join(kogu.workspace, 'overlays')
  mkdirSync(join(directory, 'draft-x'), { recursive: true })
  expect(await recoverOverlays(directory)).toEqual([])
  expect(readdirSync(directory)).toEqual(['draft-x'])
})

test('the draft of a layer whose process died goes with the next start, whatever the clock says', async () => {
  const kogu = await openTestRuntime()
  onTestFinished(() => kogu.close())
  const directory = join(kogu.workspace, 'overlays')
  for (const name of ['draft-dead', 'draft-later', 'draft-alive'])
    mkdirSync(join(directory, name), { recursive: true })
  writeFileSync(join(directory, 'draft-dead/lock'), '999999999 1 gone/gone 00')
  const lock = tryLock(join(directory, 'draft-alive/lock'))
  const tomorrow = Date.now() / 1000 + 86_400
  for (const name of ['draft-later', 'draft-alive']) utimesSync(join(directory, name), tomorrow, tomorrow)
  expect(await recoverOverlays(directory)).toEqual([])
  expect(readdirSync(directory)).toEqual(['draft-alive'])
  lock?.release()
})

test('a layer that a killed Kogu was about to remove is removed, and nothing is told', async () => {
  const kogu = await openTestRuntime()
  onTestFinished(() => kogu.close())
  const directory = join(kogu.workspace, 'overlays')
  mkdirSync(join(directory, 'gone-x/upper'), { recursive: true })
  expect(await recoverOverlays(directory)).toEqual([])
  expect(readdirSync(directory)).toEqual([])
})

test('many that start at the same moment settle a left layer once, and none of them fails', async () => {
  const kogu = await openTestRuntime()
  onTestFinished(() => kogu.close())
  for (let round = 0; round < 20; round += 1) {
    const directory = join(kogu.workspace, `overlays-${round}`)
    mkdirSync(join(directory, 'left/upper'), { recursive: true })
    const settled = await Promise.all([1, 2, 3, 4].map(() => recoverOverlays(directory)))
    expect(settled.flat().length).toBeGreaterThanOrEqual(1)
    expect(readdirSync(directory)).toEqual([])
  }
})

function layers(workspace: string): string[] {
  const folder = join(workspace, '.kogu/overlays')
  try {
    return readdirSync(folder).map(name => join(folder, name))
  } catch {
    return []
  }
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5)
}
