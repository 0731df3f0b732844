import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPathLocks } from '../files/path-locks.ts'
import { createScopedFs } from '../files/scoped-fs.ts'
import { createTestWorkspace, snapshot, type TestWorkspace, testPermit } from '../testing.ts'
import { applyUndo, type UndoResult } from './undo-apply.ts'
import { listCalls, type PlanOptions, planUndo } from './undo-plan.ts'
import { readKept } from './undo-read.ts'
import { openUndoStore, type UndoStore } from './undo-store.ts'

// The first 64 small files that a call deletes are copied; of more, the files themselves are set aside.
const MANY = 100

let workspace: TestWorkspace
const at = (path: string): string => join(workspace.root, path)

beforeEach(() => {
  workspace = createTestWorkspace()
})
afterEach(() => workspace.close())

function plantMany(): void {
  mkdirSync(at('d/empty'), { recursive: true })
  chmodSync(at('d/empty'), 0o700)
  symlinkSync('../nowhere', at('d/link'))
  for (let n = 0; n < MANY; n += 1) {
    // Some are alike.
    writeFileSync(at(`d/${n}`), `content ${n % 90}`, { mode: n % 2 === 0 ? 0o640 : 0o755 })
    utimesSync(at(`d/${n}`), 1_000_000 + n, 2_000_000 + n)
  }
}

async function undo(call: string, id: string, options: PlanOptions = {}): Promise<UndoResult> {
  return undoIn(workspace.undo, call, id, options)
}

async function undoIn(
  store: UndoStore,
  call: string,
  id: string,
  options: PlanOptions = {},
): Promise<UndoResult> {
  const plan = await planUndo(store, { calls: [call] }, options)
  return applyUndo(store, plan, {
    call: { id, run: 'run', tool: 'undo' },
    mayChange: () => true,
    despiteConflicts: options.leaveOut === 'paths',
  })
}

/** Files that lie in the store as themselves. */
function setAside(store: UndoStore = workspace.undo): string[] {
  const { files } = store.places
  return readdirSync(files).flatMap(id =>
    readdirSync(join(files, id)).flatMap(name => (/^\d+$/.test(name) ? [join(files, id, name)] : [])),
  )
}

/** Of those, the one that has a content. */
function asideWith(text: string): string {
  const path = setAside().find(each => readFileSync(each, 'utf8') === text)
  if (path === undefined) throw new Error(`Nothing was set aside that has: ${text}`)
  return path
}

test('many deleted files come back as the very same files, and the undo can be undone and done again', async () => {
  plantMany()
  const before = snapshot(workspace.root)
  const identities = (): string[] =>
    Array.from({ length: MANY }, (_, n) => statSync(at(`d/${n}`)))
      .filter(({ nlink }) => nlink === 1)
      .map(({ ino, mtimeMs }) => `${ino} ${mtimeMs}`)
  const first = identities()
  await workspace.remove('d', 'remove')
  expect(readdirSync(workspace.root)).toEqual(['.kogu'])
  expect(setAside().length).toBeGreaterThanOrEqual(MANY - 64)
  await undo('remove', 'undo')
  expect(snapshot(workspace.root)).toEqual(before)
  expect(identities().filter(each => first.includes(each)).length).toBeGreaterThanOrEqual(MANY - 64)
  expect(identities()).toHaveLength(MANY)
  expect(setAside()).toEqual([])
  await undo('undo', 'redo')
  expect(readdirSync(workspace.root)).toEqual(['.kogu'])
  // The record of the removal does not have the files any more, that of the redo has.
  await undo('remove', 'undo again')
  expect(snapshot(workspace.root)).toEqual(before)
  expect(setAside()).toEqual([])
})

test('a file that was moved and then deleted comes back, to each of its places', async () => {
  const text = 'x'.repeat(70_000)
  writeFileSync(at('first'), text)
  await workspace.move('first', 'second', { id: 'move' })
  await workspace.remove('second', 'remove')
  const plan = await planUndo(workspace.undo, { calls: ['move', 'remove'] })
  await applyUndo(workspace.undo, plan, {
    call: { id: 'undo', run: 'run', tool: 'undo' },
    mayChange: () => true,
  })
  expect(readFileSync(at('first'), 'utf8')).toBe(text)
  await undo('undo', 'redo')
  expect(readdirSync(workspace.root)).toEqual(['.kogu'])
  // Set aside by the redo, for the other place.
  await undo('remove', 'undo again')
  expect(readFileSync(at('second'), 'utf8')).toBe(text)
  await undo('redo', 'redone')
  expect(readFileSync(at('first'), 'utf8')).toBe(text)
})

