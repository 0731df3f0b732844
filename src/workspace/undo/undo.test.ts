import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createTestWorkspace, snapshot, type TestWorkspace } from '../testing.ts'
import { applyUndo, type UndoOptions } from './undo-apply.ts'
import { listCalls, type PlanOptions, planUndo, type UndoSelection } from './undo-plan.ts'
import { recordFiles } from './undo-read.ts'

let workspace: TestWorkspace
let undos = 0
const at = (path: string): string => join(workspace.root, path)
const text = (path: string): string => readFileSync(at(path), 'utf8')

async function undo(
  selection: UndoSelection,
  options: PlanOptions & Partial<UndoOptions> = {},
): Promise<Awaited<ReturnType<typeof applyUndo>>> {
  undos += 1
  const plan = await planUndo(workspace.undo, selection, options)
  const call = { id: `undo-${undos}`, run: 'run', tool: 'undo' }
  return applyUndo(workspace.undo, plan, { call, mayChange: () => true, ...options })
}

beforeEach(() => {
  workspace = createTestWorkspace()
  undos = 0
})
afterEach(() => workspace.close())

describe('taking back', () => {
  test('an edit gives the old bytes and mode back, and can itself be taken back', async () => {
    writeFileSync(at('a.txt'), 'old')
    chmodSync(at('a.txt'), 0o600)
    await workspace.write('a.txt', 'new', 'edit')
    expect(await undo({ calls: ['edit'] })).toMatchObject({ verified: 1 })
    expect([text('a.txt'), statSync(at('a.txt')).mode & 0o777]).toEqual(['old', 0o600])
    await undo({ calls: ['undo-1'] })
    expect([text('a.txt'), statSync(at('a.txt')).mode & 0o777]).toEqual(['new', 0o600])
  })

  test('a new file in new folders removes them all', async () => {
    await workspace.write('a/b/c.txt', 'x', 'make')
    await undo({ calls: ['make'] })
    expect(readdirSync(workspace.root)).toEqual(['.kogu'])
  })

  test('a new folder that a person has used meanwhile stays, without our file', async () => {
    await workspace.write('a/ours.txt', 'x', 'make')
    writeFileSync(at('a/theirs.txt'), 'y')
    const plan = await planUndo(workspace.undo, { calls: ['make'] })
    expect(plan.staying).toEqual([at('a')])
    await undo({ calls: ['make'] })
    expect(readdirSync(at('a'))).toEqual(['theirs.txt'])
  })

  test("a folder stays for a person's file that comes back into it", async () => {
    await workspace.write('d/a', 'x', 'write')
    writeFileSync(at('d/mine'), 'mine')
    await workspace.move('d/mine', 'y', { id: 'move' })
    await undo({ last: 2 })
    expect(snapshot(workspace.root)).toMatchObject({ 'd/mine': expect.any(String) })
    expect(readdirSync(at('d'))).toEqual(['mine'])
    expect(existsSync(at('y'))).toBe(false)
  })

  test("a folder that a call removed with a person's file in it comes back with that file only", async () => {
    await workspace.write('d/a', 'x', 'write')
    writeFileSync(at('d/mine'), 'mine')
    await workspace.remove('d', 'remove')
    await undo({ last: 2 })
    expect(readdirSync(at('d'))).toEqual(['mine'])
  })

  test("a file does not come back in the place of a folder with a person's file in it", async () => {
    writeFileSync(at('d'), 'was a file')
    await workspace.remove('d', 'remove')
    await workspace.write('d/a', 'x', 'write')
    writeFileSync(at('d/mine'), 'mine')
    await workspace.move('d/mine', 'y', { id: 'move' })
    const plan = await planUndo(workspace.undo, { last: 3 })
    expect(plan.conflicts).toMatchObject([
      { path: at('d'), reason: expect.stringContaining('a folder in its place') },
    ])
    await undo({ last: 3 }, { despiteConflicts: true })
    expect(text('d/mine')).toBe('mine')
  })

  test('the last call is the last one of the log, although the clock went back an hour', async () => {
    let hour = 2
    const clocked = createTestWorkspace({ now: () => 1_700_000_000_000 + hour * 3_600_000 })
    onTestFinished(() => clocked.close())
    await clocked.write('a.txt', 'a', 'first')
    hour = 1
    await clocked.write('b.txt', 'b', 'second')
    const again = createTestWorkspace({ root: clocked.root, now: () => 1_700_000_000_000 })
    onTestFinished(() => again.close())
    await again.write('c.txt', 'c', 'third')
    expect(listCalls(again.undo).map(({ call }) => call)).toEqual(['third', 'second', 'first'])
  })

  test('a removed folder comes back with files, links and modes, large and small', async () => {
    mkdirSync(at('d/empty'), { recursive: true })
    writeFileSync(at('d/run.sh'), '#!/bin/sh\n')
    chmodSync(at('d/run.sh'), 0o755)
    writeFileSync(at('d/large'), Buffer.alloc(300_000, 'z'))
    symlinkSync('../nowhere', at('d/link'))
    chmodSync(at('d/empty'), 0o700)
    const before = snapshot(workspace.root)
    await workspace.remove('d', 'remove')
    expect(snapshot(workspace.root)).not.toEqual(before)
    await undo({ calls: ['remove'] })
    expect(snapshot(workspace.root)).toEqual(before)
  })

  test('a moved folder goes back, also when its content is not kept anywhere', async () => {
    await workspace.write('d/e/a.txt', 'a')
    writeFileSync(at('d/large'), Buffer.alloc(300_000, 'z'))
    const before = snapshot(workspace.root)
    await workspace.move('d', 'f/g', { id: 'move' })
    await undo({ calls: ['move'] })
    expect(snapshot(workspace.root)).toEqual(before)
  })

  test('an overwriting move gives both files back', async () => {
    writeFileSync(at('a.txt'), 'a')
    writeFileSync(at('b.txt'), 'b')
    await workspace.move('a.txt', 'b.txt', { overwrite: true, id: 'move' })
    await undo({ calls: ['move'] })
    expect([text('a.txt'), text('b.txt')]).toEqual(['a', 'b'])
  })

  test('two files that were swapped by three moves are swapped back', async () => {
    writeFileSync(at('a'), '1')
    writeFileSync(at('b'), '2')
    await workspace.move('a', 't', { id: 'm1' })
    await workspace.move('b', 'a', { id: 'm2' })
    await workspace.move('t', 'b', { id: 'm3' })
    await undo({ last: 3 })
    expect([text('a'), text('b'), existsSync(at('t'))]).toEqual(['1', '2', false])
  })

  test('several calls go newest first, back to the very first content', async () => {
    writeFileSync(at('a.txt'), '0')
    for (const n of ['1', '2', '3']) await workspace.write('a.txt', n, `edit-${n}`)
    await workspace.remove('a.txt', 'remove')
    await undo({ run: 'run' })
    expect(text('a.txt')).toBe('0')
  })

  test('the last call is the last one that was not taken back yet', async () => {
    for (const n of ['1', '2', '3']) await workspace.write('a.txt', n, `edit-${n}`)
    await undo({ last: 1 })
    expect(text('a.txt')).toBe('2')
    await undo({ last: 1 })
    expect(text('a.txt')).toBe('1')
    expect(listCalls(workspace.undo).map(each => [each.call, each.undone])).toEqual([
      ['undo-2', false],
      ['undo-1', false],
      ['edit-3', true],
      ['edit-2', true],
      ['edit-1', false],
    ])
  })

  test('a file that became a folder becomes the file again', async () => {
    writeFileSync(at('x'), 'file')
    await workspace.remove('x', 'r')
    await workspace.write('x/y.txt', 'inside', 'w')
    await undo({ last: 2 })
    expect(text('x')).toBe('file')
    await undo({ calls: ['undo-1'] })
    expect(text('x/y.txt')).toBe('inside')
  })
})

