import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { validateInput } from '../core/input.ts'
import type { AnyTool } from '../core/tool.ts'
import { deleteFile } from './delete-file.ts'
import { editFile } from './edit-file.ts'
import { moveFile } from './move-file.ts'
import { removingAccess } from './not-undoable.ts'
import { createToolBench, type ToolBench } from './testing.ts'
import { writeFile } from './write-file.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
  mkdirSync(bench.at('folder/sub'), { recursive: true })
  writeFileSync(bench.at('small.bin'), 'x')
  for (const name of ['big.bin', 'folder/sub/big.bin']) {
    writeFileSync(bench.at(name), '')
    // Sparse: it takes no room on the disk.
    truncateSync(bench.at(name), 100 * 1024 ** 2 + 1)
  }
  symlinkSync('big.bin', bench.at('link'))
})
afterAll(() => bench.close())

async function lossesOf(tool: AnyTool, input: unknown): Promise<string[]> {
  const access = await tool.access(validateInput(tool, input), {
    cwd: bench.root,
    workspace: bench.root,
    receipts: bench.workspace.receipts,
  })
  return access.flatMap(each =>
    each.kind === 'custom' && each.name === 'not_undoable' ? [each.details] : [],
  )
}

const said = (path: string): string[] => [
  `${path} has 101 MB; files above 100 MB are not kept, so this cannot be undone.`,
]

test('losing a file that is too large to be kept for undo is an access of its own', async () => {
  const big = said(bench.at('big.bin'))
  expect(await lossesOf(deleteFile, { path: 'big.bin' })).toEqual(big)
  expect(await lossesOf(writeFile, { path: 'big.bin', content: '' })).toEqual(big)
  expect(await lossesOf(writeFile, { path: 'link', content: '' })).toEqual(said(bench.at('link')))
  expect(await lossesOf(moveFile, { from: 'small.bin', to: 'big.bin', overwrite: true })).toEqual(big)
  const inFolder = said(bench.at('folder/sub/big.bin'))
  expect(await lossesOf(deleteFile, { path: 'folder', recursive: true })).toEqual(inFolder)
  expect(await lossesOf(deleteFile, { path: 'folder/sub/../', recursive: true })).toEqual(inFolder)
})

test('the limits are those of the configuration', async () => {
  const undoLimits = { fileBytes: 5, totalBytes: 8 }
  const place = { cwd: bench.root, workspace: bench.root, receipts: bench.workspace.receipts, undoLimits }
  writeFileSync(bench.at('six'), '123456')
  mkdirSync(bench.at('nine'))
  for (const name of ['a', 'b', 'c']) writeFileSync(bench.at(`nine/${name}`), '123')
  const wanted = {
    path: 'six',
    content: '',
    mode: 'overwrite',
    create_dirs: true,
    allow_shrink: true,
  } as const
  expect(writeFile.access(wanted, place)).toContainEqual(expect.objectContaining({ name: 'not_undoable' }))
  expect(await removingAccess('six', place)).toHaveLength(1)
  expect(await removingAccess('nine', place)).toHaveLength(1)
  expect(await removingAccess('small.bin', place)).toEqual([])
})

test('what is kept, or not touched at all, is not asked about', async () => {
  expect(await lossesOf(deleteFile, { path: 'small.bin' })).toEqual([])
  // Of a link only the link goes.
  expect(await lossesOf(deleteFile, { path: 'link' })).toEqual([])
  expect(await lossesOf(deleteFile, { path: 'missing' })).toEqual([])
  expect(await lossesOf(deleteFile, { path: 'small.bin/below' })).toEqual([])
  expect(await lossesOf(moveFile, { from: 'big.bin', to: 'elsewhere' })).toEqual([])
  expect(await lossesOf(writeFile, { path: 'big.bin', content: '', mode: 'create' })).toEqual([])
  expect(await lossesOf(writeFile, { path: 'new.bin', content: '' })).toEqual([])
})

test('a folder that holds more than undo keeps in all, or too many entries to look at, is asked about', async () => {
  mkdirSync(bench.at('wide'))
  writeFileSync(bench.at('wide/0'), '')
  truncateSync(bench.at('wide/0'), 99 * 1024 ** 2)
  for (let i = 1; i < 11; i += 1) linkSync(bench.at('wide/0'), bench.at(`wide/${i}`))
  expect(await lossesOf(deleteFile, { path: 'wide', recursive: true })).toEqual([
    `${bench.at('wide')} holds 1,089 MB; undo keeps at most 1,024 MB, so this may not be undone as a whole.`,
  ])
  const place = { cwd: bench.root, workspace: bench.root, receipts: bench.workspace.receipts }
  expect(await removingAccess('wide', place, 10)).toMatchObject([
    { details: expect.stringContaining('has more than 10 entries') },
  ])
})

test('timers get their turn while a large folder is looked at', async () => {
  mkdirSync(bench.at('many'))
  for (let i = 0; i < 1_000; i += 1) writeFileSync(bench.at(`many/${i}`), '')
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 0)
  expect(
    await removingAccess('many', { cwd: bench.root, workspace: bench.root, receipts: new Map() }),
  ).toEqual([])
  clearInterval(timer)
  expect(turns).toBeGreaterThan(0)
})

test('the result says that a change cannot be undone', async () => {
  const small = createToolBench(undefined, { largeFileBytes: 10 })
  const big = 'twenty characters…\n'
  try {
    for (const name of ['a', 'b', 'c', 'd']) writeFileSync(small.at(name), big)
    writeFileSync(small.at('tiny'), 'x\n')
    expect((await small.call(deleteFile, { path: 'a' })).text).toBe('Deleted a. This cannot be undone.')
    expect((await small.call(writeFile, { path: 'b', content: 'x' })).text).toContain(
      '). This cannot be undone.',
    )
    const edit = { path: 'c', old_string: 'twenty', new_string: 'thirty' }
    expect((await small.call(editFile, edit)).text).toContain('). This cannot be undone.\n')
    expect((await small.call(moveFile, { from: 'tiny', to: 'd', overwrite: true })).text).toBe(
      'Moved tiny to d. This cannot be undone.',
    )
    expect((await small.call(deleteFile, { path: 'd' })).text).toBe('Deleted d')
  } finally {
    await small.close()
  }
})
