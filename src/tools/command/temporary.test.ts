import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CommandParts } from './parts.ts'
import { openTemporary } from './temporary.ts'

const state = { folder: '' }
beforeEach(() => {
  state.folder = mkdtempSync(join(tmpdir(), 'kogu-test-'))
})
afterEach(() => rmSync(state.folder, { recursive: true, force: true }))

const use = { runId: 'run', preview: false, readsOnly: false, contained: false }

function parts(workspace = '/workspace'): CommandParts {
  // Only these are looked at.
  return { places: { temporary: state.folder }, workspace } as CommandParts
}

function put(folder: string | undefined, name: string): void {
  writeFileSync(join(folder ?? '', name), '')
}

test('commands of a run share it, one that is cut off empties it and says so', async () => {
  const first = await openTemporary(parts(), use)
  put(first.walls.privateTmp, 'a')
  expect(first.end(false)).toEqual([])
  const second = await openTemporary(parts(), use)
  expect(readdirSync(second.walls.privateTmp ?? '')).toEqual(['a'])
  expect(second.end(true)).toEqual(["The command was stopped, so this run's /tmp was emptied."])
  expect(second.end(true)).toEqual([])
  const third = await openTemporary(parts(), use)
  expect(readdirSync(third.walls.privateTmp ?? '')).toEqual([])
  third.end(false)
  expect(readdirSync(join(state.folder, 'run'))).toEqual(['files'])
})

test('what a command leaves that was killed together with Kogu is gone', async () => {
  const files = join(state.folder, 'run', 'files')
  mkdirSync(files, { recursive: true })
  put(files, 'left')
  writeFileSync(join(state.folder, 'run', 'changing'), '')
  const next = await openTemporary(parts(), use)
  expect(readdirSync(files)).toEqual([])
  next.end(false)
})

test('two commands at once do not share it', async () => {
  const first = await openTemporary(parts(), use)
  const second = await openTemporary(parts(), use)
  expect(second.walls.privateTmp).not.toBe(first.walls.privateTmp)
  put(second.walls.privateTmp, 'x')
  expect(second.end(false)).toHaveLength(1)
  expect(existsSync(second.walls.privateTmp ?? '')).toBe(false)
  first.end(false)
})

test('a line that only reads sees it and cannot change it', async () => {
  const first = await openTemporary(parts(), use)
  const reading = await openTemporary(parts(), { ...use, readsOnly: true })
  expect(reading.walls).toEqual({ privateTmp: first.walls.privateTmp, privateTmpIs: 'shared' })
  reading.end(false)
  // With a workspace inside it, it has to be alone, or does without.
  expect((await openTemporary(parts('/tmp/w'), { ...use, readsOnly: true })).walls).toEqual({})
  first.end(false)
  const alone = await openTemporary(parts('/tmp/w'), { ...use, readsOnly: true })
  expect(alone.walls).toEqual({ privateTmp: first.walls.privateTmp, privateTmpIs: 'read-only' })
  alone.end(false)
})
