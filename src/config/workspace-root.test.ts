import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findWorkspace } from './workspace-root.ts'

function makeFolders(...folders: string[]): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-root-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  for (const folder of folders) mkdirSync(join(base, folder), { recursive: true })
  return base
}

const uid = process.getuid?.()

test('the nearest .kogu or kogu.toml upwards wins over a nearer git root', () => {
  const base = makeFolders('home', 'mono/.kogu', 'mono/package/.git', 'mono/package/src')
  const environment = { home: join(base, 'home'), uid }
  expect(findWorkspace(join(base, 'mono/package/src'), environment)).toEqual({
    root: join(base, 'mono'),
    cwd: join(base, 'mono/package/src'),
    by: 'kogu',
  })
  writeFileSync(join(base, 'mono/package/kogu.toml'), '')
  expect(findWorkspace(join(base, 'mono/package/src'), environment).root).toBe(join(base, 'mono/package'))
})

test('without a marker it is the git root, and without that the folder itself', () => {
  const base = makeFolders('home', 'a/.git', 'a/src', 'b/src')
  const environment = { home: join(base, 'home'), uid }
  expect(findWorkspace(join(base, 'a/src'), environment)).toMatchObject({ root: join(base, 'a'), by: 'git' })
  expect(findWorkspace(join(base, 'b/src'), environment)).toMatchObject({
    root: join(base, 'b/src'),
    by: 'cwd',
  })
})

test('a home folder with .kogu and .git is not the workspace of what is below it', () => {
  const base = makeFolders('home/.kogu', 'home/.git', 'home/project')
  const environment = { home: join(base, 'home'), uid }
  expect(findWorkspace(join(base, 'home/project'), environment).root).toBe(join(base, 'home/project'))
})

test('the home folder, what contains it and / are refused unless they are named', () => {
  const base = makeFolders('users/ada/.kogu')
  symlinkSync(join(base, 'users/ada'), join(base, 'link'))
  const environment = { home: join(base, 'link'), uid }
  for (const folder of [join(base, 'users/ada'), join(base, 'link'), join(base, 'users'), '/']) {
    expect(() => findWorkspace(folder, environment)).toThrow(/as a workspace/)
    expect(findWorkspace(folder, environment, true).root).toBe(realpathSync(folder))
  }
})

test('a .kogu that is a file and a kogu.toml that is a folder do not count', () => {
  const base = makeFolders('home', 'a/kogu.toml', 'a/b')
  writeFileSync(join(base, 'a/.kogu'), '')
  expect(findWorkspace(join(base, 'a/b'), { home: join(base, 'home'), uid }).root).toBe(join(base, 'a/b'))
})

test('a marker of somebody else in a folder that everybody may write does not move the workspace up', () => {
  const base = makeFolders('home', 'shared/.kogu', 'shared/mine')
  chmodSync(join(base, 'shared'), 0o1777)
  const home = join(base, 'home')
  const other = (uid ?? 0) + 1
  expect(findWorkspace(join(base, 'shared/mine'), { home, uid: other }).root).toBe(join(base, 'shared/mine'))
  expect(findWorkspace(join(base, 'shared/mine'), { home, uid }).root).toBe(join(base, 'shared'))
})

test('a folder that does not exist is said to be missing', () => {
  expect(() => findWorkspace('/no/such/folder', { home: '/home/x', uid })).toThrow('No such folder')
})
