import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holds, parseCondition } from './condition.ts'
import { CHECKS_PASSED } from './templates/template.ts'

test.each([
  ['contains:失敗', '検証に失敗しました', true],
  ['Failed', 'the build FAILED', true],
  ['not:error', 'all good', true],
  ['not:error', 'an Error', false],
  ['startsWith:ok', 'OK then', true],
  ['endsWith:done', 'all DONE', true],
  ['equals:yes', ' Yes \n', true],
  ['equals:yes', 'yes!', false],
  ['regex:^err(or)?$', 'ERROR', true],
  ['regex:^err(or)?$', 'errors', false],
  ['length>3', 'abcd', true],
  ['length <= 3', 'abcd', false],
  ['length!=4', 'abcd', false],
  ['contains:a AND not:b', 'a', true],
  ['contains:a AND not:b', 'ab', false],
  ['equals:x OR length==2', 'zz', true],
  ['plain text', 'Some Plain Text here', true],
])('%j over %j is %s', (source, output, expected) => {
  expect(holds(parseCondition(source), output)).toBe(expected)
})

test.each([
  ['build: passed in 1.0 s\ntest: passed in 0.2 s (3 passed, 0 failed)', true],
  ['build: skipped. No command found.\ntest: passed in 0.2 s', true],
  ['build: passed in 1.0 s\ntest: failed in 0.2 s (1 passed, 1 failed)\nnot ok', false],
  ['test: could not run. A rule refuses it.', false],
  ['build: passed in 1.0 s\ntest: could not run. A rule refuses it.', false],
  ['', false],
  ['self_eval is not enabled in this run', false],
])('a commit follows from checks that say %j: %s', (said, expected) => {
  expect(holds(parseCondition(CHECKS_PASSED), said)).toBe(expected)
})

test.each(['', '   ', 'a AND b OR c', 'a AND  AND b', 'regex:(', 'regex:(?=a)', 'x'.repeat(10_001)])(
  '%j is refused',
  source => {
    expect(() => parseCondition(source)).toThrow()
  },
)

test('a pattern that makes a backtracking engine explode is answered at once', () => {
  expect(holds(parseCondition('regex:^(a+)+$'), `${'a'.repeat(50_000)}b`)).toBe(false)
})

test('a pattern that is slow because it is large is refused', () => {
  expect(() => parseCondition('regex:[a-z]{1000}b')).toThrow('repeats too much')
  expect(holds(parseCondition('regex:^[a-z]{1,64}$'), 'tea')).toBe(true)
})

test('every condition that parses gives an answer for every text', () => {
  const source = fc.oneof(
    fc.string(),
    fc.string().map(text => `regex:${text}`),
    fc.constantFrom('length>1', 'a OR b'),
  )
  fc.assert(
    fc.property(source, fc.string({ unit: 'binary' }), (text, output) => {
      let parsed: ReturnType<typeof parseCondition>
      try {
        parsed = parseCondition(text)
      } catch {
        return
      }
      expect(typeof holds(parsed, output)).toBe('boolean')
    }),
  )
})
