import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

const root = join(import.meta.dirname, '..')
const examples = join(root, 'examples')

let box: Sandboxed

beforeEach(() => {
  box = createSandboxed()
  box.write('prices.json', '{\n  "tea": 120,\n  "cup": 80\n}\n')
})

afterEach(() => box.remove())

/** What each example prints, and what it leaves behind. */
const EXPECTED: Record<string, { output: unknown[]; files: Record<string, string> }> = {
  'read-and-edit.ts': {
    output: [
      '     1\t{',
      '     2\t  "tea": 120,',
      '     3\t  "cup": 80',
      '     4\t}',
      'ask: sensitive files ask',
      '1 change, allowed by mode accept-edits',
      '1 path restored and read again',
    ],
    files: { 'prices.json': '{\n  "tea": 120,\n  "cup": 80\n}\n' },
  },
  'for-a-model.ts': {
    output: [expect.stringContaining('"path":{"type":"string","description":"The file."}'), '4 lines'],
    files: {},
  },
  'runs.ts': {
    output: [
      'written',
      expect.stringContaining('denied: Writing'),
      'written',
      'forbidden: The run RUN has reached its limit of 3 calls.',
    ],
    files: { 'doc/tea.md': 'Tea\n' },
  },

  'own-provider.ts': {
    output: ['Hello, Kim', 'unknown_tool: Unknown tool: greet_japanese', 'こんにちは, Kim', 'closed'],
    files: {},
  },
  'agent.ts': {
    output: [
      'read_file: ok',
      'edit_file: ok',
      'delete_file: not_enabled',
      'end_turn after 4 turns: Tea costs 95 now.',
    ],
    files: { 'prices.json': '{\n  "tea": 95,\n  "cup": 80\n}\n' },
  },
  'ai-sdk.ts': {
    output: ['read_file: ok', expect.stringMatching(/^write_file: .*(denied|forbidden)/), 'Tea costs 120.'],
    files: {},
  },
  'own-tool.ts': {
    output: [
      'asked: add_note, because of mode ask',
      'Noted: Buy tea',
      "invalid_input: Missing required parameter 'text'; Unknown parameter 'txet' for tool 'add_note'.",
      'asked: write_file, because of mode ask',
      'denied: Denied by own-tool: only notes may be written.',
    ],
    files: { 'notes.md': 'Buy tea\n' },
  },
}

test.each(readdirSync(examples).filter(name => name.endsWith('.ts')))('%s does what it says', name => {
  const { output = [], files = {} } = EXPECTED[name] ?? {}
  const { stdout, stderr } = spawnSync(process.execPath, [join(examples, name), box.workspace], {
    cwd: box.home,
    env: box.env,
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(stdout.trimEnd().split('\n')).toEqual(output)
  for (const [path, text] of Object.entries(files)) {
    expect(readFileSync(join(box.workspace, path), 'utf8')).toBe(text)
  }
  // Every example goes through the one door, so the log has it.
  expect(box.run(['audit', 'verify']).stdout).toContain('intact')
})

test('the library page shows the examples as they are', () => {
  const page = readFileSync(join(root, 'docs', 'library.md'), 'utf8')
  const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(match => match[1])
  const sources = ['read-and-edit.ts', 'own-tool.ts', 'for-a-model.ts', 'runs.ts'].map(name =>
    readFileSync(join(examples, name), 'utf8'),
  )
  expect(blocks).toEqual(sources)
})
