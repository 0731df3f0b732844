import { type ChildProcess, spawn } from 'node:child_process'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestWorkspace, snapshot } from '../../src/workspace/testing.ts'
import { recoverWorkspace } from '../../src/workspace/undo/recovery.ts'
import { applyUndo } from '../../src/workspace/undo/undo-apply.ts'
import { listCalls, planUndo } from '../../src/workspace/undo/undo-plan.ts'
import { listRecords } from '../../src/workspace/undo/undo-read.ts'

/** How often the long loop kills; `npm run bench -- file-kills` kills 200 times, and at every change instead of every fifth. */
const KILLS = Number(process.env.KOGU_KILLS ?? 20)
const STRIDE = KILLS >= 200 ? 1 : 5

let base: string
let writer: string
beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-kill-')))
  writer = join(base, 'writer.mjs')
  // Hundreds of processes: one file starts three times as fast as twenty.
  const input = join(import.meta.dirname, 'files-writer.ts')
  await build({ input, platform: 'node', logLevel: 'warn', output: { file: writer, format: 'esm' } })
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

function start(root: string, work: string, killAt = 0): ChildProcess {
  return spawn(process.execPath, [writer, root, work, String(killAt)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** The signal that ended it, or null. */
function ended(child: ChildProcess): Promise<string | null> {
  return new Promise(resolve => child.once('exit', (_, signal) => resolve(signal)))
}

function allNames(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
}

/** What the next start does and promises. */
async function recover(root: string): Promise<void> {
  const workspace = createTestWorkspace({ root })
  const report = await recoverWorkspace(workspace.undo, join(root, '.kogu', 'locks'))
  await workspace.close()
  expect(report.problems).toEqual([])
  const recorded = listRecords(workspace.undo.places).map(({ header }) => header.id)
  expect(readdirSync(workspace.undo.places.files).filter(id => !recorded.includes(id))).toEqual([])
  expect(allNames(root).filter(name => name.includes('kogu-tmp'))).toEqual([])
  expect(
    allNames(join(root, '.kogu')).filter(name => /pending\/.*(jsonl|owner)$|locks\/[0-9a-f]{32}$/.test(name)),
  ).toEqual([])
  const severalNames = Object.keys(snapshot(root)).filter(name => {
    const stat = lstatSync(join(root, name))
    return stat.isFile() && stat.nlink > 1
  })
  expect(severalNames.filter(name => !['linked.txt', 'second name'].includes(name))).toEqual([])
}

async function undoAll(root: string, calls: readonly string[], id = 'test'): Promise<void> {
  const workspace = createTestWorkspace({ root })
  const plan = await planUndo(workspace.undo, { calls })
  expect(plan.conflicts).toEqual([])
  await applyUndo(workspace.undo, plan, {
    call: { id, run: 'u', tool: 'undo' },
    mayChange: () => true,
  })
  await workspace.close()
}

test(`a process killed ${KILLS} times while it writes leaves whole files, no rubbish, and everything undoable`, {
  timeout: 180_000,
}, async () => {
  const root = join(base, 'endless')
  mkdirSync(root)
  const kills = Array.from({ length: KILLS }, (_, n) => 2 + ((n * 7) % 31))
  const lane = async (): Promise<void> => {
    for (let afterMs = kills.pop(); afterMs !== undefined; afterMs = kills.pop()) {
      const child = start(root, 'endless')
      const end = ended(child)
      await new Promise(resolve => child.stdout?.once('data', resolve))
      await sleep(afterMs)
      child.kill('SIGKILL')
      // Not before, by an error of its own.
      expect(await end).toBe('SIGKILL')
    }
  }
  await Promise.all([lane(), lane(), lane()])
  await recover(root)
  const files = allNames(root).filter(name => /file-\d\.txt$/.test(name))
  expect(files.length).toBeGreaterThan(0)
  for (const name of files) {
    const lines = readFileSync(join(root, name), 'utf8').split('\n')
    expect([lines.length, new Set(lines.slice(0, 200)).size, lines.at(-1)]).toEqual([201, 1, ''])
  }
  const workspace = createTestWorkspace({ root })
  const calls = listCalls(workspace.undo, { run: 'run' }).map(each => each.call)
  await workspace.close()
  await undoAll(root, calls)
  expect(snapshot(root)).toEqual({})
})

async function prepare(name: string): Promise<string> {
  const root = join(base, name)
  mkdirSync(join(root, 'tree/inner'), { recursive: true })
  writeFileSync(join(root, 'tree/one.txt'), '1')
  writeFileSync(join(root, 'tree/inner/large'), Buffer.alloc(100_000, 'l'))
  writeFileSync(join(root, 'linked.txt'), 'the old content')
  linkSync(join(root, 'linked.txt'), join(root, 'second name'))
  for (const file of ['a.txt', 'b.txt']) writeFileSync(join(root, file), `old ${file}`)
  const workspace = createTestWorkspace({ root })
  await workspace.write('b.txt', 'prepared', 'prepared')
  await workspace.write('c.txt', 'prepared', 'prepared')
  // Large enough to be set aside; two of them alike.
  for (const folder of ['gone', 'back']) {
    mkdirSync(join(root, folder))
    for (const file of ['1', '2']) writeFileSync(join(root, folder, file), Buffer.alloc(70_000, folder))
  }
  await workspace.remove('gone', 'removed')
  await workspace.remove('back', 'removed too')
  await workspace.close()
  await undoAll(root, ['removed too'], 'restored')
  return root
}

describe('a process killed right before any change it makes', () => {
  const undos = ['undo', 'undo of a removal', 'undo of an undo']
  const work = ['create', 'edit', 'remove', 'move', 'overwrite', 'hard link', ...undos]
  test.concurrent.each(work)(
    '%s: is done or not done, and undoable',
    { timeout: 180_000 },
    async operation => {
      const complete = await prepare(`${operation} complete`)
      const before = snapshot(complete)
      await ended(start(complete, operation))
      const after = snapshot(complete)
      expect(after).not.toEqual(before)
      for (let nth = 1 + (work.indexOf(operation) % STRIDE); ; nth += STRIDE) {
        const root = await prepare(`${operation} ${nth}`)
        if ((await ended(start(root, operation, nth))) === null) {
          expect(nth).toBeGreaterThan(8)
          break
        }
        await recover(root)
        const now = snapshot(root)
        // New folders come first, and undo changes several files; each path is old or new.
        for (const [path, state] of Object.entries(now)) expect([before[path], after[path]]).toContain(state)
        if (!['create', 'move', ...undos].includes(operation)) expect([before, after]).toContainEqual(now)
        const workspace = createTestWorkspace({ root })
        const recorded = listCalls(workspace.undo).some(each => each.call === 'call')
        await workspace.close()
        expect(recorded).toBe(JSON.stringify(now) !== JSON.stringify(before))
        if (recorded) await undoAll(root, ['call'])
        expect(snapshot(root)).toEqual(before)
        if (operation !== 'undo of a removal') continue
        await undoAll(root, ['removed'], 'removed again')
        expect(snapshot(root)).toEqual(after)
      }
    },
  )
})
