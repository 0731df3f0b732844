import { expect, test } from 'vitest'
import { appendToml, removeTomlRule, setTomlKey } from './toml-edit.ts'

test('a key is set in its table and nothing else changes', () => {
  expect(setTomlKey('', 'defaults', 'model', 'a/b')).toBe('[defaults]\nmodel = "a/b"\n')
  const text = '# mine\n[defaults]\nmodel = "old" # why\ntemperature = 1\n[ui]\nmodel = "other"\n'
  expect(setTomlKey(text, 'defaults', 'model', 'a/b')).toBe(
    '# mine\n[defaults]\nmodel = "a/b"\ntemperature = 1\n[ui]\nmodel = "other"\n',
  )
  expect(setTomlKey('[defaults]\ntemperature = 1\n', 'defaults', 'model', 'a/b')).toBe(
    '[defaults]\nmodel = "a/b"\ntemperature = 1\n',
  )
})

test('a part is appended after an empty line', () => {
  expect(appendToml('a = 1', '[b]\n')).toBe('a = 1\n\n[b]\n')
  expect(appendToml('', '[b]\n')).toBe('[b]\n')
})

test('a rule is taken out with all of its keys, and only that one', () => {
  const rule = (id: string): string => `[[permissions.rules]]\nid = "${id}"\ndecision = "ask"\n`
  const text = `mode = "ask"\n${rule('a.b')}${rule('axb')}[ui]\nx = 1\n`
  expect(removeTomlRule(text, 'a.b')).toBe(`mode = "ask"\n${rule('axb')}[ui]\nx = 1\n`)
})
