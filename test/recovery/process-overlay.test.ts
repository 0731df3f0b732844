import { execFileSync, spawn } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recoverOverlays } from '../../src/sandbox/layer/overlay-commit.ts'
import { AS_NOBODY, NOBODY, noOrdinaryUser, noSandbox } from '../support/skips.ts'

const FILES = 400
const state = { workspace: '' }

beforeEach(() => {
  state.workspace = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
  mkdirSync(join(state.workspace, '.kogu/overlay'), { recursive: true })
  mkdirSync(join(state.workspace, 'old'))
  for (let index = 0; index < FILES; index += 1)
    writeFileSync(join(state.workspace, 'old', `${index}`), 'old')
})
afterEach(() => rmSync(state.workspace, { recursive: true, force: true }))

/** Kogu, as far as it matters here: prints `deciding` before the changes are brought over, `done` after. */
const KOGU = `
  import { createProcesses } from '../../src/sandbox/processes/processes.ts'
  import { createSandbox } from '../../src/sandbox/walls/sandbox.ts'
  import { findSandboxSystem } from '../../src/sandbox/walls/system.ts'
  import { runOnOverlay } from '../../src/sandbox/layer/overlay.ts'
  import { commitOverlay } from '../../src/sandbox/layer/overlay-commit.ts'
  import { DEFAULT_SANDBOX_LIMITS as limits } from '../../src/core/sandbox.ts'
  const workspace = process.argv[1]
  const processes = createProcesses()
  const sandbox = createSandbox({ processes, system: findSandboxSystem() })
  const profile = { writable: [workspace], readable: [], hidden: [], protected: [], network: 'none', unixSockets: false,
    env: { PATH: '/usr/bin:/bin' }, cwd: workspace, limits }
  const command = { file: '/bin/bash', args: ['-c', process.argv[2]], timeoutMs: 60000, signal: new AbortController().signal }
  const run = await runOnOverlay(sandbox, processes, { workspace, folder: workspace + '/.kogu/overlay/x', profile, command })
  process.stdout.write('deciding ')
  await commitOverlay(run.changes, { refusal: () => null, keep: async () => {}, committed: async () => {} })
  process.stdout.write('done')
  await processes.close()
`
const FLAGS = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e']
const CHANGE = `rm -rf old; mkdir new; cd new; for i in $(seq ${FILES}); do echo new > $i; done; mkdir ../old; echo x > ../old/x`

function startKogu(): { output: string[]; kill(): void; exited: Promise<void> } {
  const output: string[] = []
  const kogu = spawn(process.execPath, [...FLAGS, KOGU, state.workspace, CHANGE], {
    cwd: import.meta.dirname,
  })
  kogu.stdout.on('data', chunk => output.push(String(chunk)))
  kogu.stderr.on('data', chunk => output.push(String(chunk)))
  return {
    output,
    kill: () => kogu.kill('SIGKILL'),
    exited: new Promise(resolve => kogu.on('close', () => resolve())),
  }
}

function outcome(): 'all' | 'none' | 'mixed' {
  const names = readdirSync(state.workspace).filter(name => name !== '.kogu')
  const old = readdirSync(join(state.workspace, 'old')).length
  if (names.length === 1 && old === FILES) return 'none'
  const fresh = names.includes('new') ? readdirSync(join(state.workspace, 'new')).length : 0
  const whole = fresh === FILES && readFileSync(join(state.workspace, `new/${FILES}`), 'utf8') === 'new\n'
  return whole && old === 1 ? 'all' : 'mixed'
}

test.skipIf(noSandbox !== '').each([0, 4, 9, 16, 30])(
  `a Kogu killed %i ms into bringing changes over leaves all of them or none after the next start${noSandbox}`,
  async delay => {
    const kogu = startKogu()
    while (!kogu.output.join('').includes('deciding')) await sleep(2)
    await sleep(delay)
    kogu.kill()
    await kogu.exited
    const recovered = await recoverOverlays(join(state.workspace, '.kogu/overlay'))
    expect(outcome()).not.toBe('mixed')
    for (const { outcome: told } of recovered) expect(outcome()).toBe(told === 'finished' ? 'all' : 'none')
    expect(readdirSync(join(state.workspace, '.kogu/overlay'))).toEqual([])
  },
)

test.skipIf(noSandbox !== '')(
  `a Kogu killed while the command runs leaves none of its changes${noSandbox}`,
  async () => {
    const kogu = startKogu()
    const folder = join(state.workspace, '.kogu/overlay/x/upper/new')
    while (countOf(folder) < 10) await sleep(2)
    kogu.kill()
    await kogu.exited
    expect(await recoverOverlays(join(state.workspace, '.kogu/overlay'))).toMatchObject([
      { outcome: 'discarded' },
    ])
    expect(outcome()).toBe('none')
  },
)

const whyNoOther = noSandbox || noOrdinaryUser

test.skipIf(whyNoOther !== '').each([
  [
    'changes',
    'rm afile; chmod u+w ro; rm ro/a; echo b > ro/b; chmod u-w ro; echo new > n; echo changed > zfile',
  ],
  [
    'makes',
    'rm afile; mkdir -p made/in; echo b > made/in/b; chmod -R a-w made; echo new > n; echo changed > zfile',
  ],
  ['deletes', 'rm afile; chmod -R u+w ro; rm -r ro; echo new > n; echo changed > zfile'],
])(
  `a command of an ordinary user that %s closed folders is brought over whole${whyNoOther}`,
  (_what, script) => {
    const { workspace } = state
    const at = (path: string): string => join(workspace, path)
    rmSync(at('old'), { recursive: true })
    for (const path of ['', '.kogu', '.kogu/overlay']) chownSync(at(path), NOBODY, NOBODY)
    const asOther = (...program: string[]): string => {
      const [file = '', ...words] = [...AS_NOBODY, ...program]
      return execFileSync(file, words, { cwd: import.meta.dirname, encoding: 'utf8' })
    }
    const prepare =
      'cd "$0"; echo a > afile; echo z > zfile; mkdir -p ro/deep; echo a > ro/a; chmod -R a-w ro'
    asOther('/bin/sh', '-ec', prepare, workspace)
    asOther(process.execPath, ...FLAGS, KOGU, workspace, script)
    expect(existsSync(at('afile'))).toBe(false)
    expect(readFileSync(at('zfile'), 'utf8')).toBe('changed\n')
    expect(readFileSync(at('n'), 'utf8')).toBe('new\n')
    const closed = ['ro', 'ro/deep', 'made', 'made/in'].filter(path => existsSync(at(path)))
    expect(closed.map(path => statSync(at(path)).mode & 0o222)).toEqual(closed.map(() => 0))
    expect(existsSync(at('ro/a'))).toBe(script.includes('made'))
    expect(existsSync(at('ro/b'))).toBe(script.includes('ro/b'))
    expect(readdirSync(at('.kogu/overlay'))).toEqual([])
  },
)

function countOf(folder: string): number {
  try {
    return readdirSync(folder).length
  } catch {
    // The command has not made it yet.
    return 0
  }
}
