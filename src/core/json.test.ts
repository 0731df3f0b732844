import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseInput } from './json.ts'
import { fromJsonSchema } from './json-schema.ts'

describe('the text of an input', () => {
  test.each([
    ['', 'empty'],
    ['{"a":', 'ends too early'],
    ['{"a":}', 'unexpected "}"'],
    ['{"a":1e999}', 'not finite'],
    ['{"a":"\\ud800"}', 'lone surrogate'],
    ['{"__proto__":{"x":1}}', '__proto__'],
    ['{"a":{"b":[{"__proto__":1}]}}', '__proto__'],
    ['{"a":1,"a":2}', 'The key "a" is given twice'],
    ['{"a":1, "\\u0061" : 2}', 'The key "a" is given twice'],
    ['{"x":[{"a":{"b":1},"c":"}","a":null}]}', 'The key "a" is given twice'],
    ['{"\\\\":1,"\\"":"\\\\","\\\\":3}', 'is given twice'],
    ['{"__proto__":1,"__proto__":2}', 'is given twice'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => parseInput(text)).toThrow(message)
  })

  test('that is too deep, too wide or too long is refused', () => {
    expect(() => parseInput(`${'['.repeat(100)}${']'.repeat(100)}`)).toThrow('too deeply')
    expect(() => parseInput(`[${'0,'.repeat(250_000)}0]`)).toThrow('too many values')
    expect(() => parseInput(`"${'x'.repeat(9 * 1024 * 1024)}"`)).toThrow('too large')
  })

  test('a message never repeats the text, which may hold a secret', () => {
    expect(() => parseInput('{"key": sk-verysecret}')).toThrow(/^(?!.*verysecret)/)
  })

  test('the same key in different objects, and the same text in a key and a value, are no repetition', () => {
    const text = '{"a":{"a":"a","b":["a","a",{"a":1}]},"b":"a","c":{"a":1},"\\"a":1,"a\\\\":{}}'
    expect(parseInput(text)).toEqual(JSON.parse(text))
  })

  test('everything else that is JSON is parsed as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), text => {
        fc.pre(!text.includes('__proto__'))
        expect(parseInput(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 200 },
    )
  })
})

describe('a foreign schema', () => {
  test('looks at own properties only and takes no unknown ones', () => {
    const schema = fromJsonSchema({
      type: 'object',
      properties: { toString: { type: 'string' } },
      required: ['toString'],
    })
    expect(schema.parse({})).toMatchObject({ ok: false })
    expect(schema.parse({ toString: 'x' })).toMatchObject({ ok: true })
    expect(schema.parse({ toString: 'x', other: 1 })).toEqual({
      ok: false,
      issues: [{ pointer: '/other', message: "Unknown parameter 'other'" }],
    })
  })

  test('fills in defaults without touching what it was given', () => {
    const schema = fromJsonSchema({
      type: 'object',
      properties: { n: { type: 'integer', default: 3, maximum: 5 } },
    })
    const given = {}
    expect(schema.parse(given)).toEqual({ ok: true, value: { n: 3 } })
    expect(given).toEqual({})
    expect(schema.parse({ n: 6 })).toMatchObject({ ok: false })
  })

  test('cannot hang on a hostile pattern', () => {
    const schema = fromJsonSchema({
      type: 'object',
      properties: { x: { type: 'string', pattern: '^(a+)+$' } },
    })
    expect(schema.parse({ x: `${'a'.repeat(20_000)}!` })).toMatchObject({ ok: false })
  })

  test('with two patterns tells them apart', () => {
    const text = (pattern: string) => ({ type: 'string', pattern })
    const schema = fromJsonSchema({ type: 'object', properties: { a: text('^a$'), b: text('^b$') } })
    expect(schema.parse({ a: 'a', b: 'b' })).toMatchObject({ ok: true })
    expect(schema.parse({ a: 'a', b: 'a' })).toMatchObject({ ok: false })
  })

  test('that refers to another address is refused, not fetched', () => {
    expect(() => fromJsonSchema({ $ref: 'https://example.com/schema.json' })).toThrow('cannot be used')
  })
})
