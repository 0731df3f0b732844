import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ToolError } from '../core/errors.ts'
import { validateInput } from '../core/input.ts'
import { editFile } from './edit-file.ts'
import { createToolBench, type ToolBench } from './testing.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

const edit = (name: string, old_string: string, new_string: string, more: object = {}) =>
  bench.call(editFile, { path: name, old_string, new_string, ...more })

test('a failed edit shows the closest lines and the characters that differ', async () => {
  await bench.given('closest.ts', 'const a = 1\nconst name = “x”\nconst b = 2\n')
  const error = await edit('closest.ts', "const nome = 'y'", 'z').catch(reason => reason)
  expect(error.code).toBe('not_found')
  expect(error.message).toContain('Closest is line 2')
  expect(error.message).toContain('column 8: the file has a (U+0061), old_string has o (U+006F)')
  await expect(edit('closest.ts', 'const c = 3\nfoo', 'const b = 2')).rejects.toMatchObject({
    message: expect.stringContaining('new_string is there already, at line 3'),
  })
})

test('a quotation from the midst of a line is compared with that part of the line', async () => {
  await bench.given('inside.ts', '        const items = [1, 2, 3]\n\tlet b = call(one, two)\n\treturn b\n')
  const messageOf = (old: string): Promise<string> =>
    edit('inside.ts', old, 'x').catch(({ message }) => message)
  expect(await messageOf('const items = [1, 2, 4]')).toContain(
    'column 30: the file has 3 (U+0033), old_string has 4 (U+0034)',
  )
  expect(await messageOf('b = call(one, too)')).toContain('column 21: the file has w')
  // What is the same from its middle on does not differ.
  const message = await messageOf('call(one, two)\n\treturn c')
  expect(message).toContain('column 9: the file has b (U+0062), old_string has c (U+0063)')
  expect(message.match(/yours/g)).toHaveLength(1)
})

test('line numbers and written escapes in old_string are named as what they are', async () => {
  await bench.given('misquoted.ts', 'class A {\r\n    constructor(a) {\r\n        this.a = a\r\n')
  const numbered = '     2\t    constructor(a) {\n     3\t        this.a = a\n'
  await expect(edit('misquoted.ts', numbered, 'x')).rejects.toMatchObject({
    code: 'not_found',
    message:
      'old_string was not found in misquoted.ts. old_string holds the line numbers that read_file shows; they are not part of the file. Without that it is at line 2.',
    hint: 'Leave out the line numbers and the tab after each of them, in new_string too.',
  })
  await expect(edit('misquoted.ts', numbered.replace('this.a', 'this.b'), 'x')).rejects.toMatchObject({
    message: expect.stringMatching(/line numbers that read_file shows.*Closest is lines 2-3.*column 14/s),
  })
  await expect(edit('misquoted.ts', 'class A {\\n    constructor(a) {', 'x')).rejects.toMatchObject({
    message: expect.stringContaining('a backslash and a letter where the file has a line break'),
    hint: expect.stringContaining('with one backslash'),
  })
  await expect(edit('misquoted.ts', 'nothing\\nlike it', 'x')).rejects.toMatchObject({
    hint: expect.stringContaining('read it again'),
  })
})

test('an edit of nothing in a file that is not there is pointed to write_file', async () => {
  for (const dry_run of [false, true])
    await expect(edit('not-there-yet.txt', '', 'x', { dry_run })).rejects.toMatchObject({
      code: 'not_found',
      hint: 'edit_file changes files that exist: create this one with write_file.',
    })
})

