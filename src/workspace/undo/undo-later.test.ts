import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestWorkspace, type TestWorkspace } from '../testing.ts'
import { applyUndo } from './undo-apply.ts'
import { type PlanOptions, planUndo, type UndoPlan, type UndoSelection } from './undo-plan.ts'

let workspace: TestWorkspace
beforeEach(() => {
  workspace = createTestWorkspace()
})
afterEach(() => workspace.close())

const at = (path: string): string => join(workspace.root, path)
const text = (path: string): string => readFileSync(at(path), 'utf8')
const plan = (selection: UndoSelection, options: PlanOptions = {}): Promise<UndoPlan> =>
  planUndo(workspace.undo, selection, options)

async function undo(selection: UndoSelection, id: string, options: PlanOptions = {}): Promise<void> {
  const call = { id, run: 'undo', tool: 'undo' }
  const despiteConflicts = options.leaveOut === 'paths'
  await applyUndo(workspace.undo, await plan(selection, options), {
    call,
    mayChange: () => true,
    despiteConflicts,
  })
}

async function writeEach(...contents: string[]): Promise<void> {
  for (const [index, each] of contents.entries()) await workspace.write('a.txt', each, `call-${index + 1}`)
}

test('a file that a later call wrote with the same bytes is that call’s work', async () => {
  await writeEach('A', 'B', 'A')
  expect(await plan({ calls: ['call-1'] })).toMatchObject({
    steps: [],
    conflicts: [{ path: at('a.txt'), call: 'call-1', by: { call: 'call-3', tool: 'test' } }],
  })
})

test('an edit that a later call made again is that call’s work', async () => {
  writeFileSync(at('a.txt'), 'A')
  await writeEach('B', 'A', 'B')
  expect((await plan({ calls: ['call-1'] })).conflicts).toMatchObject([{ by: { call: 'call-3' } }])
})

test('later calls that are taken back at the same time, or were before, are no conflict', async () => {
  await writeEach('A', 'B', 'A')
  for (const selection of [{ last: 3 }, { run: 'run' }, { calls: ['call-3', 'call-2', 'call-1'] }]) {
    expect(await plan(selection)).toMatchObject({ conflicts: [], steps: [{ path: at('a.txt') }] })
  }
  for (const n of [3, 2, 1]) await undo({ calls: [`call-${n}`] }, `undo-${n}`)
  expect(existsSync(at('a.txt'))).toBe(false)
})

test('an undo that was undone gives its calls their work back', async () => {
  await writeEach('A', 'B', 'A')
  await undo({ calls: ['call-3'] }, 'undo-1')
  await undo({ calls: ['undo-1'] }, 'undo-2')
  expect((await plan({ calls: ['call-1'] })).conflicts).toMatchObject([{ by: { call: 'call-3' } }])
  await undo({ last: 3 }, 'undo-3')
  expect(existsSync(at('a.txt'))).toBe(false)
})

test('what a person put back by hand is no later call’s work', async () => {
  await writeEach('A', 'B', 'C')
  writeFileSync(at('a.txt'), 'A')
  expect((await plan({ calls: ['call-1'] })).conflicts).toEqual([])
})

test('a later call that could not be taken back keeps its work, also where the rest is taken back', async () => {
  await writeEach('A', 'B', 'A')
  writeFileSync(at('big.txt'), 'old')
  await workspace.write('big.txt', 'new', 'call-3')
  writeFileSync(at('big.txt'), 'by hand')
  const { conflicts } = await plan({ calls: ['call-3', 'call-1'] })
  expect(conflicts).toMatchObject([{ path: at('big.txt') }, { path: at('a.txt'), by: { call: 'call-3' } }])
  await undo({ calls: ['call-3'] }, 'undo-1', { leaveOut: 'paths' })
  expect(text('a.txt')).toBe('B')
})

test('a call that left a file as it found it is in nobody’s way', async () => {
  await writeEach('A')
  await workspace.write('a.txt', 'B', 'both')
  await workspace.write('a.txt', 'A', 'both')
  await undo({ calls: ['call-1'] }, 'undo-1')
  expect(existsSync(at('a.txt'))).toBe(false)
})

test('a folder that a later call made anew stays with what that call put into it', async () => {
  await workspace.write('d/a.txt', 'a', 'call-1')
  await undo({ calls: ['call-1'] }, 'undo-1')
  await workspace.write('d/b.txt', 'b', 'call-2')
  await undo({ calls: ['undo-1'] }, 'undo-2')
  expect(await plan({ calls: ['call-1'] })).toMatchObject({ conflicts: [], staying: [at('d')] })
})

test('what a later call left as it was before is that call’s work too', async () => {
  writeFileSync(at('a.txt'), 'A')
  await writeEach('B', 'A')
  expect(await plan({ calls: ['call-1'] })).toMatchObject({
    steps: [],
    conflicts: [{ path: at('a.txt'), by: { call: 'call-2' } }],
  })
})

test('a file that was moved away since is in the hands of the call that moved it', async () => {
  await workspace.write('a.txt', 'A', 'write')
  await workspace.move('a.txt', 'b.txt', { id: 'move' })
  expect((await plan({ calls: ['write'] })).conflicts).toMatchObject([{ by: { call: 'move' } }])
  await undo({ calls: ['move', 'write'] }, 'both')
  expect([existsSync(at('a.txt')), existsSync(at('b.txt'))]).toEqual([false, false])
})

test('a moved file that cannot go back stays where it is', async () => {
  mkdirSync(at('d'))
  writeFileSync(at('d/a.txt'), 'precious')
  writeFileSync(at('d/b.txt'), 'other')
  await workspace.move('d', 'e', { id: 'move' })
  mkdirSync(at('d'))
  writeFileSync(at('d/a.txt'), 'of a person')
  await undo({ calls: ['move'] }, 'undo', { leaveOut: 'paths' })
  expect([text('d/a.txt'), text('e/a.txt'), text('d/b.txt')]).toEqual(['of a person', 'precious', 'other'])
})

test('a moved file whose folder is gone stays where it is, and nothing counts as undone', async () => {
  mkdirSync(at('d'))
  writeFileSync(at('d/a.txt'), 'precious')
  await workspace.move('d/a.txt', 'b.txt', { id: 'move' })
  rmSync(at('d'), { recursive: true })
  expect(await plan({ calls: ['move'] }, { leaveOut: 'paths' })).toMatchObject({ calls: [], steps: [] })
  mkdirSync(at('d'))
  await undo({ calls: ['move'] }, 'undo')
  expect([text('d/a.txt'), existsSync(at('b.txt'))]).toEqual(['precious', false])
})

test('a file that was moved to where the same bytes were is the work of the call that moved it', async () => {
  writeFileSync(at('a.txt'), 'old')
  writeFileSync(at('b.txt'), 'new')
  await workspace.write('a.txt', 'new', 'write')
  await workspace.move('b.txt', 'a.txt', { id: 'move', overwrite: true })
  expect((await plan({ calls: ['write'] })).conflicts).toMatchObject([{ by: { call: 'move' } }])
  await undo({ last: 2 }, 'undo')
  expect([text('a.txt'), text('b.txt')]).toEqual(['old', 'new'])
})

test('a file that was moved over one with the same bytes goes back, and both are there', async () => {
  writeFileSync(at('a.txt'), 'same')
  writeFileSync(at('b.txt'), 'same')
  await workspace.move('a.txt', 'b.txt', { id: 'move', overwrite: true })
  await undo({ calls: ['move'] }, 'undo')
  expect([text('a.txt'), text('b.txt')]).toEqual(['same', 'same'])
})
