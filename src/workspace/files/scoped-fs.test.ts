import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestWorkspace, type TestWorkspace } from '../testing.ts'
import { listRecords, readRecord } from '../undo/undo-read.ts'
import { sha256 } from './file-content.ts'

let workspace: TestWorkspace
const at = (path: string): string => join(workspace.root, path)
const text = (path: string): string => readFileSync(at(path), 'utf8')

beforeEach(() => {
  workspace = createTestWorkspace()
})
afterEach(() => workspace.close())

describe('update', () => {
  test('creates a file with its folders and records each of them', async () => {
    const call = workspace.call([{ kind: 'file_write', path: 'a/b/c.txt' }])
    const effect = await call.files.update('a/b/c.txt', () => Buffer.from('hello'), {
      createDirectories: true,
    })
    expect(effect).toEqual({
      change: 'created',
      path: at('a/b/c.txt'),
      entry: 'file',
      after: { mode: statSync(at('a/b/c.txt')).mode & 0o7777, size: 5, sha256: sha256('hello') },
    })
    expect(call.effects.map(each => [each.change, each.entry, each.path])).toEqual([
      ['created', 'directory', at('a')],
      ['created', 'directory', at('a/b')],
      ['created', 'file', at('a/b/c.txt')],
    ])
    expect(workspace.receipts.get(at('a/b/c.txt'))).toBe(sha256('hello'))
  })

  test('does not create folders unless asked to', async () => {
    const { files } = workspace.call([{ kind: 'file_write', path: 'a/b.txt' }])
    await expect(files.update('a/b.txt', () => Buffer.from('x'))).rejects.toMatchObject({ code: 'not_found' })
    expect(readdirSync(workspace.root)).toEqual(['.kogu'])
  })

  test('gives the current bytes, their hash and the real path to the change', async () => {
    writeFileSync(at('a.txt'), 'old', { mode: 0o640 })
    chmodSync(at('a.txt'), 0o640)
    symlinkSync('a.txt', at('link'))
    const { files } = workspace.call([{ kind: 'file_write', path: 'link' }])
    await files.update('link', (before, current) => {
      expect(Buffer.from(before ?? []).toString()).toBe('old')
      expect(current).toEqual({ path: at('a.txt'), mode: 0o640, sha256: sha256('old') })
      return Buffer.from('new')
    })
    expect(text('a.txt')).toBe('new')
    expect(readlinkSync(at('link'))).toBe('a.txt')
    expect(statSync(at('a.txt')).mode & 0o7777).toBe(0o640)
  })

  test('writes the target of a dangling link, inside the scope', async () => {
    symlinkSync('later.txt', at('link'))
    await workspace.write('link', 'x')
    expect(text('later.txt')).toBe('x')
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true)
  })

  test('changes nothing when the change throws or gives the same bytes', async () => {
    writeFileSync(at('a.txt'), 'same')
    const { ino, mtimeNs } = lstatSync(at('a.txt'), { bigint: true })
    const { files, effects } = workspace.call([{ kind: 'file_write', path: 'a.txt' }])
    await expect(
      files.update('a.txt', () => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await files.update('a.txt', content => content ?? new Uint8Array())
    expect(lstatSync(at('a.txt'), { bigint: true })).toMatchObject({ ino, mtimeNs })
    expect(effects).toEqual([])
    expect(readdirSync(workspace.undo.places.calls)).toEqual([])
    expect(readdirSync(workspace.undo.places.pending).filter(name => name.endsWith('.jsonl'))).toEqual([])
  })

  test('leaves no temporary file and no lock behind', async () => {
    await workspace.write('a.txt', '1')
    await workspace.write('a.txt', '2')
    expect(readdirSync(workspace.root).sort()).toEqual(['.kogu', 'a.txt'])
    expect(readdirSync(at('.kogu/locks')).filter(name => !name.endsWith('.owner'))).toEqual([])
    await workspace.undo.close()
    expect(readdirSync(workspace.undo.places.pending)).toEqual([])
  })

  test('runs changes of one file one after another, each on the result of the one before', async () => {
    writeFileSync(at('n'), '0')
    const increment = (): Promise<unknown> =>
      workspace
        .call([{ kind: 'file_write', path: 'n' }])
        .files.update('n', before => Buffer.from(String(Number(Buffer.from(before ?? [])) + 1)))
    await Promise.all(Array.from({ length: 50 }, increment))
    expect(text('n')).toBe('50')
  })

  test('tells the caller when somebody wrote the file between its look and the rename', async () => {
    writeFileSync(at('a.txt'), 'old')
    const { files } = workspace.call([{ kind: 'file_write', path: 'a.txt' }])
    const update = files.update('a.txt', () => {
      writeFileSync(at('a.txt'), 'by an editor')
      return Buffer.from('ours')
    })
    await expect(update).rejects.toMatchObject({ code: 'conflict' })
    expect(text('a.txt')).toBe('by an editor')
    expect(readdirSync(workspace.root).sort()).toEqual(['.kogu', 'a.txt'])
  })

  test('does not replace a file that appeared while a new one was being made, and records none of it', async () => {
    const { files, effects } = workspace.call([{ kind: 'file_write', path: 'new/a.txt' }])
    const update = files.update(
      'new/a.txt',
      () => {
        mkdirSync(at('new'))
        writeFileSync(at('new/a.txt'), 'by an editor')
        return Buffer.from('ours')
      },
      { createDirectories: true },
    )
    await expect(update).rejects.toMatchObject({ code: 'conflict' })
    expect(text('new/a.txt')).toBe('by an editor')
    expect(readdirSync(at('new'))).toEqual(['a.txt'])
    expect(effects).toEqual([])
  })

  test('a write that fails before it is visible records nothing, whatever somebody wrote meanwhile', async () => {
    mkdirSync(at('dir'))
    writeFileSync(at('dir/a.txt'), 'old')
    const { files, effects } = workspace.call([{ kind: 'file_write', path: 'dir/a.txt' }])
    const update = files.update('dir/a.txt', () => {
      // The folder that was pinned is gone, so no file can be made in it.
      rmSync(at('dir'), { recursive: true })
      mkdirSync(at('dir'))
      writeFileSync(at('dir/a.txt'), 'by an editor')
      return Buffer.from('ours')
    })
    await expect(update).rejects.toMatchObject({ code: 'ENOENT' })
    expect(text('dir/a.txt')).toBe('by an editor')
    expect(effects).toEqual([])
  })

  test('a new file whose mode is not the usual one is one effect, with its own mode', async () => {
    const usual = process.umask(0o77)
    try {
      const { files, effects } = workspace.call([{ kind: 'file_write', path: 'a.txt' }], { id: 'private' })
      await files.update('a.txt', () => Buffer.from('ours'))
      expect(effects).toMatchObject([{ change: 'created', after: { mode: 0o600 } }])
    } finally {
      process.umask(usual)
    }
    expect(lstatSync(at('a.txt')).mode & 0o777).toBe(0o600)
    const recorded = listRecords(workspace.undo.places).map(readRecord)
    expect(recorded).toMatchObject([{ changes: [{ path: at('a.txt'), after: { mode: 0o600 } }] }])
  })

  test('a folder that became a link after the path was judged is noticed, and nothing is written behind it', async () => {
    mkdirSync(at('dir'))
    mkdirSync(at('elsewhere'))
    const { files, effects } = workspace.call([{ kind: 'file_write', path: 'dir/a.txt' }])
    rmSync(at('dir'), { recursive: true })
    symlinkSync(at('elsewhere'), at('dir'))
    await expect(files.update('dir/a.txt', () => Buffer.from('ours'))).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(readdirSync(at('elsewhere'))).toEqual([])
    expect(effects).toEqual([])
  })

  test.each([
    ['a link', () => symlinkSync('other.txt', at('dir/a.txt'))],
    ['a named pipe', () => execFileSync('mkfifo', [at('dir/a.txt')])],
    ['another file', () => writeFileSync(at('dir/a.txt'), 'other')],
    ['a folder', () => mkdirSync(at('dir/a.txt'))],
  ])('%s that took the place of the file meanwhile stays', async (_what, swap) => {
    mkdirSync(at('dir'))
    writeFileSync(at('dir/a.txt'), 'old')
    const { files, effects } = workspace.call([{ kind: 'file_write', path: 'dir/a.txt' }])
    let swapped: Stats | undefined
    const update = files.update('dir/a.txt', () => {
      rmSync(at('dir/a.txt'))
      swap()
      swapped = lstatSync(at('dir/a.txt'))
      return Buffer.from('ours')
    })
    await expect(update).rejects.toMatchObject({ code: 'conflict' })
    expect(lstatSync(at('dir/a.txt'))).toMatchObject({ ino: swapped?.ino, mode: swapped?.mode })
    expect([readdirSync(at('dir')), effects]).toEqual([['a.txt'], []])
  })

  test('a file whose mode was changed meanwhile is left alone', async () => {
    writeFileSync(at('a.txt'), 'old')
    const { files } = workspace.call([{ kind: 'file_write', path: 'a.txt' }])
    const update = files.update('a.txt', () => {
      chmodSync(at('a.txt'), 0o600)
      return Buffer.from('ours')
    })
    await expect(update).rejects.toMatchObject({ code: 'conflict' })
    expect([text('a.txt'), lstatSync(at('a.txt')).mode & 0o777]).toEqual(['old', 0o600])
  })

  test.each(['a.txt', 'new.txt'])(
    'in a folder that was moved away meanwhile, %s is as it was',
    async name => {
      mkdirSync(at('dir'))
      writeFileSync(at('dir/a.txt'), 'old')
      const { files, effects } = workspace.call([{ kind: 'file_write', path: `dir/${name}` }])
      const update = files.update(`dir/${name}`, () => {
        renameSync(at('dir'), at('moved'))
        return Buffer.from('ours')
      })
      await expect(update).rejects.toMatchObject({ code: 'conflict' })
      expect([readdirSync(at('moved')), text('moved/a.txt'), effects]).toEqual([['a.txt'], 'old', []])
    },
  )

  test('a move to a name that was taken meanwhile records nothing', async () => {
    writeFileSync(at('a.txt'), 'ours')
    const access = [
      { kind: 'file_delete', path: 'a.txt' },
      { kind: 'file_write', path: 'new/b.txt' },
    ] as const
    const { files, effects } = workspace.call(access)
    mkdirSync(at('new'))
    writeFileSync(at('new/b.txt'), 'theirs')
    await expect(files.move('a.txt', 'new/b.txt')).rejects.toMatchObject({ code: 'conflict' })
    expect([text('a.txt'), text('new/b.txt')]).toEqual(['ours', 'theirs'])
    expect(effects).toEqual([])
  })

  test('writes a file with other names only when that was confirmed, and then all names see it', async () => {
    writeFileSync(at('a.txt'), 'old content')
    linkSync(at('a.txt'), at('b.txt'))
    await expect(workspace.write('a.txt', 'new')).rejects.toMatchObject({ code: 'forbidden' })
    expect(text('a.txt')).toBe('old content')
    const { files } = workspace.call([
      { kind: 'file_write', path: 'a.txt' },
      { kind: 'custom', name: 'write_hard_link', details: 'a.txt' },
    ])
    await files.update('a.txt', () => Buffer.from('new'))
    expect([text('a.txt'), text('b.txt')]).toEqual(['new', 'new'])
    expect(readdirSync(workspace.root).sort()).toEqual(['.kogu', 'a.txt', 'b.txt'])
  })

  test('does nothing any more once the call has ended or was cancelled', async () => {
    const controller = new AbortController()
    const call = workspace.call([{ kind: 'file_write', path: 'a.txt' }], { signal: controller.signal })
    controller.abort()
    await expect(call.files.update('a.txt', () => Buffer.from('x'))).rejects.toMatchObject({
      code: 'cancelled',
    })
    const other = workspace.call([{ kind: 'file_write', path: 'a.txt' }])
    await other.close()
    await expect(other.files.update('a.txt', () => Buffer.from('x'))).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(existsSync(at('a.txt'))).toBe(false)
  })

  test('handles a file of several megabytes', async () => {
    const big = Buffer.alloc(3_000_000, 'abcdefg')
    await workspace.write('big', big)
    big[1_500_000] = 0
    await workspace.write('big', big)
    expect(readFileSync(at('big')).equals(big)).toBe(true)
  })
})

describe('open and list', () => {
  test('reads parts of a file and gives its size, mode and real path', async () => {
    mkdirSync(at('d'))
    writeFileSync(at('d/a.txt'), '0123456789')
    symlinkSync('d', at('link'))
    const { files } = workspace.call([{ kind: 'file_read', path: 'link/a.txt' }])
    const file = await files.open('link/a.txt')
    expect({ path: file.path, size: file.size }).toEqual({ path: at('d/a.txt'), size: 10 })
    expect(Buffer.from(await file.read(3, 4)).toString()).toBe('3456')
    expect(Buffer.from(await file.read(8, 100)).toString()).toBe('89')
    file.close()
  })

  test('lists files, folders and links without those that may not be seen', async () => {
    mkdirSync(at('d'))
    writeFileSync(at('a.txt'), 'abc')
    writeFileSync(at('.env'), 'SECRET=1')
    symlinkSync('a.txt', at('link'))
    const { files } = workspace.call([{ kind: 'file_read', path: '.' }], {
      permit: { mayRead: path => !path.endsWith('.env') && !path.endsWith('.kogu') },
    })
    const entries = await files.list('.')
    expect(entries.map(({ name, kind, size }) => [name, kind, kind === 'file' ? size : 0])).toEqual([
      ['a.txt', 'file', 3],
      ['d', 'directory', 0],
      ['link', 'link', 0],
    ])
  })

  test('says that a file does not exist, or that a folder is not a file', async () => {
    mkdirSync(at('d'))
    const { files } = workspace.call([
      { kind: 'file_read', path: 'missing' },
      { kind: 'file_read', path: 'd' },
    ])
    await expect(files.open('missing')).rejects.toMatchObject({ code: 'not_found' })
    await expect(files.open('d')).rejects.toThrow('a folder')
    await expect(files.open('d/')).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

describe('remove and move', () => {
  test('removes a whole folder at once and records every entry', async () => {
    mkdirSync(at('d/e'), { recursive: true })
    writeFileSync(at('d/a.txt'), 'a')
    writeFileSync(at('d/e/b.txt'), 'b')
    symlinkSync('a.txt', at('d/link'))
    const effects = await workspace.remove('d')
    expect(existsSync(at('d'))).toBe(false)
    expect(
      effects
        .map(each => `${each.change} ${each.entry} ${each.path.slice(workspace.root.length + 1)}`)
        .sort(),
    ).toEqual([
      'deleted directory d',
      'deleted directory d/e',
      'deleted file d/a.txt',
      'deleted file d/e/b.txt',
      'deleted link d/link',
    ])
    expect(readdirSync(workspace.root)).toEqual(['.kogu'])
  })

  test('removes a link, not what it points to', async () => {
    writeFileSync(at('a.txt'), 'a')
    symlinkSync('a.txt', at('link'))
    await workspace.remove('link')
    expect(readdirSync(workspace.root).sort()).toEqual(['.kogu', 'a.txt'])
  })

  test('says when a deleted file was too large to be kept', async () => {
    const small = createTestWorkspace({ largeFileBytes: 1000 })
    writeFileSync(join(small.root, 'large'), Buffer.alloc(1001))
    expect(await small.remove('large')).toMatchObject([{ change: 'deleted', undoable: false }])
    await small.close()
  })

  test('does not remove a folder that holds something protected, nor the workspace itself', async () => {
    mkdirSync(at('repo/.git'), { recursive: true })
    writeFileSync(at('repo/.git/config'), '')
    await expect(workspace.remove('repo')).rejects.toMatchObject({ code: 'forbidden' })
    await expect(workspace.remove('.')).rejects.toMatchObject({ code: 'forbidden' })
    expect(existsSync(at('repo/.git/config'))).toBe(true)
  })

  test('moves a file and its receipt, creating the folder', async () => {
    await workspace.write('a.txt', 'a')
    await workspace.move('a.txt', 'd/b.txt')
    expect(text('d/b.txt')).toBe('a')
    expect(existsSync(at('a.txt'))).toBe(false)
    expect(workspace.receipts.get(at('a.txt'))).toBeUndefined()
    expect(workspace.receipts.get(at('d/b.txt'))).toBe(sha256('a'))
  })

  test('moves a folder with everything in it', async () => {
    await workspace.write('d/e/a.txt', 'a')
    const effects = await workspace.move('d', 'f')
    expect(text('f/e/a.txt')).toBe('a')
    expect(existsSync(at('d'))).toBe(false)
    expect(effects).toHaveLength(6)
  })

  test('overwrites a file only when asked to', async () => {
    await workspace.write('a.txt', 'a')
    await workspace.write('b.txt', 'b')
    await expect(workspace.move('a.txt', 'b.txt')).rejects.toMatchObject({ code: 'conflict' })
    expect([text('a.txt'), text('b.txt')]).toEqual(['a', 'b'])
    await workspace.move('a.txt', 'b.txt', { overwrite: true })
    expect(text('b.txt')).toBe('a')
    expect(existsSync(at('a.txt'))).toBe(false)
  })

  test('does not move a folder into itself, onto a folder, or to a protected name', async () => {
    await workspace.write('d/a.txt', 'a')
    mkdirSync(at('e'))
    await expect(workspace.move('d', 'd/x')).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(workspace.move('d', 'e', { overwrite: true })).rejects.toMatchObject({ code: 'conflict' })
    await expect(workspace.move('d', '.git')).rejects.toMatchObject({ code: 'forbidden' })
    expect(text('d/a.txt')).toBe('a')
  })

  test('does not give another name to a file that may not be read', async () => {
    await workspace.write('d/.env', 'SECRET=1')
    const call = workspace.call(
      [
        { kind: 'file_delete', path: 'd' },
        { kind: 'file_write', path: 'e' },
      ],
      { permit: { mayRead: path => !path.endsWith('.env') } },
    )
    await expect(call.files.move('d', 'e')).rejects.toMatchObject({ code: 'denied' })
    expect(existsSync(at('d/.env'))).toBe(true)
  })
})
