import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fileTools } from './all.ts'
import { deleteFile } from './delete-file.ts'
import { listDirectory } from './list-directory.ts'
import { moveFile } from './move-file.ts'
import { createToolBench, type ToolBench } from './testing.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

test('a folder is listed with folders first, sizes, and what the call may read only', async () => {
  mkdirSync(bench.at('list/sub'), { recursive: true })
  writeFileSync(bench.at('list/b.txt'), 'four')
  writeFileSync(bench.at('list/.a\nb'), '')
  writeFileSync(bench.at('list/secret'), '')
  symlinkSync('b.txt', bench.at('list/link'))
  const permit = { mayRead: (path: string) => !path.endsWith('secret') }
  const { text, data } = await bench.call(listDirectory, { path: 'list' }, { permit })
  expect(text).toBe(
    '4 entries in list. 1 entry that may not be read was left out.\nsub/\n.a⟨U+000A⟩b  0 bytes\nb.txt  4 bytes\nlink  (link)',
  )
  expect(data).toMatchObject({ path: bench.at('list'), total: 4, truncated: false })
  expect(data.entries[2]).toMatchObject({ name: 'b.txt', kind: 'file', size: 4 })
  const page = await bench.call(listDirectory, { path: 'list', limit: 1, offset: 1 }, { permit })
  expect(page.data).toMatchObject({ truncated: true, next_offset: 2 })
  await expect(bench.call(listDirectory, { path: 'list/b.txt' })).rejects.toMatchObject({
    hint: expect.stringContaining('read_file'),
  })
  await expect(bench.call(listDirectory, { path: 'lost' })).rejects.toMatchObject({
    hint: "Did you mean 'list' in the same folder?",
  })
})

test('the listing names the working folder, counts in plain words and says when an offset is too large', async () => {
  const empty = createToolBench()
  try {
    mkdirSync(empty.at('sub'))
    expect((await empty.call(listDirectory, { path: 'sub' })).text).toBe('sub is empty.')
    writeFileSync(empty.at('sub/one'), 'x')
    expect((await empty.call(listDirectory, { path: 'sub' })).text).toBe('1 entry in sub.\none  1 byte')
    expect((await empty.call(listDirectory, {})).text).toBe('2 entries in the working folder.\n.kogu/\nsub/')
    const beyond = await empty.call(listDirectory, { path: 'sub', offset: 5 })
    expect(beyond.text).toBe('1 entry in sub. None from offset 5 on.')
    expect(beyond.data).toMatchObject({ truncated: false, next_offset: null })
  } finally {
    await empty.close()
  }
})

test('a file is moved, into new folders too, but nothing is replaced unless asked', async () => {
  writeFileSync(bench.at('from.txt'), 'a')
  const moved = await bench.call(moveFile, { source: 'from.txt', destination: 'new/place/to.txt' })
  expect(moved.text).toBe('Moved from.txt to new/place/to.txt')
  expect(readFileSync(bench.at('new/place/to.txt'), 'utf8')).toBe('a')
  writeFileSync(bench.at('other.txt'), 'b')
  await expect(bench.call(moveFile, { from: 'other.txt', to: 'new/place/to.txt' })).rejects.toMatchObject({
    code: 'conflict',
    hint: 'Choose another name, or pass overwrite: true to replace it.',
  })
  await bench.call(moveFile, { from: 'other.txt', to: 'new/place/to.txt', overwrite: true })
  expect(readFileSync(bench.at('new/place/to.txt'), 'utf8')).toBe('b')
  await expect(bench.call(moveFile, { from: 'gone.txt', to: 'x' })).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(existsSync(bench.at('other.txt'))).toBe(false)
})

test.each([false, true])(
  'a move to an existing folder names the path in it (overwrite: %s)',
  async overwrite => {
    mkdirSync(bench.at('shelf'), { recursive: true })
    writeFileSync(bench.at('book.txt'), 'a')
    await expect(bench.call(moveFile, { from: 'book.txt', to: 'shelf/', overwrite })).rejects.toMatchObject({
      code: 'conflict',
      message: 'shelf/ is a folder that exists already.',
      hint: 'To move it into that folder, pass to: "shelf/book.txt".',
    })
    expect(readFileSync(bench.at('book.txt'), 'utf8')).toBe('a')
  },
)

