import { expect, test } from 'vitest'
import { withShortKeys } from './short-keys.ts'

test('a rehearsal is called by its file, unless two files have one name', () => {
  const keysOf = (...keys: string[]): string[] =>
    withShortKeys(keys.map(key => ({ key }))).map(({ key }) => key)
  expect(keysOf('rehearsal:/a/tea.toml', 'rehearsal:/a/cup.toml', 'openai/gpt-5')).toEqual([
    ...['rehearsal:tea.toml', 'rehearsal:cup.toml', 'openai/gpt-5'],
  ])
  expect(keysOf('rehearsal:/a/tea.toml', 'rehearsal:/b/tea.toml', 'rehearsal:/a/tea.toml')).toEqual([
    ...['rehearsal:/a/tea.toml', 'rehearsal:/b/tea.toml', 'rehearsal:/a/tea.toml'],
  ])
})
