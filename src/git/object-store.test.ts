import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { namesIn } from '../core/names-in.ts'
import { storedPaths, typeOfObject } from './object-store.ts'

let folder: string
let objects: string
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Kim', '-c', 'user.email=kim@site.test', ...args], {
    cwd: folder,
    encoding: 'utf8',
  }).trim()

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-store-')))
  objects = join(folder, '.git/objects')
  git('init', '-q', '-b', 'main')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function commit(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `${path}\n${git('rev-list', '--all', '--count')}\n`)
  }
  git('add', '-A')
  git('commit', '-qm', 'x')
}

const paths = (): string[] => [...(storedPaths(objects) ?? [])].sort()

/** As git itself tells it. */
function expected(): string[] {
  const lines = git('log', '--all', '--reflog', '-m', '--name-only', '--format=', '-z').split('\0')
  return [...new Set(lines.filter(line => line !== ''))].sort()
}

test('every path of every commit is found, in loose objects and in packs of differences', () => {
  expect(paths()).toEqual([])
  for (let round = 0; round < 12; round += 1) {
    commit(...Array.from({ length: 30 }, (_, file) => `src/part${file % 7}/ä ${file}.ts`), `round/${round}`)
  }
  expect(paths()).toEqual(expected())
  git('gc', '-q', '--aggressive')
  expect(namesIn(join(objects, 'pack')).length).toBeGreaterThan(1)
  expect(paths()).toEqual(expected())
  commit('new/after the pack')
  expect(paths()).toEqual(expected())
  git('repack', '-adq', '--depth=0')
  expect(paths()).toEqual(expected())
})

test('the same answer is the same array, so that what was learnt of it can be kept', () => {
  commit('a', 'b')
  const before = storedPaths(objects)
  expect(storedPaths(objects)).toBe(before)
  git('tag', 'v1')
  expect(storedPaths(objects)).toBe(before)
})

test('a folder is one as early tools wrote it, too, with a zero before its mode', () => {
  commit('secrets/k')
  const inner = Buffer.from(git('rev-parse', 'HEAD:secrets'), 'hex')
  const tree = execFileSync('git', ['hash-object', '-wt', 'tree', '--literally', '--stdin'], {
    cwd: folder,
    encoding: 'utf8',
    input: Buffer.concat([Buffer.from('040000 private\0'), inner]),
  })
  git('commit-tree', '-m', 'x', tree.trim())
  expect(paths()).toEqual(['private/k', 'secrets/k'])
})

test('what nothing refers to any more counts as long as it is there', () => {
  commit('a')
  commit('secrets/k')
  git('reset', '-q', '--hard', 'HEAD~1')
  git('reflog', 'expire', '--expire=now', '--all')
  expect(paths()).toEqual(['a', 'secrets/k'])
  git('gc', '-q', '--prune=now')
  expect(paths()).toEqual(['a'])
})

test('a tree that comes later, as in a fetch that is under way, is read at its place', () => {
  commit('secrets/k')
  const tree = git('rev-parse', 'HEAD:secrets')
  const file = join(objects, tree.slice(0, 2), tree.slice(2))
  const bytes = readFileSync(file)
  rmSync(file)
  expect(paths()).toEqual([])
  writeFileSync(file, bytes)
  expect(paths()).toEqual(['secrets/k'])
})

test('a damaged store is not taken for an empty one', () => {
  commit('a')
  git('gc', '-q')
  const pack = namesIn(join(objects, 'pack')).find(name => name.endsWith('.pack')) ?? ''
  rmSync(join(objects, 'pack', pack))
  writeFileSync(join(objects, 'pack', pack), 'PACK')
  expect(storedPaths(objects)).toBeNull()
  const index = join(objects, 'pack', pack.replace(/pack$/, 'idx'))
  chmodSync(index, 0o600)
  truncateSync(index, 100)
  expect(storedPaths(objects)).toBeNull()
})

test('an object is of the kind that git says, by its number or the beginning of it', () => {
  commit('a')
  for (const round of ['loose', 'packed']) {
    if (round === 'packed') git('gc', '-q')
    for (const [name, type] of [
      ['HEAD', 'commit'],
      ['HEAD^{tree}', 'tree'],
      ['HEAD:a', 'blob'],
    ] as const) {
      const hash = git('rev-parse', name)
      expect([typeOfObject(objects, hash), typeOfObject(objects, hash.slice(0, 8))], round).toEqual([
        type,
        type,
      ])
    }
    expect(typeOfObject(objects, '0'.repeat(40))).toBeUndefined()
  }
})
