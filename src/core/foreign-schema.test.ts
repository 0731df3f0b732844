import { describe, expect, test } from 'vitest'
import { schemaProblem } from './foreign-schema.ts'
import { fromJsonSchema } from './json-schema.ts'

describe('a schema of a stranger', () => {
  test('whose references double again and again is refused before it is compiled', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 25 }, (_, at) => [
        `d${at}`,
        { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    )
    const $defs = { ...doubling, d25: { type: 'string' } }
    // A property may be called like a keyword.
    for (const name of ['a', 'default', 'enum', '$ref'])
      expect(schemaProblem({ $defs, properties: { [name]: { $ref: '#/$defs/d0' } } })).toBe('it is too large')
  })

  test('that leads nowhere, or holds a pattern that cannot be used, is refused', () => {
    expect(schemaProblem({ $ref: '#/$defs/none' })).toContain("can't resolve reference")
    expect(schemaProblem({ properties: { a: { pattern: '(' } } })).toBeDefined()
    expect(() => fromJsonSchema({ type: 'object', $ref: 'https://example.com/schema' })).toThrow(
      /cannot be used/,
    )
  })

  test('may refer to itself, and is checked when there is a value', () => {
    const tree = { type: 'object', properties: { below: { type: 'array', items: { $ref: '#' } } } }
    const schema = fromJsonSchema(tree)
    expect(schema.parse({ below: [{ below: [] }] }).ok).toBe(true)
    expect(schema.parse({ below: [{ below: 1 }] }).ok).toBe(false)
  })

  test('names the values that it allows, as many as a line takes', () => {
    const problem = (values: string[]) => {
      const result = fromJsonSchema({ type: 'object', properties: { c: { enum: values } } }).parse({ c: 1 })
      return result.ok ? undefined : result.issues[0]?.message
    }
    expect(problem(['red', 'blue'])).toBe('must be one of "red", "blue"')
    expect(problem(['x'.repeat(300)])).toBe('must be equal to one of the allowed values')
  })
})
