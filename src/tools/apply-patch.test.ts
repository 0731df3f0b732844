import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyPatch } from './apply-patch.ts'
import { createToolBench, type ToolBench } from './testing.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

const place = () => ({ cwd: bench.root, workspace: bench.root, receipts: bench.workspace.receipts })

const patch = (...lines: string[]) =>
  bench.call(applyPatch, { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })

test('adds, updates, moves and deletes files in one call', async () => {
  await bench.given('a.py', 'def f():\n    return 1\n\n\ndef g():\n    return 1\n')
  await bench.given('old.txt', 'x\n')
  const { text } = await patch(
    '*** Add File: new/b.txt',
    '+hello',
    '+world',
    '*** Update File: a.py',
    '*** Move to: lib/a.py',
    '@@ def g():',
    '-    return 1',
    '+    return 2',
    '*** Delete File: old.txt',
  )
  expect(text).toBe('Created new/b.txt\nChanged a.py and moved it to lib/a.py\nDeleted old.txt')
  expect(bench.content('new/b.txt')).toBe('hello\nworld\n')
  expect(bench.content('lib/a.py')).toBe('def f():\n    return 1\n\n\ndef g():\n    return 2\n')
  expect([existsSync(bench.at('a.py')), existsSync(bench.at('old.txt'))]).toEqual([false, false])
})

test('lines that stay keep their line ends and their whitespace; the end of the file can be named', async () => {
  await bench.given('crlf.txt', 'one  \r\ntwo\r\nthree\r\ntwo\r\nend')
  await patch(
    '*** Update File: crlf.txt',
    '@@',
    ' one',
    '-two',
    '+TWO',
    '+more',
    '@@',
    ' two',
    '-end',
    '+END',
    '*** End of File',
  )
  expect(bench.content('crlf.txt')).toBe('one  \r\nTWO\r\nmore\r\nthree\r\ntwo\r\nEND')
})

test('a patch of which one part does not fit changes nothing', async () => {
  await bench.given('one.txt', 'a\n')
  await bench.given('two.txt', 'b\n')
  const parts = ['*** Update File: one.txt', '-a', '+A', '*** Update File: two.txt', '-not there', '+B']
  await expect(patch(...parts)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('Change 1 does not fit two.txt'),
  })
  expect([bench.content('one.txt'), bench.content('two.txt')]).toEqual(['a\n', 'b\n'])
  await expect(patch('*** Add File: one.txt', '+x')).rejects.toMatchObject({ code: 'conflict' })
})

test.each([
  [['*** Update File: x', 'nonsense'], 'Line 3 of the patch: lines of a change begin with'],
  [['*** Add File: x', 'no plus'], 'lines of a new file begin with "+"'],
  [['something'], 'expected "*** Add File: "'],
  [[], 'changes no file'],
])('a malformed patch is refused with its line: %s', (lines, message) => {
  expect(() =>
    applyPatch.access({ input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') }, place()),
  ).toThrow(message)
})

test('every file of the patch is declared before anything is touched', () => {
  const input = '*** Begin Patch\n*** Delete File: gone.txt\n*** Add File: ../outside\n+x\n*** End Patch'
  expect(applyPatch.access({ input }, place())).toMatchObject([
    { kind: 'file_delete', path: bench.at('gone.txt') },
    { kind: 'file_write', path: expect.stringMatching(/\/outside$/) },
  ])
})
