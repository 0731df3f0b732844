import { expect, test } from 'vitest'
import { toJson } from './json.ts'

test('JSON for PostgreSQL has no NUL and no half of a surrogate pair, and everything else stays', () => {
  const sent = {
    'a\0b': 'x\0y',
    half: 'x\ud800y\udc00',
    pair: '😀',
    control: '\u001b[2J',
    text: '\\u0000 \\ud800',
  }
  expect(JSON.parse(toJson(sent))).toEqual({
    'a\ufffdb': 'x\ufffdy',
    half: 'x\ufffdy\ufffd',
    pair: '😀',
    control: '\u001b[2J',
    text: '\\u0000 \\ud800',
  })
})
