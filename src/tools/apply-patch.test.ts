import { existsSync, symlinkSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { partsOf } from '../core/diff-parts.ts'
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

const whole = (...lines: string[]) => ({
  input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
})

test('what no difference shows is said before all of them: files that go, and files that move', async () => {
  await bench.given('go.txt', 'x\n')
  await bench.given('stay.txt', 'a\n')
  const moves = ['*** Update File: stay.txt', '*** Move to: other.txt']
  expect(applyPatch.preview?.(whole(...moves), place())).toBe('move stay.txt to other.txt\n')
  const both = whole('*** Update File: stay.txt', '-a', '+b', '*** Delete File: go.txt')
  expect(applyPatch.preview?.(both, place())).toMatch(/^delete go\.txt\n\n--- a\/stay\.txt\n/)
})

test('where the differences are not what would happen, the patch itself is shown', async () => {
  await bench.given('twice.txt', 'a\n')
  const change = ['*** Update File: twice.txt', '-a', '+b']
  expect(applyPatch.preview?.(whole(...change, ...change), place())).toBeUndefined()
  expect(() => applyPatch.preview?.(whole('*** Update File: no.txt', '-a', '+b'), place())).toThrow(
    'No such file',
  )
})

test('also where a file is named in two ways, or is there only once another has moved to it', async () => {
  await bench.given('seen.txt', 'a\nkeep\n')
  await bench.given('moves.txt', 'b\nkeep\n')
  symlinkSync('seen.txt', bench.at('link.txt'))
  const first = ['*** Update File: seen.txt', '@@', '+keep', '-a', '+b']
  for (const other of ['./seen.txt', 'link.txt', bench.at('seen.txt')])
    expect(
      applyPatch.preview?.(whole(...first, `*** Update File: ${other}`, '-keep', '+gone'), place()),
    ).toBeUndefined()
  const moves = ['*** Delete File: seen.txt', '*** Update File: moves.txt', '*** Move to: ./seen.txt']
  expect(applyPatch.preview?.(whole(...moves), place())).toBeUndefined()
})

test('no part is left out of a patch that cannot be written again as it was read', async () => {
  await bench.given('plain.txt', 'a\n')
  // Of two carriage returns before the line end, one belongs to the content.
  const wanted = whole('*** Add File: odd.txt', '+odd\r\r', '*** Update File: plain.txt', '-a', '+b')
  expect(applyPatch.leaveOut?.(wanted, new Set([1]), place())).toBeUndefined()
  expect(applyPatch.leaveOut?.(wanted, new Set([0]), place())).toBeDefined()
})

test('parts are left out over all files: of one file, a whole file, and a new one', async () => {
  const lines = Array.from({ length: 30 }, (_, index) => (index % 15 === 0 ? `at ${index}` : 'same'))
  await bench.given('parts.txt', `${lines.join('\n')}\n`)
  await bench.given('crlf-parts.txt', 'a\r\nb\r\n')
  const wanted = whole(
    ...['*** Add File: fresh.txt', '+new'],
    ...[
      '*** Update File: parts.txt',
      '*** Move to: moved.txt',
      '@@',
      '-at 0',
      '+AT 0',
      '@@',
      '-at 15',
      '+AT 15',
    ],
    ...['*** Update File: crlf-parts.txt', '@@', '-b', '+B'],
  )
  const leave = (...parts: number[]) => applyPatch.leaveOut?.(wanted, new Set(parts), place())
  const preview = applyPatch.preview?.(wanted, place()) ?? ''
  expect(partsOf(preview).map(part => part.split('\n')[0])).toEqual([
    '+++ b/fresh.txt',
    ...['+++ b/parts.txt', '+++ b/parts.txt', '+++ b/crlf-parts.txt'],
  ])
  expect(leave(0, 1)?.input).toBe(
    whole(
      ...['*** Update File: parts.txt', '*** Move to: moved.txt', '@@', '-at 15', '+AT 15'],
      ...['*** Update File: crlf-parts.txt', '@@', '-b', '+B'],
    ).input,
  )
  expect(leave(1, 2, 3)?.input).toContain('*** Move to: moved.txt\n*** End Patch')
  await bench.call(applyPatch, { input: leave(0, 2)?.input })
  expect(bench.content('moved.txt')).toBe(`${lines.join('\n')}\n`.replace('at 0', 'AT 0'))
  expect(bench.content('crlf-parts.txt')).toBe('a\r\nB\r\n')
  expect(existsSync(bench.at('fresh.txt'))).toBe(false)
})
