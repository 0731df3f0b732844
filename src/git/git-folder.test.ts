import { expect, test } from 'vitest'
import { gitParts } from './git-folder.ts'

const parts = (path: string, ...there: string[]) =>
  gitParts(path, each => there.includes(each)).map(({ folder, own }) => `${folder}|${own}`)

test('a folder called .git is one, wherever it is', () => {
  expect(parts('.git')).toEqual(['.git|'])
  expect(parts('a/.GIT/hooks/x')).toEqual(['a/.GIT|hooks/x'])
  expect(parts('a/.gitignore')).toEqual([])
})

test('a folder with the three names is one, also when the path itself is the third', () => {
  expect(parts('a/config', 'a/HEAD', 'a/objects', 'a/refs')).toEqual(['a|config'])
  expect(parts('a/refs/x/y', 'a/HEAD', 'a/objects')).toEqual(['a|refs/x/y'])
  expect(parts('HEAD', 'objects', 'refs')).toEqual(['|HEAD'])
  expect(parts('a/HEAD', 'a/commondir')).toEqual(['a|HEAD'])
  expect(parts('a/head', 'a/objects', 'a/refs')).toEqual(['a|head'])
  expect(parts('a/config', 'a/HEAD', 'a/objects')).toEqual([])
  expect(parts('a/hooks/use-x.ts')).toEqual([])
})

test('other files in such a folder are not parts of the repository', () => {
  expect(parts('a/main/index.ts', 'a/HEAD', 'a/objects', 'a/refs')).toEqual([])
})

test('repositories lie in repositories, and each of them counts', () => {
  const module = ['.git/modules/m/HEAD', '.git/modules/m/objects', '.git/modules/m/refs']
  expect(parts('.git/modules/m/hooks/x', ...module)).toEqual([
    '.git|modules/m/hooks/x',
    '.git/modules/m|hooks/x',
  ])
  const hooks = ['.git/hooks/HEAD', '.git/hooks/objects', '.git/hooks/refs']
  expect(parts('.git/hooks/config', ...hooks)).toEqual(['.git|hooks/config', '.git/hooks|config'])
})

test('a working tree is part of the repository around it', () => {
  const tree = ['.git/worktrees/t/HEAD', '.git/worktrees/t/commondir']
  expect(parts('.git/worktrees/t/commondir', ...tree)).toEqual(['.git|worktrees/t/commondir'])
})
