import { expect, test } from 'vitest'
import { readSchema } from './read-schema.ts'

const read = (schema: Record<string, unknown>) => readSchema(schema, schema)

test('X or null is X that may be null, written either way', () => {
  expect(read({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toMatchObject({
    kind: 'text',
    nullable: true,
  })
  expect(read({ type: ['integer', 'null'], minimum: 1 })).toMatchObject({
    ...{ kind: 'number', integer: true, min: 1, nullable: true },
  })
})

test('references are followed and allOf is merged', () => {
  const field = read({
    $defs: { base: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
    allOf: [{ $ref: '#/$defs/base' }, { properties: { b: { type: 'boolean', 'x-order': -1 } } }],
  })
  expect(field.kind === 'object' && field.properties.map(({ name, required }) => [name, required])).toEqual([
    ['b', false],
    ['a', true],
  ])
})

test('a schema that refers to itself ends as JSON and does not hang', () => {
  const schema = { $ref: '#/$defs/node', $defs: { node: { $ref: '#/$defs/node' } } }
  expect(read(schema).kind).toBe('json')
  expect(read({ type: 'object', properties: { __proto__: { type: 'string' } } }).kind).toBe('object')
})

test('options are named by what tells them apart', () => {
  const field = read({
    oneOf: [
      { type: 'object', properties: { kind: { const: 'file' }, path: { type: 'string' } } },
      { type: 'object', properties: { kind: { const: 'env' }, name: { type: 'string' } } },
    ],
  })
  expect(field.kind === 'options' && field.options.map(({ label }) => label)).toEqual(['file', 'env'])
  expect(read({ oneOf: [{ const: 'a' }, { const: 'b' }] })).toMatchObject({
    kind: 'choice',
    options: ['a', 'b'],
  })
})

test('what a form cannot show is JSON, with the reason', () => {
  expect(read({ type: ['string', 'number'] })).toMatchObject({ kind: 'json', reason: 'several types' })
  expect(read({})).toMatchObject({ kind: 'json' })
})
