import { expect, test } from 'vitest'
import { fillPanel, parsePanel, type TextPanel, variablesOf } from './panel.ts'

const read = (text: string) => parsePanel(text, 'p', 'p.toml')

test('a panel without a kind is a prompt for a model', () => {
  expect(read('prompt = "Hi {{name}}"')).toMatchObject({ kind: 'ai', prompt: 'Hi {{name}}', tools: [] })
})

test('a text, rows, a drawing or a folder is a panel too', () => {
  for (const kind of ['text', 'table', 'chart', 'diagram'])
    expect(read(`kind = "${kind}"\ntext = "a,b"`)).toMatchObject({ kind, text: 'a,b' })
  expect(read('kind = "folder"\nfolder = "doc/plans"')).toMatchObject({ kind: 'folder', folder: 'doc/plans' })
})

test('limits of a panel are turns, time, money, and what happens then', () => {
  const limits = '[limits]\nmax_turns = 3\nmax_time = "10m"\nmax_cost = 0.5\non_limit = "stop"\n'
  expect(read(limits)).toMatchObject({ maxTurns: 3, maxTimeMs: 600_000, maxCostUsd: 0.5, onLimit: 'stop' })
})

test.each([
  ['kind = "widget"', 'kind: must be one of ai, text, folder'],
  ['kind = 3', 'kind: must be one of'],
  ['kind = "constructor"', 'kind: must be one of'],
  ['kind = "text"', 'text: '],
  ['kind = "text"\ntext = "x"\nprompt = "y"', `a panel of the kind 'text': Unrecognized key: "prompt"`],
  ['kind = "folder"\nfolder = "x"\n[tools.read_file]', '"tools"'],
  ['text = "x"', `a panel of the kind 'ai': Unrecognized key: "text"`],
  ['kind = "folder"\nfolder = "/etc"', 'inside the workspace'],
  ['kind = "folder"\nfolder = "~/.ssh"', 'inside the workspace'],
  ['kind = "folder"\nfolder = "doc/../../other"', 'inside the workspace'],
  [String.raw`kind = "folder"${'\n'}folder = "C:\\Users"`, 'inside the workspace'],
  ['[limits]\nmax_time = "soon"', 'Write a time'],
  ['[limits]\nmax_time = "0s"', 'Write a time'],
])('%j is refused with what is wrong', (text, message) => {
  expect(() => read(text)).toThrow(message)
})

test('a text is filled in with values, and one that is missing is named', () => {
  const panel = read('kind = "table"\ntext = "item,sold\\n{{input}}\\n{{ more }}"') as TextPanel
  expect(variablesOf(panel)).toEqual(['input', 'more'])
  expect(fillPanel(panel, 'tea,3', { more: 'cup,1' })).toBe('item,sold\ntea,3\ncup,1')
  expect(() => fillPanel(panel, 'tea,3', {})).toThrow("needs 'more'")
  expect(() => fillPanel(panel, '', { more: 'x' })).toThrow("needs 'input'")
})

test('what is filled in is not filled in again, and a long value many times is refused', () => {
  const panel = read(`kind = "text"\ntext = "${'{{input}}'.repeat(2_000)}"`) as TextPanel
  expect(fillPanel(panel, '{{secret}}', { secret: 'x' })).not.toContain('x')
  expect(() => fillPanel(panel, 'x'.repeat(1_000), {})).toThrow('more than 1000000 characters')
})
