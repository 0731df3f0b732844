import { expect, test } from 'vitest'
import { toVisible } from './visible.ts'

test('what makes a sign an emoji stays, once; anywhere else it is hidden text and shown', () => {
  expect(toVisible('\u2764\uFE0F')).toBe('\u2764\uFE0F')
  expect(toVisible('\u2764\uFE0F\uFE0F')).toBe('\u2764\uFE0F⟨U+FE0F⟩')
  expect(toVisible('a\uFE0F1\uFE0F')).toBe('a⟨U+FE0F⟩1⟨U+FE0F⟩')
  expect(toVisible('\u2764\uFE00\u{E0100}')).toBe('\u2764⟨U+FE00⟩⟨U+E0100⟩')
})

test('half a character is shown, a whole one stays', () => {
  expect(toVisible('a\uD83Db \u{1F600}')).toBe('a⟨U+D83D⟩b \u{1F600}')
})
