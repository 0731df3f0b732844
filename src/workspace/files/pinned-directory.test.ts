import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pinDirectory, pinNewDirectory } from './pinned-directory.ts'

let base: string
const at = (path: string): string => join(base, path)
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-pin-')))
  mkdirSync(at('inside/dir/sub'), { recursive: true })
  mkdirSync(at('outside/sub'), { recursive: true })
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function swap(path: string): void {
  renameSync(at(path), at('away'))
  symlinkSync(at('outside'), at(path))
}

test.each(['inside/dir', 'inside/dir/sub'])(
  '%s is refused once a link was swapped in on the way to it',
  path => {
    pinDirectory(at(path)).close()
    swap('inside/dir')
    expect(() => pinDirectory(at(path))).toThrow('replaced')
  },
)

test('a pinned folder stays the one it was when its path is swapped, and says that it moved', () => {
  const folder = pinDirectory(at('inside/dir'))
  expect(folder.isInPlace()).toBe(true)
  swap('inside/dir')
  expect(folder.isInPlace()).toBe(false)
  writeFileSync(folder.at('file'), 'x')
  expect([existsSync(at('away/file')), existsSync(at('outside/file'))]).toEqual([true, false])
  folder.close()
})

test('a new folder whose name was taken by a link is refused, and nothing is made behind it', () => {
  const folder = pinDirectory(at('inside'))
  symlinkSync(at('outside'), at('inside/new'))
  expect(() => pinNewDirectory(folder, 'new')).toThrow('replaced')
  folder.close()
})

test.each(['', '.', '..', 'a/b', '/etc', 'a\0b'])('%j is not the name of an entry', name => {
  const folder = pinDirectory(at('inside'))
  expect(() => folder.at(name)).toThrow('name')
  folder.close()
})
