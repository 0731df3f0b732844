import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { realPathOf, resolvePath } from './real-path.ts'

let base: string
const at = (path: string): string => join(base, path)
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-path-')))
  mkdirSync(at('dir'))
  writeFileSync(at('dir/file'), '')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

test('what exists is its real path, what does not hangs below what does', () => {
  symlinkSync('dir', at('link'))
  expect(resolvePath(at('link/file'))).toEqual({
    real: at('dir/file'),
    existing: at('dir/file'),
    missing: [],
  })
  expect(resolvePath(at('link/new'))).toEqual({
    real: at('dir/new'),
    existing: at('dir'),
    missing: ['new'],
  })
  expect(resolvePath(at('link/a/b'))).toEqual({
    real: at('dir/a/b'),
    existing: at('dir'),
    missing: ['a', 'b'],
  })
})

test('a link that leads nowhere is its target, which a write would create', () => {
  symlinkSync('dir/a/new', at('dangling'))
  expect(resolvePath(at('dangling'))).toEqual({
    real: at('dir/a/new'),
    existing: at('dir'),
    missing: ['a', 'new'],
  })
})

test('a path that goes on below a file is resolved as if nothing were there', () => {
  for (const path of ['dir/file/x', 'dir/file/x/y']) {
    expect(realPathOf(at(path))).toBe(at(path))
    const refuse = (file: string): never => {
      throw new Error(`below ${file}`)
    }
    expect(() => resolvePath(at(path), refuse)).toThrow(`below ${at('dir/file')}`)
  }
})

test('a path through a loop of links is a failure that says so', () => {
  symlinkSync('two', at('one'))
  symlinkSync('one', at('two'))
  for (const path of ['one', 'one/x', 'one/x/y']) expect(() => realPathOf(at(path))).toThrow('symlink loop')
})

test('a name that is longer than a name can be is nothing that exists, and a long path of links is not taken for that', () => {
  expect(realPathOf(at(`dir/${'x'.repeat(300)}`))).toBe(at(`dir/${'x'.repeat(300)}`))
  expect(realPathOf(at(`${'é'.repeat(200)}/a/b`))).toBe(at(`${'é'.repeat(200)}/a/b`))
  expect(() => realPathOf(at(`dir/${'y/'.repeat(3000)}z`))).toThrow('ENAMETOOLONG')
})

test('what the kernel shows of another program is no link that was replaced, whether or not it may be followed', () => {
  for (const path of ['/proc/1/ns/pid', '/proc/1/root', '/proc/self/ns/pid'])
    expect(typeof realPathOf(path)).toBe('string')
})
