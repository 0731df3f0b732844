import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sha256 } from '../files/file-content.ts'
import { createTestWorkspace, type TestWorkspace } from '../testing.ts'
import { recoverWorkspace } from './recovery.ts'
import { listCalls } from './undo-plan.ts'
import type { Change, ChangeRecord } from './undo-record.ts'
import type { UndoStore } from './undo-store.ts'

// What a kill leaves behind, laid out by hand; test/recovery/files-kill.test.ts makes it by killing.

let workspace: TestWorkspace
const at = (path: string): string => join(workspace.root, path)
const state = (text: string): Change['before'] => ({ mode: 0o644, size: text.length, sha256: sha256(text) })

const NOTHING = { mode: 0, size: 0 }

beforeEach(() => {
  workspace = createTestWorkspace()
})
afterEach(() => workspace.close())

/** A record of a process that is gone by now. */
async function leaveBehind(
  fill: (record: ChangeRecord) => Promise<void> | void,
  undoes?: string[],
): Promise<void> {
  const dead = createTestWorkspace({ root: workspace.root })
  const record = dead.undo.begin({ id: 'killed', run: 'run', tool: 'test' }, undoes)
  await fill(record)
  record.seal()
  await dead.undo.close()
}

const recover = (store: UndoStore = workspace.undo): ReturnType<typeof recoverWorkspace> =>
  recoverWorkspace(store, at('.kogu/locks'))

test('a change that happened becomes undoable, one that did not is forgotten', async () => {
  writeFileSync(at('done'), 'new')
  writeFileSync(at('not done'), 'old')
  await leaveBehind(async record => {
    for (const name of ['done', 'not done']) {
      await record.keepBytes(Buffer.from('old'), sha256('old'))
      const change = { change: 'changed', path: at(name), entry: 'file', content: 'kept' } as const
      record.add({
        ...change,
        before: state('old') ?? { mode: 0, size: 0 },
        after: state('new') ?? { mode: 0, size: 0 },
      })
    }
  })
  expect(await recover()).toEqual({ completed: 1, dropped: 0, problems: [] })
  const [call] = listCalls(workspace.undo)
  expect(call?.records.flatMap(record => record.changes.map(change => change.path))).toEqual([at('done')])
  expect(await recover()).toEqual({ completed: 0, dropped: 0, problems: [] })
})

test('a folder that a killed undo had brought back gets the mode that it had', async () => {
  mkdirSync(at('private'))
  await leaveBehind(
    record =>
      record.add({
        change: 'created',
        path: at('private'),
        entry: 'directory',
        after: { mode: 0o700, size: 0 },
      }),
    ['some call'],
  )
  expect(await recover()).toEqual({ completed: 1, dropped: 0, problems: [] })
  expect(statSync(at('private')).mode & 0o777).toBe(0o700)
})

test('a file that somebody else made while ours still waited beside it is not our doing', async () => {
  const draft = '.kogu-tmp-00112233445566aa'
  writeFileSync(at(draft), 'same')
  writeFileSync(at('new'), 'same')
  await leaveBehind(record => {
    record.temporary(at(draft))
    record.add({ change: 'created', path: at('new'), entry: 'file', after: state('same') ?? NOTHING })
  })
  expect(await recover()).toEqual({ completed: 0, dropped: 1, problems: [] })
  expect([existsSync(at('new')), existsSync(at(draft))]).toEqual([true, false])
  expect(listCalls(workspace.undo)).toEqual([])
})

test('a file that had just got its name is ours, with the mode that it turned out to have', async () => {
  const draft = '.kogu-tmp-00112233445566aa'
  writeFileSync(at(draft), 'ours', { mode: 0o600 })
  linkSync(at(draft), at('new'))
  await leaveBehind(record => {
    const change = { change: 'created', path: at('new'), entry: 'file' } as const
    record.temporary(at(draft))
    record.add({ ...change, after: state('ours') ?? NOTHING })
    record.correct({ ...change, after: { ...(state('ours') ?? NOTHING), mode: 0o600 } })
  })
  expect(await recover()).toEqual({ completed: 1, dropped: 0, problems: [] })
  expect(listCalls(workspace.undo)).toMatchObject([
    { records: [{ changes: [{ path: at('new'), after: { mode: 0o600 } }] }] },
  ])
  expect(existsSync(at(draft))).toBe(false)
})

test('a file that is a mixture of old and new is completed; one that a person wrote since is not', async () => {
  const [old, next] = ['the old content of it', 'NEW CONTENT, LONGER THAN THE OLD ONE']
  writeFileSync(at('torn'), next.slice(0, 7) + old.slice(7))
  writeFileSync(at('by hand'), 'NEW CONTENT and something of a person')
  await leaveBehind(async record => {
    await record.keepBytes(Buffer.from(old), sha256(old))
    await record.keepBytes(Buffer.from(next), sha256(next))
    for (const name of ['torn', 'by hand']) {
      record.add({
        change: 'changed',
        path: at(name),
        entry: 'file',
        content: 'kept',
        before: { mode: 0o644, size: old.length, sha256: sha256(old) },
        after: { mode: 0o644, size: next.length, sha256: sha256(next) },
        inPlace: { afterIn: record.header.id },
      })
    }
  })
  expect((await recover()).problems).toEqual([])
  expect(readFileSync(at('torn'), 'utf8')).toBe(next)
  expect(readFileSync(at('by hand'), 'utf8')).toBe('NEW CONTENT and something of a person')
})

