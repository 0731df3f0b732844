import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ToolContext } from '../core/tool.ts'
import { editFile } from './edit-file.ts'
import { namePath } from './path-failure.ts'
import { readFile } from './read-file.ts'
import { type BenchOptions, createToolBench, type ToolBench } from './testing.ts'
import { writeFile } from './write-file.ts'

let bench: ToolBench
beforeEach(() => {
  bench = createToolBench()
})
afterEach(() => bench.close())

function given(path: string): void {
  mkdirSync(dirname(bench.at(path)), { recursive: true })
  writeFileSync(bench.at(path), 'x\n')
}

const hintOf = (path: string, options: BenchOptions = {}): Promise<string> =>
  bench.call(readFile, { path }, options).then(
    () => 'it was read',
    ({ hint }) => hint,
  )

test('a file of the same name elsewhere in the workspace is named, that in folders of the same names first', async () => {
  given('src/util/helper.ts')
  given('lib/helper.ts')
  given('node_modules/x/helper.ts')
  expect(await hintOf('util/helper.ts')).toBe("Did you mean 'src/util/helper.ts' or 'lib/helper.ts'?")
  expect(await hintOf('/src/util/helper.ts')).toBe("Did you mean 'src/util/helper.ts' or 'lib/helper.ts'?")
  const permit = { mayRead: (path: string) => !path.includes('/lib') }
  expect(await hintOf('helper.ts', { permit })).toBe("Did you mean 'src/util/helper.ts'?")
})

test('the search for a name ends after 2000 entries', async () => {
  mkdirSync(bench.at('many'))
  for (let i = 0; i < 2100; i += 1) writeFileSync(bench.at(`many/${i}`), '')
  given('many/z/deep.ts')
  expect(await hintOf('deep.ts')).toBe('List the folder with list_directory, or find it with glob_search.')
})

test('a link that leads nowhere says where it leads', async () => {
  symlinkSync('gone.txt', bench.at('link.txt'))
  const missing = {
    code: 'not_found',
    message: 'The symlink link.txt points to gone.txt, which does not exist.',
    hint: expect.stringContaining('write_file'),
  }
  await expect(bench.call(readFile, { path: 'link.txt' })).rejects.toMatchObject(missing)
  await expect(
    bench.call(editFile, { path: 'link.txt', old_string: 'a', new_string: 'b' }),
  ).rejects.toMatchObject(missing)
})

test('a name in another Unicode form, or copied from a listing, is told in a form that can be passed', async () => {
  given('cafe\u0301.txt')
  given('two\nlines.txt')
  const hint = await hintOf('caf\u00e9.txt')
  expect(hint).toContain(String.raw`in JSON it is written "cafe\u0301.txt".`)
  expect(await hintOf('two⟨U+000A⟩lines.txt')).toContain(String.raw`in JSON it is written "two\nlines.txt".`)
})

test('write_file does not put a second file beside one whose name looks the same, unless it is to create one', async () => {
  given('cafe\u0301.txt')
  const input = { path: 'caf\u00e9.txt', content: 'y\n' }
  await expect(bench.call(writeFile, input)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('looks the same'),
    hint: expect.stringContaining(String.raw`"cafe\u0301.txt"`),
  })
  expect(existsSync(bench.at('caf\u00e9.txt'))).toBe(false)
  await bench.call(writeFile, { ...input, mode: 'create' })
  await bench.call(writeFile, input)
  await bench.call(writeFile, { path: 'neu/größe.txt', content: 'y\n' })
})

test('a path below a file says which file that is', async () => {
  given('ea.txt')
  const refused = {
    code: 'not_found',
    message: 'Not a folder: ea.txt',
    hint: expect.stringContaining('is a file'),
  }
  const path = 'ea.txt/x/y'
  await expect(bench.call(readFile, { path })).rejects.toMatchObject(refused)
  await expect(bench.call(writeFile, { path, content: 'x' })).rejects.toMatchObject(refused)
  await expect(bench.call(editFile, { path, old_string: 'a', new_string: 'b' })).rejects.toMatchObject(
    refused,
  )
})

test('what the operating system refuses is named', () => {
  const context = { files: { resolve: () => bench.at('a/b.txt') }, cwd: bench.root, workspace: bench.root }
  const refused = Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/proc/self/fd/9/.kogu-tmp-1' })
  // Tests may run as root, whom no mode stops.
  expect(() => namePath('a/b.txt', context as unknown as ToolContext)(refused)).toThrow(
    'The operating system refused access: a/b.txt',
  )
})