test('a line that stands in for removed text is refused, unless it was there or is meant literally', async () => {
  const body = Array.from({ length: 60 }, (_, i) => `    step_${i}()`).join('\n')
  const text = `def f():\n${body}\n`
  await bench.given('standin.py', text)
  const replacement = 'def f():\n    start()\n    # ... rest of the code unchanged ...\n'
  for (const dry_run of [true, false])
    await expect(edit('standin.py', text, replacement, { dry_run })).rejects.toMatchObject({
      code: 'conflict',
      message:
        'Line 3 of new_string stands in for text that is not there ("# ... rest of the code unchanged ..."); the edit would remove that text from standin.py.',
      hint: expect.stringContaining('allow_shrink'),
    })
  expect(bench.content('standin.py')).toBe(text)
  await edit('standin.py', text, replacement, { allow_shrink: true })
  // It is in the file now, so it is text like any other.
  await edit('standin.py', '    start()\n    # ... rest', '    begin()\n    # ... rest')
  // Nothing is removed, so it stands in for nothing: a remark is enough.
  const { text: said } = await edit('standin.py', '    begin()', '    begin()\n    # ... existing code ...')
  expect(said).toContain('looks like a placeholder')
})

test('what cannot be an edit is refused with what to do instead', async () => {
  await bench.given('refused.txt', 'a\n')
  await expect(edit('refused.txt', '', 'x')).rejects.toMatchObject({
    hint: expect.stringContaining('write_file'),
  })
  await expect(edit('refused.txt', 'a', 'a')).rejects.toMatchObject({ code: 'invalid_input' })
  await expect(bench.call(editFile, { path: 'refused.txt' })).rejects.toMatchObject({ code: 'invalid_input' })
  await expect(edit('refuse.txt', 'a', 'b')).rejects.toMatchObject({
    hint: "Did you mean 'refused.txt' in the same folder?",
  })
  await bench.given('junk.bin', Buffer.from([0, 1, 2, 3, 0, 255]))
  await expect(edit('junk.bin', 'a', 'b')).rejects.toMatchObject({
    message: expect.stringContaining('not text'),
  })
})

test('a stale edit that cannot be applied shows what was changed since the file was read', async () => {
  await bench.given('changed.txt', 'a\nb\nc\n')
  writeFileSync(bench.at('changed.txt'), 'a\nother\nc\n')
  const error = await edit('changed.txt', 'b', 'B').catch(reason => reason)
  expect(error.code).toBe('not_found')
  expect(error.message).toContain('The file was changed since it was read:\n--- a/changed.txt')
  expect(error.message).toContain(' a\n-b\n+other\n c\n')
  // What an edit of this run left counts as read.
  await bench.given('changed.txt', 'a\nb\nc\n')
  await edit('changed.txt', 'c', 'C')
  writeFileSync(bench.at('changed.txt'), 'a\nother\nC\n')
  const later = await edit('changed.txt', 'b', 'B').catch(reason => reason)
  expect(later.message).toContain(' a\n-b\n+other\n C\n')
  // A run that was continued by another process has the receipt, not the content.
  bench.run.contents.clear()
  await expect(edit('changed.txt', 'b', 'B')).rejects.toMatchObject({
    message: expect.stringContaining('its earlier content is no longer known'),
  })
})

test('a call without a replacement, with half of one or with two kinds is refused before it is judged', () => {
  const messageOf = (input: object): string => {
    try {
      validateInput(editFile, { path: 'a.txt', ...input })
      return 'fine'
    } catch (error) {
      return error instanceof ToolError ? `${error.code}: ${error.message}` : String(error)
    }
  }
  const edits = [{ old_string: 'a', new_string: 'b' }]
  expect(messageOf({ edits })).toBe('fine')
  expect(messageOf({ old_string: 'a', new_string: '' })).toBe('fine')
  expect(messageOf({})).toBe(
    "invalid_input: Missing required parameters 'old_string' and 'new_string', or 'edits', for tool 'edit_file'.",
  )
  expect(messageOf({ old_string: 'a' })).toBe(
    "invalid_input: Missing required parameter 'new_string' for tool 'edit_file'.",
  )
  expect(messageOf({ edits, old_string: 'a', new_string: 'b' })).toBe(
    "invalid_input: edit_file: 'edits' cannot be given together with 'old_string' or 'new_string'.",
  )
  expect(messageOf({ edits, misspelt: 1 })).toContain("Unknown parameter 'misspelt'")
  expect(messageOf({ edits, path: 'folder/' })).toContain("invalid_input: edit_file: 'path' must name a file")
})
