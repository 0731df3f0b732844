import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { trackedFiles } from './git-index.ts'

let folder: string
const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args])
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-index-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each(['2', '3', '4'])('reads the names of tracked files from an index of version %s', version => {
  git('init', '-q')
  mkdirSync(join(folder, 'src/deep'), { recursive: true })
  const names = ['.env', 'a', 'abcdefghi', 'src/deep/ä ö.ts', 'src/deep/z', 'src/y', 'w'.repeat(200)]
  for (const name of [...names, 'untracked', 'intended']) writeFileSync(join(folder, name), name)
  git('add', ...names)
  // Only an entry with extended flags makes git write version 3.
  git('add', '--intent-to-add', 'intended')
  git('update-index', '--index-version', version)
  const expected = [...names, 'intended'].map(name => join(folder, name)).sort()
  expect([...(trackedFiles(join(folder, 'src/deep'))?.files ?? [])].sort()).toEqual(expected)
})

test('a damaged index is not taken for an empty one', () => {
  expect(trackedFiles(folder)).toBeUndefined()
  git('init', '-q')
  expect(trackedFiles(folder)).toEqual({ files: [], roots: [folder] })
  writeFileSync(join(folder, '.git/index'), 'DIRC\0\0\0\x02\0\0\0\x05')
  expect(trackedFiles(folder)).toBeNull()
})

test.each([
  ['has its entries in another file', ['update-index', '--split-index']],
  ['has its files somewhere else', ['config', 'core.worktree', '/srv']],
  ['has hashes of another length', ['config', 'extensions.objectFormat', 'sha256']],
])('a repository that %s is not one that is understood', (_, args) => {
  git('init', '-q')
  writeFileSync(join(folder, 'a'), 'a')
  git('add', 'a')
  git(...args)
  expect(trackedFiles(folder)).toBeNull()
})

test('a file is looked at as the folder that it lies in', () => {
  git('init', '-q')
  writeFileSync(join(folder, 'a'), 'a')
  git('add', 'a')
  expect(trackedFiles(join(folder, 'a'))?.files).toEqual([join(folder, 'a')])
})

test.each([
  ['is a link', () => symlinkSync('elsewhere/.git', join(folder, '.git'))],
  [
    'leads to a folder that does not know it',
    () => writeFileSync(join(folder, '.git'), 'gitdir: elsewhere/.git\n'),
  ],
])('a repository whose .git %s is not one that is understood', (_, make) => {
  mkdirSync(join(folder, 'elsewhere'))
  execFileSync('git', ['init', '-q', join(folder, 'elsewhere')])
  make()
  expect(trackedFiles(folder)).toBeNull()
})
