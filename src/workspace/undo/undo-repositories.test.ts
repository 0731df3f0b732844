import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestWorkspace, type TestWorkspace } from '../testing.ts'
import { applyUndo } from './undo-apply.ts'
import { type PlanOptions, planUndo, type UndoPlan } from './undo-plan.ts'

const OBJECT = `bare/objects/ab/${'0'.repeat(38)}`
let workspace: TestWorkspace
const at = (path: string): string => join(workspace.root, path)
const pathsOf = (plan: UndoPlan): string[] =>
  plan.steps.map(({ path }) => path.slice(workspace.root.length + 1))

/** A repository by its shape. */
beforeEach(() => {
  workspace = createTestWorkspace()
  for (const folder of ['bare/refs', 'bare/objects']) mkdirSync(at(folder), { recursive: true })
  for (const name of ['HEAD', 'refs/a', 'refs/b']) writeFileSync(at(`bare/${name}`), 'old')
})
afterEach(() => workspace.close())

const plan = (options: PlanOptions = {}): Promise<UndoPlan> =>
  planUndo(workspace.undo, { calls: ['call'] }, options)

async function undo(id: string): Promise<void> {
  await applyUndo(workspace.undo, await planUndo(workspace.undo, { calls: [id] }), {
    call: { id: `undo-${id}`, run: 'run', tool: 'undo' },
    mayChange: () => true,
  })
}

test('a conflict in a repository leaves all of it out, and nothing else', async () => {
  for (const path of ['bare/refs/a', 'bare/refs/b', 'note.txt']) await workspace.write(path, 'new', 'call')
  writeFileSync(at('bare/refs/a'), 'by hand')
  const found = await plan({ leaveOut: 'paths' })
  expect(pathsOf(found)).toEqual(['note.txt'])
  expect(found.conflicts).toMatchObject([{ path: at('bare/refs/a') }])
})

test('half an undo is taken back wherever that is possible, also in a repository', async () => {
  for (const path of ['bare/refs/a', 'bare/refs/b']) await workspace.write(path, 'new', 'call')
  writeFileSync(at('bare/refs/a'), 'by hand')
  expect(pathsOf(await plan({ leaveOut: 'paths', isRollback: true }))).toEqual(['bare/refs/b'])
})

test('a new object and its new folder stay, also when somebody touched them', async () => {
  await workspace.write(OBJECT, 'x', 'call')
  await workspace.write('bare/refs/a', 'new', 'call')
  expect(await plan()).toMatchObject({ leftObjects: 1, conflicts: [], staying: [] })
  writeFileSync(at(OBJECT), 'the same, compressed in another way')
  expect(pathsOf(await plan())).toEqual(['bare/refs/a'])
  expect((await plan()).conflicts).toEqual([])
})

test('a deleted object comes back, stays when the undo is undone, and is no conflict when somebody made it again', async () => {
  mkdirSync(at('bare/objects/ab'))
  writeFileSync(at(OBJECT), 'x')
  await workspace.remove(OBJECT, 'call')
  await undo('call')
  expect(readFileSync(at(OBJECT), 'utf8')).toBe('x')
  await undo('undo-call')
  expect(readFileSync(at(OBJECT), 'utf8')).toBe('x')
  writeFileSync(at(OBJECT), 'the same, compressed in another way')
  expect(await plan()).toMatchObject({ steps: [], conflicts: [] })
})

test('what only looks like an object goes', async () => {
  const others = ['objects/ab/x', 'bare/objects/info/alternates', 'bare/objects/ab/tmp_obj_1']
  for (const path of others) await workspace.write(path, 'x', 'call')
  expect(pathsOf(await plan())).toEqual(expect.arrayContaining(others))
})
