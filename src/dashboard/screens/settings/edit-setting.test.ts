import { expect, test } from 'vitest'
import { withSetting } from './edit-setting.ts'

test('a setting that no file has is proposed with the value that counts', () => {
  const builtIn = {
    key: 'limits.time',
    value: 60_000,
    text: '1m',
    origin: { layer: 'built-in' },
    overrides: [],
  }
  expect(withSetting('', builtIn)).toBe('[limits]\ntime = "1m"\n')
})

test('a line that is in the file stays as it is, with the secret that the page does not know', () => {
  const text = '[mcp.db.env]\nTOKEN = "tea4two" # mine\n'
  const shown = { key: 'mcp.db.env.TOKEN', value: '‹secret:token›', overrides: [] }
  expect(withSetting(text, { ...shown, origin: { layer: 'user', written: '‹secret:token›' } })).toBe(text)
  const below = { ...shown, overrides: [{ layer: 'user', written: '‹secret:token›' }] }
  expect(withSetting(text, { ...below, origin: { layer: 'flag', written: 'x' } })).toBe(text)
})
