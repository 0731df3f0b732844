import { expect, test } from 'vitest'
import { toVisible } from './visible.ts'

test('what makes a sign an emoji stays, once; anywhere else it is hidden text and shown', () => {
  expect(toVisible('\u2764\uFE0F')).toBe('\u2764\uFE0F')
  expect(toVisible('\u2764\uFE0F\uFE0F')).toBe('\u2764\uFE0F⟨U+FE0F⟩')
  expect(toVisible('a\uFE0F1\uFE0F')).toBe('a⟨U+FE0F⟩1⟨U+FE0F⟩')
  expect(toVisible('\u2764\uFE00\u{E0100}')).toBe('\u2764⟨U+FE00⟩⟨U+E0100⟩')
})

test('keycaps and emoji of several signs stay; joiners that join nothing known are hidden text', () => {
  const FAMILY = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'
  for (const emoji of ['1\uFE0F\u20E3', FAMILY, '\u{1F3F3}\uFE0F\u200D\u{1F308}', '\u{1F44D}\u{1F3FD}'])
    for (const text of [emoji, `a${emoji}b`, emoji + emoji]) expect(toVisible(text)).toBe(text)
  // A joiner too many, in the wrong place, between signs that make none together, or between letters.
  expect(toVisible(`${FAMILY}\u200D`)).toBe(`${FAMILY}⟨U+200D⟩`)
  expect(toVisible(`\u200D${FAMILY}`)).toBe(`⟨U+200D⟩${FAMILY}`)
  expect(toVisible('\u{1F468}\u200D\u200D\u{1F469}')).toBe('\u{1F468}⟨U+200D⟩⟨U+200D⟩\u{1F469}')
  expect(toVisible('\u{1F600}\u200D\u{1F697}')).toBe('\u{1F600}⟨U+200D⟩\u{1F697}')
  expect(toVisible('rm\u200D-rf 1\u200D2')).toBe('rm⟨U+200D⟩-rf 1⟨U+200D⟩2')
  // Half a keycap, and signs that would carry text nobody sees.
  expect(toVisible('1\uFE0F2\uFE0F\uFE0F\u20E3')).toBe('1⟨U+FE0F⟩2⟨U+FE0F⟩⟨U+FE0F⟩\u20E3')
  expect(toVisible('\u{1F3F4}\u{E0061}\u{E007F}')).toBe('\u{1F3F4}⟨U+E0061⟩⟨U+E007F⟩')
})

test('half a character is shown, a whole one stays', () => {
  expect(toVisible('a\uD83Db \u{1F600}')).toBe('a⟨U+D83D⟩b \u{1F600}')
})
