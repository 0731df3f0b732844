import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recoverOverlays } from '../../src/sandbox/layer/overlay-commit.ts'
import { createTestWorkspace, snapshot } from '../../src/workspace/testing.ts'
import { recoverWorkspace } from '../../src/workspace/undo/recovery.ts'
import { applyUndo } from '../../src/workspace/undo/undo-apply.ts'
import { listCalls, planUndo } from '../../src/workspace/undo/undo-plan.ts'
import { listRecords } from '../../src/workspace/undo/undo-read.ts'
import { AS_NOBODY, NOBODY, noOrdinaryUser, noSandbox } from '../support/skips.ts'

const FILES = 300
const RECORDER = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'command-recorder.ts')]
const state = { workspace: '' }

beforeEach(() => {
  state.workspace = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
  mkdirSync(at('.kogu/overlay'), { recursive: true })
  mkdirSync(at('old/empty'), { recursive: true })
  symlinkSync('nowhere', at('old/link'))
  for (let n = 0; n < FILES; n += 1)
    writeFileSync(at(`old/${n}`), `old ${n}`, { mode: n % 2 ? 0o600 : 0o755 })
})
afterEach(() => rmSync(state.workspace, { recursive: true, force: true }))

const at = (path: string): string => join(state.workspace, path)

function filesWithSeveralNames(): string[] {
  return Object.keys(snapshot(state.workspace)).filter(path => {
    const stat = lstatSync(at(path))
    return stat.isFile() && stat.nlink > 1
  })
}

async function undoCommand(): Promise<void> {
  const { undo, close } = createTestWorkspace({ root: state.workspace })
  const plan = await planUndo(undo, { calls: ['command'] })
  await applyUndo(undo, plan, { call: { id: 'undo', run: 'run', tool: 'undo' }, mayChange: () => true })
  await close()
}

/** What the next start does. Whether the command is on record then. */
async function recover(): Promise<boolean> {
  await recoverOverlays(at('.kogu/overlay'))
  const { undo, close } = createTestWorkspace({ root: state.workspace })
  const report = await recoverWorkspace(undo, at('.kogu/locks'))
  const isRecorded = listCalls(undo).some(({ call }) => call === 'command')
  const recorded = listRecords(undo.places).map(({ header }) => header.id)
  const kept = readdirSync(undo.places.files)
  await close()
  expect(report.problems).toEqual([])
  expect(kept.filter(id => !recorded.includes(id))).toEqual([])
  expect(filesWithSeveralNames()).toEqual([])
  return isRecorded
}

test.skipIf(noSandbox !== '').each([0, 5, 10, 15, 20, 30, 45])(
  `a Kogu killed %i ms into recording and making deletions has made all of them or none, and can undo them${noSandbox}`,
  async delay => {
    const before = snapshot(state.workspace)
    const output: string[] = []
    const kogu = spawn(process.execPath, [
      ...RECORDER,
      state.workspace,
      'rm -r old; mkdir new; echo x > new/x',
    ])
    const exited = new Promise(resolve => kogu.on('close', resolve))
    kogu.stdout.on('data', chunk => output.push(String(chunk)))
    kogu.stderr.on('data', chunk => output.push(String(chunk)))
    while (!output.join('').includes('deciding') && kogu.exitCode === null) await sleep(1)
    expect(output.join('')).toMatch(/^deciding /)
    await sleep(delay)
    kogu.kill('SIGKILL')
    await exited
    const isRecorded = await recover()
    if (isRecorded) {
      expect(Object.keys(snapshot(state.workspace))).toEqual(['new', 'new/x'])
      await undoCommand()
    }
    expect(snapshot(state.workspace)).toEqual(before)
    expect(filesWithSeveralNames()).toEqual([])
  },
)

const whyNoOther = noSandbox || noOrdinaryUser

function giveAway(path: string): void {
  chownSync(path, NOBODY, NOBODY)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) if (name !== 'link') giveAway(join(path, name))
}

function runAsOther(line: string): string {
  const recorder = [process.execPath, ...RECORDER, state.workspace, line, 'undo']
  const [file = '', ...words] = [...AS_NOBODY, ...recorder]
  return execFileSync(file, words, { encoding: 'utf8' })
}

/** Runs a command as another user, takes it back, and expects everything to be as before. */
function runAndUndoAsOther(line: string): void {
  giveAway(state.workspace)
  const before = snapshot(state.workspace)
  expect(runAsOther(line)).toContain('done')
  expect(snapshot(state.workspace)).toEqual(before)
  expect(filesWithSeveralNames()).toEqual([])
}

test.skipIf(whyNoOther !== '').each([
  ['one that is deleted', 'chmod -R u+w old; rm -r old'],
  ['one that stays', 'chmod u+w old; rm old/1* old/2*; chmod u-w old'],
])(`undo as an ordinary user gives files back to a closed folder, %s${whyNoOther}`, (_which, line) => {
  for (const path of ['old/empty', 'old']) chmodSync(at(path), 0o555)
  runAndUndoAsOther(line)
})

test.skipIf(whyNoOther !== '').each([
  ['files that are one file by now', 'echo x > old/0; ln old/0 old/new; ln -f old/0 old/1'],
  ['very many files, some of them not writable', 'for n in old/[0-9]*; do echo x > $n; chmod 444 $n; done'],
  ['files that their owner may not read', 'chmod 0 old/0; echo x > old/1; chmod 0 old/1; rm old/link'],
])(`undo as an ordinary user gives back the contents and modes of %s${whyNoOther}`, (_which, line) => {
  runAndUndoAsOther(line)
})

test.skipIf(whyNoOther !== '').each([
  ['of files in it', 'echo x > old/0; rm old/1; chmod 0 old/empty old'],
  ['that is new', 'mkdir -p new/in; echo x > new/in/x; chmod 0 new/in new'],
  ['in another one', 'mkdir old/in; echo x > old/in/x; rm old/2; chmod 0 old/in; chmod 111 old'],
])(
  `undo as an ordinary user names a folder that is closed now, %s, and touches nothing${whyNoOther}`,
  async (_which, line) => {
    const before = snapshot(state.workspace)
    giveAway(state.workspace)
    expect(() => runAsOther(line)).toThrow(/Nothing was undone\. .*closed to you; open it first, with chmod/)
    await undoCommand()
    expect(snapshot(state.workspace)).toEqual(before)
  },
)