test('nothing is given back where somebody put something else', async () => {
  plantMany()
  await workspace.remove('d', 'remove')
  mkdirSync(at('d'))
  writeFileSync(at('d/99'), 'by hand')
  const aside = setAside().length
  await expect(undo('remove', 'undo')).rejects.toMatchObject({ code: 'conflict' })
  expect([readdirSync(at('d')), readFileSync(at('d/99'), 'utf8')]).toEqual([['99'], 'by hand'])
  expect(setAside()).toHaveLength(aside)
})

test('a program that still writes to a deleted file keeps only that one from coming back', async () => {
  plantMany()
  writeFileSync(at('d/99'), 'written by a living process')
  const before = snapshot(workspace.root)
  const held = openSync(at('d/99'), 'a')
  await workspace.remove('d', 'remove')
  writeSync(held, ', still')
  closeSync(held)
  const plan = await planUndo(workspace.undo, { calls: ['remove'] })
  const path = asideWith('written by a living process, still')
  expect(plan.conflicts).toEqual([
    {
      path: at('d/99'),
      call: 'remove',
      reason: `a program changed it after it was deleted; as it is now, it is kept in ${path}`,
    },
  ])
  await undo('remove', 'undo', { leaveOut: 'paths' })
  const { 'd/99': _, ...others } = before
  expect(snapshot(workspace.root)).toEqual(others)
  expect(readFileSync(path, 'utf8')).toBe('written by a living process, still')
})

test('a file with other names comes back with the content it had', async () => {
  plantMany()
  writeFileSync(at('other name'), 'shared')
  linkSync(at('other name'), at('d/shared'))
  await workspace.remove('d', 'remove')
  appendFileSync(at('other name'), ' and changed')
  await undo('remove', 'undo')
  expect(readFileSync(at('d/shared'), 'utf8')).toBe('shared')
  expect(readFileSync(at('other name'), 'utf8')).toBe('shared and changed')
})

test('an old content is shown while the file is set aside and after it came back', async () => {
  plantMany()
  writeFileSync(at('d/large'), Buffer.alloc(70_000, 'large'))
  await workspace.remove('d', 'remove')
  const show = (): string[] => {
    const [record] = listCalls(workspace.undo, { calls: ['remove'] }).flatMap(each => each.records)
    if (record === undefined) throw new Error('no record')
    const deleted = record.changes.filter(({ entry }) => entry === 'file')
    return deleted.map(({ before }) =>
      readKept(workspace.undo.places, record, before?.sha256 ?? '').toString(),
    )
  }
  const shown = show()
  expect(shown.toSorted()[0]).toBe('content 0')
  expect(shown).toHaveLength(MANY + 1)
  await undo('remove', 'undo')
  expect(show()).toEqual(shown)
})

test('what was set aside counts, and goes with its record', async () => {
  const small = createTestWorkspace({ budgetBytes: 1_000_000 })
  const remove = async (name: string): Promise<void> => {
    mkdirSync(join(small.root, name))
    for (const n of ['1', '2', '3']) writeFileSync(join(small.root, name, n), Buffer.alloc(100_000, name + n))
    await small.remove(name, name)
  }
  for (let n = 0; n < 8; n += 1) await remove(`d${n}`)
  const kept = listCalls(small.undo).map(each => each.call)
  expect(kept).toEqual(['d7', 'd6', 'd5'])
  expect(setAside(small.undo)).toHaveLength(9)
  await undoIn(small.undo, 'd5', 'undo')
  expect(readFileSync(join(small.root, 'd5/2'), 'utf8').slice(0, 3)).toBe('d52')
  await small.close()
})

test('what came back does not count any more', async () => {
  const small = createTestWorkspace({ budgetBytes: 1_000_000 })
  const write = async (): Promise<void> => {
    for (const n of [1, 2, 3]) writeFileSync(join(small.root, `d/${n}`), Buffer.alloc(100_000, `${n}`))
  }
  await small.write('edited', 'x', 'edit')
  mkdirSync(join(small.root, 'd'))
  await write()
  for (let n = 0; n < 5; n += 1) {
    await small.remove('d', `remove ${n}`)
    await undoIn(small.undo, `remove ${n}`, `undo ${n}`)
  }
  expect(listCalls(small.undo).at(-1)?.call).toBe('edit')
  expect(readFileSync(join(small.root, 'd/3'), 'utf8')).toBe('3'.repeat(100_000))
  await small.close()
})