describe('very many files', () => {
  test('are changed, removed and created by one call, and all come back with their modes', async () => {
    mkdirSync(at('d'))
    for (let n = 0; n < 100; n += 1)
      writeFileSync(at(`d/${n}`), `old ${n}`, { mode: n % 2 === 0 ? 0o644 : 0o755 })
    const before = snapshot(workspace.root)
    for (let n = 0; n < 40; n += 1) await workspace.write(`d/${n}`, `new ${n} and longer`, 'many')
    for (let n = 40; n < 60; n += 1) await workspace.write(`d/${n}`, '', 'many')
    for (let n = 60; n < 100; n += 1) await workspace.remove(`d/${n}`, 'many')
    for (let n = 0; n < 40; n += 1) await workspace.write(`e/${n}`, 'more', 'many')
    const after = snapshot(workspace.root)
    expect(await undo({ calls: ['many'] })).toMatchObject({ verified: 141 })
    expect(snapshot(workspace.root)).toEqual(before)
    await undo({ calls: ['undo-1'] })
    expect(snapshot(workspace.root)).toEqual(after)
  })
})

describe('conflicts', () => {
  test('nothing is touched when a person changed a file since', async () => {
    writeFileSync(at('a.txt'), 'old a')
    await workspace.write('a.txt', 'new a', 'edit')
    await workspace.write('b.txt', 'new b', 'edit')
    writeFileSync(at('a.txt'), 'by hand')
    const plan = await planUndo(workspace.undo, { calls: ['edit'] })
    expect(plan.conflicts).toEqual([
      { path: at('a.txt'), call: 'edit', reason: 'its content was changed since' },
    ])
    await expect(undo({ calls: ['edit'] })).rejects.toMatchObject({ code: 'conflict' })
    expect([text('a.txt'), text('b.txt')]).toEqual(['by hand', 'new b'])
  })

  test('the other files of the call can be taken back without the changed one', async () => {
    await workspace.write('a.txt', 'new a', 'edit')
    await workspace.write('b.txt', 'new b', 'edit')
    writeFileSync(at('a.txt'), 'by hand')
    await undo({ calls: ['edit'] }, { leaveOut: 'paths', despiteConflicts: true })
    expect([text('a.txt'), existsSync(at('b.txt'))]).toEqual(['by hand', false])
  })

  test('a changed mode, a removed file, a missing folder and a taken place are each named', async () => {
    writeFileSync(at('mode'), 'x')
    await workspace.write('mode', 'y', 'c1')
    chmodSync(at('mode'), 0o755)
    await workspace.write('gone', 'x', 'c2')
    await workspace.write('gone', 'y', 'c2')
    rmSync(at('gone'))
    mkdirSync(at('d'))
    writeFileSync(at('d/f'), 'x')
    await workspace.remove('d/f', 'c3')
    renameSync(at('d'), at('e'))
    writeFileSync(at('taken'), 'x')
    await workspace.remove('taken', 'c4')
    writeFileSync(at('taken'), 'z')
    const { conflicts } = await planUndo(workspace.undo, { calls: ['c1', 'c2', 'c3', 'c4'] })
    expect(Object.fromEntries(conflicts.map(each => [each.call, each.reason]))).toEqual({
      c1: 'its mode was changed since',
      c2: 'it was removed since',
      c3: 'its folder no longer exists',
      c4: 'something new is in its place',
    })
  })

  test('a call of which everything is in conflict is not taken back in part', async () => {
    await workspace.write('d/a.txt', 'a', 'first')
    await workspace.write('b.txt', 'b', 'second')
    writeFileSync(at('d/a.txt'), 'by hand')
    const plan = await planUndo(workspace.undo, { last: 2 }, { leaveOut: 'paths' })
    expect(plan.calls.map(each => each.call)).toEqual(['second'])
    expect(plan.conflicts).toMatchObject([{ call: 'first' }])
  })

  test('a file that changes between plan and undo is left alone, and nothing else is undone', async () => {
    for (const name of ['a', 'b', 'c']) writeFileSync(at(name), `old ${name}`)
    for (const name of ['a', 'b', 'c']) await workspace.write(name, `new ${name}`, 'edit')
    const plan = await planUndo(workspace.undo, { calls: ['edit'] })
    writeFileSync(at('b'), 'by hand')
    const call = { id: 'u', run: 'run', tool: 'undo' }
    await expect(applyUndo(workspace.undo, plan, { call, mayChange: () => true })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(['a', 'b', 'c'].map(text)).toEqual(['new a', 'by hand', 'new c'])
  })

  test.each(['into the file', 'as a new file'])(
    'a save made while the undo runs stays, written %s',
    async how => {
      // Large enough to be written in many turns of the event loop.
      writeFileSync(at('large.txt'), 'o'.repeat(16_000_000))
      await workspace.write('large.txt', 'n'.repeat(1000), 'edit')
      const undoing = undo({ calls: ['edit'] }).catch((error: unknown) => error)
      while (!readdirSync(workspace.root).some(name => name.startsWith('.kogu-tmp-'))) await setImmediate()
      const place = how === 'into the file' ? 'large.txt' : 'large.txt~'
      writeFileSync(at(place), 'e'.repeat(1000))
      if (place !== 'large.txt') renameSync(at(place), at('large.txt'))
      expect(await undoing).toMatchObject({ code: 'conflict' })
      expect(text('large.txt')).toBe('e'.repeat(1000))
      expect(readdirSync(workspace.root).sort()).toEqual(['.kogu', 'large.txt'])
      expect(listCalls(workspace.undo).find(({ call }) => call === 'edit')?.undone).toBe(false)
    },
  )

  test.each(['d/mine', 'd/sub/mine'])(
    'a folder in the place of a file, with something of a person in it, is a conflict: %s',
    async mine => {
      writeFileSync(at('d'), 'file')
      await workspace.remove('d', 'remove')
      await workspace.write('d/sub/x', 'x', 'make')
      writeFileSync(at(mine), 'mine')
      const before = snapshot(workspace.root)
      const plan = await planUndo(workspace.undo, { last: 2 })
      expect(plan.conflicts).toMatchObject([{ path: at('d'), call: 'remove' }])
      await expect(undo({ last: 2 })).rejects.toMatchObject({ code: 'conflict' })
      expect(snapshot(workspace.root)).toEqual(before)
      expect(listCalls(workspace.undo).map(({ call, undone }) => [call, undone])).toEqual([
        ['make', false],
        ['remove', false],
      ])
      // Without that path: the person's file and the folders around it stay.
      await undo({ last: 2 }, { leaveOut: 'paths', despiteConflicts: true })
      expect([text(mine), existsSync(at('d/sub/x'))]).toEqual(['mine', false])
    },
  )

  test('a path outside what may be changed stops the whole undo', async () => {
    writeFileSync(at('a.txt'), 'old')
    await workspace.write('a.txt', 'new', 'edit')
    await expect(undo({ calls: ['edit'] }, { mayChange: () => false })).rejects.toMatchObject({
      code: 'forbidden',
    })
    expect(text('a.txt')).toBe('new')
  })

  test('a file that was changed after it was deleted is not given back', async () => {
    writeFileSync(at('large'), Buffer.alloc(200_000, 'x'))
    await workspace.remove('large', 'remove')
    const files = workspace.undo.places.files
    const folder = join(files, readdirSync(files)[0] ?? '')
    writeFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'damaged')
    await expect(undo({ calls: ['remove'] })).rejects.toThrow('a program changed it after it was deleted')
    expect(existsSync(at('large'))).toBe(false)
  })

  test('an unknown call is refused', async () => {
    await expect(undo({ calls: ['nothing'] })).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the budget', () => {
  test('the oldest records go, the disk use stays below it, and the newest can be undone', async () => {
    const small = createTestWorkspace({ budgetBytes: 200_000 })
    for (let n = 0; n < 40; n += 1)
      await small.write('a.txt', `${n} ${'x'.repeat(10_000)}${Math.random()}`, `c${n}`)
    const used = recordFiles(small.undo.places).reduce((sum, path) => sum + statSync(path).size, 0)
    expect(used).toBeLessThan(200_000)
    expect(used).toBeGreaterThan(100_000)
    expect(listCalls(small.undo).at(0)?.call).toBe('c39')
    const plan = await planUndo(small.undo, { last: 1 })
    await applyUndo(small.undo, plan, { call: { id: 'u', run: 'run', tool: 'undo' }, mayChange: () => true })
    expect(readFileSync(join(small.root, 'a.txt'), 'utf8').slice(0, 3)).toBe('38 ')
    await small.close()
  })

  test('calls of several processes are listed and undone in the order in which they were made', async () => {
    let time = Date.now()
    const now = () => time
    const first = createTestWorkspace({ root: workspace.root, now })
    const other = createTestWorkspace({ root: workspace.root, now })
    for (const [index, each] of [first, other, first, other].entries()) {
      time += 1
      await each.write('a.txt', String(index), `c${index}`)
    }
    await first.undo.close()
    expect(listCalls(workspace.undo).map(({ call }) => call)).toEqual(['c3', 'c2', 'c1', 'c0'])
    const plan = await planUndo(workspace.undo, { last: 2 })
    // The other process ends between the plan and its execution, and its file of records moves.
    await other.undo.close()
    await applyUndo(workspace.undo, plan, {
      call: { id: 'u', run: 'run', tool: 'undo' },
      mayChange: () => true,
    })
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('1')
  })

  test('nothing is changed any more once somebody removed the store under a running process', async () => {
    await workspace.write('a.txt', 'old', 'make')
    rmSync(join(workspace.root, '.kogu/undo'), { recursive: true })
    await expect(workspace.write('a.txt', 'new', 'lost')).rejects.toThrow('undo store was removed')
    await expect(workspace.write('b.txt', 'new', 'lost')).rejects.toThrow('undo store was removed')
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('old')
    expect(readdirSync(workspace.root).sort()).toEqual(['.kogu', 'a.txt'])
  })

  test('a store that was copied with its workspace is not used', async () => {
    await workspace.write('a.txt', 'x', 'make')
    const { calls } = workspace.undo.places
    const own = join(calls, '..')
    await workspace.undo.close()
    const copy = createTestWorkspace()
    mkdirSync(join(copy.root, '.kogu/undo'), { recursive: true })
    renameSync(own, join(copy.root, '.kogu/undo', own.split('/').at(-1) ?? ''))
    const again = createTestWorkspace({ root: copy.root })
    expect(listCalls(again.undo)).toEqual([])
    await again.close()
    await copy.close()
  })
})
