import { expect, test } from 'vitest'
import { isEnter } from './is-enter.ts'

test('Enter that chooses a word of an input method does nothing else', () => {
  const pressed = { key: 'Enter', isComposing: false, keyCode: 13 }
  expect(isEnter(pressed)).toBe(true)
  expect(isEnter({ ...pressed, isComposing: true })).toBe(false)
  expect(isEnter({ ...pressed, keyCode: 229 })).toBe(false)
  expect(isEnter({ ...pressed, key: 'a' })).toBe(false)
})
