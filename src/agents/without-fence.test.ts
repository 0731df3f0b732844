import { expect, test } from 'vitest'
import { toFileText } from './without-fence.ts'

test.each([
  ['a.ts', '```ts\nconst a = 1\n```', 'const a = 1\n'],
  ['a.py', '\n```python\ndef f():\n    return 1\n\n```\n', 'def f():\n    return 1\n\n'],
  ['a.ts', '~~~\nx\n~~~', 'x\n'],
  ['a.ts', '````ts\n```\nx\n```\n````', '```\nx\n```\n'],
  ['a.ts', '```ts\r\nx\r\n```', 'x\r\n'],
  ['Dockerfile', '```dockerfile\nFROM node\n```', 'FROM node\n'],
  ['a.css', 'Here is the file:\n\n```css\na {}\n```', 'a {}\n'],
  ['a.md', '```markdown\n# Title\n\n```sh\nls\n```\n\nText\n```', '# Title\n\n```sh\nls\n```\n\nText\n'],
  ['a.ts', '```ts\n```', ''],
])('a fence around a whole answer is not written into %s: %j', (path, answer, text) => {
  expect(toFileText(answer, path)).toBe(text)
})

test.each([
  ['a.md', '```mermaid\nerDiagram\n```'],
  ['a.md', '```\nls\n```'],
  ['a.md', '# Title\n\n```sh\nls\n```'],
  ['a.md', '```sh\nls\n```\n\nand\n\n```sh\npwd\n```'],
  ['a.md', 'Do this:\n```markdown\n# Title\n```'],
  ['a.ts', '```ts\na\n```\nand\n```ts\nb\n```'],
  ['a.ts', '```ts\nnever closed'],
  ['a.txt', 'Run this:\n```\nls\n```'],
  ['a.ts', 'const a = 1'],
])('what a fence does not wrap stays in %s: %j', (path, answer) => {
  expect(toFileText(answer, path)).toBe(`${answer}\n`)
  expect(toFileText(`${answer}\n`, path)).toBe(`${answer}\n`)
})