test('a new file of which only the beginning was written is completed', async () => {
  writeFileSync(at('begun'), 'the first ha')
  await leaveBehind(async record => {
    await record.keepBytes(
      Buffer.from('the first half and the second'),
      sha256('the first half and the second'),
    )
    record.add({
      change: 'created',
      path: at('begun'),
      entry: 'file',
      after: { mode: 0o640, size: 29, sha256: sha256('the first half and the second') },
      inPlace: { afterIn: record.header.id },
    })
  })
  expect((await recover()).problems).toEqual([])
  expect(readFileSync(at('begun'), 'utf8')).toBe('the first half and the second')
  expect(statSync(at('begun')).mode & 0o777).toBe(0o640)
})

test('a new file that was whole when the undo was killed gets its mode, unless a person gave it another', async () => {
  writeFileSync(at('whole'), 'all of it', { mode: 0o600 })
  writeFileSync(at('by hand'), 'all of it', { mode: 0o640 })
  await leaveBehind(async record => {
    await record.keepBytes(Buffer.from('all of it'), sha256('all of it'))
    for (const name of ['whole', 'by hand'])
      record.add({
        change: 'created',
        path: at(name),
        entry: 'file',
        after: { mode: 0o755, size: 9, sha256: sha256('all of it') },
        inPlace: { afterIn: record.header.id },
      })
  })
  expect((await recover()).problems).toEqual([])
  expect([statSync(at('whole')).mode & 0o777, statSync(at('by hand')).mode & 0o777]).toEqual([0o755, 0o640])
})

test('temporary files go, a folder that was being removed comes back, other names are never touched', async () => {
  const name = '.kogu-tmp-0123456789abcdef'
  writeFileSync(at(name), 'half')
  mkdirSync(at(`${name}-gone`))
  writeFileSync(at(`${name}-gone/rest`), 'rest')
  mkdirSync(at('sub'))
  mkdirSync(at(`sub/${name}`))
  writeFileSync(at(`sub/${name}/kept`), 'kept')
  writeFileSync(at('innocent'), 'x')
  await leaveBehind(record => {
    record.temporary(at(name))
    record.temporary(at(`${name}-gone`))
    record.temporary(at(`sub/${name}`), at('sub/folder'))
    record.temporary(at('innocent'))
  })
  expect((await recover()).problems).toEqual([])
  expect(readdirSync(workspace.root).sort()).toEqual(['.kogu', 'innocent', 'sub'])
  expect(readFileSync(at('sub/folder/kept'), 'utf8')).toBe('kept')
})

test('a folder that was opened for the moment is closed again, unless somebody gave it another mode', async () => {
  for (const name of ['opened', 'theirs']) mkdirSync(at(name), { mode: 0o755 })
  await leaveBehind(record => {
    record.opened(at('opened'), 0o555)
    record.opened(at('theirs'), 0o500)
    record.opened(at('gone/with its folder'), 0o555)
  })
  expect((await recover()).problems).toEqual([])
  const modes = ['opened', 'theirs'].map(name => statSync(at(name)).mode & 0o777)
  expect(modes).toEqual([0o555, 0o755])
})

test('records of a living process are left alone', async () => {
  const living = createTestWorkspace({ root: workspace.root })
  const record = living.undo.begin({ id: 'living', run: 'run', tool: 'test' })
  record.temporary(at('.kogu-tmp-0123456789abcdef'))
  record.seal()
  writeFileSync(at('.kogu-tmp-0123456789abcdef'), 'being written')
  expect(await recover()).toEqual({ completed: 0, dropped: 0, problems: [] })
  expect(existsSync(at('.kogu-tmp-0123456789abcdef'))).toBe(true)
  record.abort()
  await living.undo.close()
})

test('a record that was cut short in the middle of a line is read as far as it goes', async () => {
  writeFileSync(at('.kogu-tmp-0123456789abcdef'), 'half')
  await leaveBehind(record => record.temporary(at('.kogu-tmp-0123456789abcdef')))
  const { pending } = workspace.undo.places
  const path = join(pending, readdirSync(pending).find(name => name.endsWith('.jsonl')) ?? '')
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"change":{"change":"cre`)
  expect(await recover()).toEqual({ completed: 0, dropped: 1, problems: [] })
  expect(readdirSync(workspace.root)).toEqual(['.kogu'])
})

test('several that start at once recover what several dead ones left, each record once, and none of them fails', async () => {
  // Some take long: who recovers one of them comes late to the others.
  const sizes = [1, 60, 1, 60, 1, 60, 1, 60]
  for (const [owner, size] of sizes.entries()) {
    await leaveBehind(record => {
      for (let number = 0; number < size; number += 1) {
        const path = at(`${owner}-${number}`)
        writeFileSync(path, 'new')
        record.add({ change: 'created', path, entry: 'file', after: state('new') ?? NOTHING })
      }
    })
  }
  const reports = await Promise.all([recover(), recover(), recover()])
  expect(reports.reduce((sum, { completed }) => sum + completed, 0)).toBe(sizes.length)
  expect(listCalls(workspace.undo).flatMap(({ records }) => records)).toHaveLength(sizes.length)
})