test('a pipe is not deleted, and the command for it is named', async () => {
  execFileSync('mkfifo', [bench.at("it's a pipe")])
  await expect(bench.call(deleteFile, { path: "it's a pipe" })).rejects.toMatchObject({
    code: 'invalid_input',
    hint: `A person can delete it: rm '${bench.root}/it'\\''s a pipe'`,
  })
})

test('moving says that it reads, deletes and writes', async () => {
  const place = { cwd: '/w', workspace: '/w', receipts: new Map<string, string>() }
  expect(await moveFile.access({ from: 'a', to: 'b', overwrite: true }, place)).toEqual([
    { kind: 'file_read', path: '/w/a' },
    { kind: 'file_delete', path: '/w/a' },
    { kind: 'file_write', path: '/w/b' },
    { kind: 'file_delete', path: '/w/b' },
  ])
})

test('a file is deleted; a folder that is not empty only when asked; of a link only the link', async () => {
  mkdirSync(bench.at('tree/deep'), { recursive: true })
  writeFileSync(bench.at('tree/deep/a'), 'a')
  writeFileSync(bench.at('tree/b'), 'b')
  symlinkSync('tree', bench.at('tree-link'))
  expect((await bench.call(deleteFile, { path: 'tree/b' })).text).toBe('Deleted tree/b')
  await bench.call(deleteFile, { path: 'tree-link' })
  expect(existsSync(bench.at('tree/deep/a'))).toBe(true)
  await expect(bench.call(deleteFile, { path: 'tree' })).rejects.toMatchObject({
    hint: expect.stringContaining('recursive'),
  })
  expect((await bench.call(deleteFile, { path: 'tree', recursive: true })).data).toMatchObject({
    entries: 3,
    files: 1,
  })
  expect(existsSync(bench.at('tree'))).toBe(false)
  await expect(bench.call(deleteFile, { path: 'tree' })).rejects.toMatchObject({ code: 'not_found' })
})

test('names and aliases of the tools do not collide, and every parameter alias leads to a parameter', () => {
  const tools = fileTools(() => Promise.reject(new Error('no ripgrep in this test')))
  for (const tool of tools) {
    const own = new Set([tool.name, ...tool.aliases].map(name => name.toLowerCase()))
    const others = tools.filter(other => other !== tool)
    for (const other of others)
      for (const name of [other.name, ...other.aliases]) expect(own.has(name.toLowerCase())).toBe(false)
    const parameters = Object.keys((tool.input.json.properties ?? {}) as object)
    for (const alias of Object.values(tool.parameterAliases)) {
      expect(parameters).toContain(typeof alias === 'string' ? alias : alias.to)
    }
    for (const alias of Object.keys(tool.parameterAliases)) expect(parameters).not.toContain(alias)
  }
})

/** Root may write everywhere; an ordinary user may not. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work()
  execFileSync('chown', ['-R', '65534:65534', bench.at('.')])
  process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

test('a move or a deletion that the system refuses has no effect, and names the path', async () => {
  mkdirSync(bench.at('closed'))
  writeFileSync(bench.at('closed/f'), 'x')
  chmodSync(bench.at('closed'), 0o555)
  const refusal = { code: 'failed', message: 'The operating system refused access: closed/f' }
  await asNobody(async () => {
    await expect(bench.call(moveFile, { from: 'closed/f', to: 'elsewhere/g' })).rejects.toMatchObject(refusal)
    await expect(bench.call(deleteFile, { path: 'closed/f' })).rejects.toMatchObject(refusal)
  })
  expect([existsSync(bench.at('elsewhere')), statSync(bench.at('closed/f')).nlink]).toEqual([false, 1])
  chmodSync(bench.at('closed'), 0o755)
})