test('of a folder that takes more than half of the budget, the rest is copied', async () => {
  const small = createTestWorkspace({ budgetBytes: 1_000_000 })
  mkdirSync(join(small.root, 'd'))
  for (let n = 0; n < 20; n += 1) writeFileSync(join(small.root, `d/${n}`), Buffer.alloc(70_000, `${n} `))
  await small.remove('d', 'remove')
  expect(setAside(small.undo)).toHaveLength(6)
  await small.close()
})

test('a file above the limit is not kept, and says so; the others of its folder are', async () => {
  const strict = createTestWorkspace({ largeFileBytes: 90_000 })
  mkdirSync(join(strict.root, 'd'))
  writeFileSync(join(strict.root, 'd/large'), Buffer.alloc(80_000))
  writeFileSync(join(strict.root, 'd/too large'), Buffer.alloc(100_000))
  const effects = await strict.remove('d', 'remove')
  expect(effects.filter(each => each.undoable === false).map(each => each.path)).toEqual([
    join(strict.root, 'd/too large'),
  ])
  await undoIn(strict.undo, 'remove', 'undo', { leaveOut: 'paths' })
  expect(readdirSync(join(strict.root, 'd'))).toEqual(['large'])
  await strict.close()
})

test('an undo that fails half-way is taken back, and leaves no second names', async () => {
  for (let n = 0; n < MANY; n += 1) await workspace.write(`a/${n}`, `new ${n}`, 'make')
  await workspace.write('b/last', 'new', 'make')
  const plan = await planUndo(workspace.undo, { calls: ['make'] })
  // So that this folder, the first to go, cannot.
  writeFileSync(at('b/by hand'), 'x')
  const before = snapshot(workspace.root)
  const call = { id: 'undo', run: 'run', tool: 'undo' }
  await expect(applyUndo(workspace.undo, plan, { call, mayChange: () => true })).rejects.toThrow('ENOTEMPTY')
  expect(snapshot(workspace.root)).toEqual(before)
  expect(setAside()).toEqual([])
  expect(readdirSync(at('a')).filter(name => lstatSync(at(`a/${name}`)).nlink > 1)).toEqual([])
})

test('a call that was refused in the middle leaves no second names', async () => {
  plantMany()
  const { files } = workspace.call([{ kind: 'file_delete', path: 'd' }], {
    permit: { isProtected: real => real.endsWith('/d/99') || real.includes('/.kogu') },
  })
  const before = snapshot(workspace.root)
  await expect(files.remove('d')).rejects.toMatchObject({ code: 'forbidden' })
  expect(snapshot(workspace.root)).toEqual(before)
  expect(readdirSync(at('d')).filter(name => lstatSync(at(`d/${name}`)).nlink > 1)).toEqual(['empty'])
  expect(setAside()).toEqual([])
})

const isRoot = process.getuid?.() === 0

test.skipIf(!isRoot)('a file of another user comes back as theirs', async () => {
  plantMany()
  for (let n = 0; n < MANY; n += 1) chownSync(at(`d/${n}`), 65_534, 65_534)
  await workspace.remove('d', 'remove')
  await undo('remove', 'undo')
  const owners = Array.from({ length: MANY }, (_, n) => statSync(at(`d/${n}`)).uid)
  expect(new Set(owners)).toEqual(new Set([65_534]))
})

const ELSEWHERE = '/dev/shm'
const isElsewhere = existsSync(ELSEWHERE) && statSync(ELSEWHERE).dev !== statSync('/tmp').dev

test.skipIf(!isElsewhere)('a store on another file system gets copies', async () => {
  const folder = realpathSync(mkdtempSync(join(ELSEWHERE, 'kogu-')))
  const store = openUndoStore({ directory: join(folder, 'undo') })
  try {
    plantMany()
    const before = snapshot(workspace.root)
    const access = [{ kind: 'file_delete', path: 'd' }] as const
    const { files } = createScopedFs({
      cwd: workspace.root,
      permit: testPermit(workspace.root, access),
      call: { id: 'remove', run: 'run', tool: 'test' },
      receipts: new Map(),
      undo: store,
      locks: createPathLocks(join(folder, 'locks')),
      signal: new AbortController().signal,
    })
    await files.remove('d')
    expect(setAside(store)).toEqual([])
    await undoIn(store, 'remove', 'undo')
    expect(snapshot(workspace.root)).toEqual(before)
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
})
