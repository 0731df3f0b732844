import { expect, test } from 'vitest'
import { notesOf, parseDiff, toPairs } from './parse-diff.ts'

const DIFF = `--- a/prices.json
+++ b/prices.json
@@ -1,4 +1,4 @@
 {
-  "tea": 120,
+  "tea": 95,
   "cup": 80
 }
`

test('lines have their numbers, and the part that changed is marked', () => {
  const [file] = parseDiff(DIFF)
  expect(file).toMatchObject({ path: 'prices.json', added: 1, removed: 1 })
  expect(file?.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['hunk', undefined, undefined],
    ['same', 1, 1],
    ['removed', 2, undefined],
    ['added', undefined, 2],
    ['same', 3, 3],
    ['same', 4, 4],
  ])
  const added = file?.lines[3]
  expect(added?.text.slice(...(added.changed ?? []))).toBe('95')
})

test('content that looks like the header of another file stays in its own file', () => {
  const hostile = [
    '--- a/a.sql',
    '+++ b/a.sql',
    '@@ -1,2 +1,2 @@',
    '--- harmless.txt',
    '+++ harmless.txt',
    ' x',
    '',
  ]
  const files = parseDiff(hostile.join('\n'))
  expect(files.map(({ path, added, removed }) => [path, added, removed])).toEqual([['a.sql', 1, 1]])
})

test('a new and a deleted file have the name that is not /dev/null', () => {
  const text =
    '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+a\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n'
  expect(parseDiff(text).map(({ path }) => path)).toEqual(['new.txt', 'old.txt'])
})

test('side by side, a line stands beside the one it takes the place of', () => {
  const [file] = parseDiff('--- a/x\n+++ b/x\n@@ -1,4 +1,3 @@\n same\n-one\n-two\n+three\n end\n')
  expect(toPairs(file?.lines ?? []).map(pair => pair.map(line => line?.text))).toEqual([
    ['@@ -1,4 +1,3 @@', '@@ -1,4 +1,3 @@'],
    ['same', 'same'],
    ['one', 'three'],
    ['two', undefined],
    ['end', 'end'],
  ])
})

test('a new file, an emptied one, other line ends and a missing last line end are named', () => {
  const notes = (body: string) => parseDiff(`--- a/x\n+++ b/x\n${body}`).map(notesOf)
  expect(notes('@@ -0,0 +1,1 @@\n+a\n')).toEqual([['newFile']])
  expect(notes('@@ -1,1 +0,0 @@\n-a\n')).toEqual([['emptied']])
  expect(notes('@@ -1,1 +1,1 @@\n-a\r\n+a\n')).toEqual([['lineEnds']])
  expect(notes('@@ -1,1 +1,1 @@\n-\uFFFDPNG\n+b\n')).toEqual([['binary']])
  expect(notes('@@ -1,1 +1,1 @@\n-a\n+b\n\\ No newline at end of file\n')).toEqual([['lastLine']])
  expect(notes('@@ -1,1 +1,1 @@\n-a\n+b\n')).toEqual([[]])
})

test('what stands before the first file is not lost: deletions, links and new modes stand there', () => {
  const files = parseDiff(`2 entries written, 1 deleted\n  link a -> /etc\nDeleted:\n  b\n\n${DIFF}`)
  expect(files.map(({ path }) => path)).toEqual(['', 'prices.json'])
  expect(files[0]?.lines.map(({ text }) => text)).toEqual([
    ...['2 entries written, 1 deleted', '  link a -> /etc', 'Deleted:', '  b'],
  ])
})
