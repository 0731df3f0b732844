import { expect, test } from 'vitest'
import { type Field, toField } from './fields.ts'
import {
  emptied,
  isFreeKey,
  mistakesIn,
  nameOfOption,
  optionOf,
  otherKeys,
  parseJson,
  printJson,
  secretDraft,
  setAt,
  startOf,
  typeSecret,
} from './values.ts'

function properties(field: Field): Record<string, Field> {
  if (field.kind !== 'object') throw new Error(`It is ${field.kind}.`)
  return Object.fromEntries(field.fields.map(({ name, field: own }) => [name, own]))
}

test('every kind of schema becomes a field of its kind', () => {
  const field = toField({
    type: 'object',
    required: ['root'],
    properties: {
      root: { type: 'string', title: 'Root', description: 'Only below it', pattern: '^[^/]' },
      mode: { enum: ['never', 'always'] },
      size: { type: 'integer', minimum: 1, maximum: 10, default: 5 },
      on: { type: 'boolean' },
      token: { type: 'string', 'x-secret': true },
      tags: { type: 'array', items: { type: 'string' } },
      cards: { type: 'array', items: { type: 'object', properties: { a: { type: 'number' } } } },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      fixed: { const: 'v1' },
      anything: {},
      pair: { type: 'array', prefixItems: [{ type: 'string' }] },
    },
  })
  const found = properties(field)
  expect(found.root).toMatchObject({ kind: 'text', title: 'Root', pattern: '^[^/]' })
  expect(found.mode).toMatchObject({ kind: 'choice', options: ['never', 'always'] })
  expect(found.size).toMatchObject({ kind: 'number', integer: true, min: 1, max: 10, default: 5 })
  expect(found.on).toMatchObject({ kind: 'boolean' })
  expect(found.token).toMatchObject({ kind: 'secret' })
  expect(found.tags).toMatchObject({ kind: 'list', items: { kind: 'text' } })
  expect(found.cards).toMatchObject({ kind: 'list', items: { kind: 'object' } })
  expect(found.map).toMatchObject({ kind: 'object', fields: [], extra: { kind: 'text' } })
  expect(found.fixed).toMatchObject({ kind: 'const', value: 'v1' })
  expect(found.anything).toMatchObject({ kind: 'json', reason: 'unknown' })
  expect(found.pair).toMatchObject({ kind: 'json' })
})

test('a value or null is one field that can be null, however it is written', () => {
  for (const schema of [
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    { oneOf: [{ type: 'null' }, { type: 'string' }] },
    { type: ['string', 'null'] },
    { type: 'string', nullable: true },
  ])
    expect(toField(schema)).toMatchObject({ kind: 'text', nullable: true })
  expect(toField({ enum: ['a', null] })).toMatchObject({ kind: 'choice', options: ['a'], nullable: true })
  expect(toField({ type: 'string' })).toMatchObject({ nullable: false })
})

test('a union knows which option a value belongs to, by its shape or by a constant', () => {
  const field = toField({
    oneOf: [
      { type: 'object', properties: { kind: { const: 'url' }, url: { type: 'string' } }, required: ['kind'] },
      {
        type: 'object',
        properties: { kind: { const: 'file' }, path: { type: 'string' } },
        required: ['kind'],
      },
      { type: 'string' },
    ],
  })
  if (field.kind !== 'union') throw new Error('It is no union.')
  expect(field.options.map(nameOfOption)).toEqual(['url', 'file', 'text 3'])
  expect(optionOf(field.options, { kind: 'file', path: 'a' })).toBe(1)
  expect(optionOf(field.options, 'x')).toBe(2)
  expect(optionOf(field.options, undefined)).toBe(-1)
  expect(startOf(field.options[1] as Field)).toEqual({ kind: 'file' })
  expect(toField({ anyOf: [{ const: 'a' }, { const: 'b' }] })).toMatchObject({
    kind: 'choice',
    options: ['a', 'b'],
  })
})

test('references are followed inside of the schema, also around a circle, and never out of it', () => {
  const tree = {
    $ref: '#/$defs/node',
    $defs: {
      node: { type: 'object', properties: { name: { type: 'string' }, child: { $ref: '#/$defs/node' } } },
    },
  }
  let field = toField(tree)
  for (let depth = 0; depth < 6; depth += 1) field = properties(field).child as Field
  expect(properties(field).child).toMatchObject({ kind: 'json', reason: 'recursive' })
  expect(toField({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } })).toMatchObject({ kind: 'json' })
  expect(toField({ $ref: 'https://example.com/schema.json' })).toMatchObject({ kind: 'json' })
  expect(toField({ $ref: '#/__proto__' })).toMatchObject({ kind: 'json' })
})

test('allOf holds all of it, and what contradicts itself is shown as JSON', () => {
  const field = toField({
    allOf: [
      { type: 'object', properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] },
      { properties: { a: { minLength: 3 }, b: { type: 'number' } } },
    ],
  })
  expect(properties(field)).toMatchObject({ a: { kind: 'text', minLength: 3 }, b: { kind: 'number' } })
  expect(toField({ allOf: [{ type: 'string' }, { type: 'number' }] })).toMatchObject({
    kind: 'json',
    reason: 'contradiction',
  })
})

test('groups and order come from the schema', () => {
  const field = toField({
    type: 'object',
    properties: { b: { type: 'string', 'x-group': 'Advanced' }, a: { type: 'string', 'x-order': 1 } },
  })
  if (field.kind !== 'object') throw new Error('It is no object.')
  expect(field.fields.map(({ name, group }) => [name, group])).toEqual([
    ['a', null],
    ['b', 'Advanced'],
  ])
})

test('what is not set is left out, and what nobody knows is kept', () => {
  const value = { known: 'x', foreign: { deep: 1 } }
  expect(setAt(value, ['known'], undefined)).toEqual({ foreign: { deep: 1 } })
  expect(setAt(value, ['list', 0, 'name'], 'y')).toEqual({ ...value, list: [{ name: 'y' }] })
  expect(Object.keys(setAt(value, ['known'], 'z') as object)).toEqual(['known', 'foreign'])
  const field = toField({ type: 'object', properties: { known: { type: 'string' } } })
  if (field.kind !== 'object') throw new Error('It is no object.')
  expect(otherKeys(field, value)).toEqual(['foreign'])
  setAt({}, ['__proto__', 'polluted'], true)
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

test('text that is no JSON has no value, and an empty one is not set', () => {
  expect(parseJson('{"a": }')).toMatchObject({ ok: false })
  expect(parseJson('  ')).toEqual({ ok: true, value: undefined })
  expect(parseJson(printJson({ a: [1] }))).toEqual({ ok: true, value: { a: [1] } })
})

test('mistakes are named by their place, references are left for later', () => {
  const field = toField({
    type: 'object',
    required: ['url', 'count'],
    properties: {
      url: { type: 'string', format: 'uri' },
      count: { type: 'integer', maximum: 3 },
      when: { type: 'string', format: 'date-time' },
      list: { type: 'array', items: { type: 'string', pattern: '^a' }, minItems: 1 },
    },
  })
  expect(mistakesIn(field, { url: 'nothing', count: 9, when: 'soon', list: ['b'] })).toEqual([
    { pointer: '/url', rule: 'format', limit: 'uri' },
    { pointer: '/count', rule: 'max', limit: '3' },
    { pointer: '/when', rule: 'format', limit: 'date-time' },
    { pointer: '/list/0', rule: 'pattern', limit: '^a' },
  ])
  expect(mistakesIn(field, {})).toMatchObject([{ pointer: '/url', rule: 'required' }, { pointer: '/count' }])
  expect(mistakesIn(field, { url: '{{steps.a.url}}', count: '{{input.n}}' })).toEqual([])
})

test('a pattern that would never end is left to the server', () => {
  const field = toField({ type: 'string', pattern: '^(a+)+$' })
  expect(mistakesIn(field, `${'a'.repeat(60)}!`)).toEqual([])
})

test('entries of a map are added beside what is there, kept while they are empty, and checked', () => {
  const field = toField({
    type: 'object',
    properties: { url: { type: 'string' } },
    additionalProperties: { type: 'integer', maximum: 3 },
  })
  if (field.kind !== 'object') throw new Error('It is no object.')
  const value = { url: 'x', one: 1 }
  expect(['', 'url', 'one', 'two'].map(key => isFreeKey(field, value, key))).toEqual([
    false,
    false,
    false,
    true,
  ])
  expect(isFreeKey(field, undefined, 'url')).toBe(false)
  expect(setAt(value, ['two'], 2)).toEqual({ ...value, two: 2 })
  expect(setAt(value, ['one'], undefined)).toEqual({ url: 'x' })
  expect(mistakesIn(field, { ...value, two: 9 })).toEqual([{ pointer: '/two', rule: 'max', limit: '3' }])
})

test('a secret is one however its schema says so, and an entry of a map of them can be emptied', () => {
  for (const schema of [
    { type: 'string', 'x-secret': true },
    { type: 'string', writeOnly: true },
    { type: 'string', format: 'password' },
    { type: ['string', 'null'], 'x-secret': true },
    { anyOf: [{ type: 'string' }, { type: 'null' }], 'x-secret': true },
    { allOf: [{ type: 'string' }, { 'x-secret': true }] },
  ])
    expect(toField(schema)).toMatchObject({ kind: 'secret' })
  const map = toField({ type: 'object', additionalProperties: { type: 'string', 'x-secret': true } })
  if (map.kind !== 'object' || map.extra === null) throw new Error('It is no map.')
  expect(map.extra.kind).toBe('secret')
  expect(startOf(map.extra)).toBe('')
  expect(setAt({ KEY: 'x' }, ['KEY'], emptied(true))).toEqual({ KEY: '' })
  expect(setAt({ KEY: 'x' }, ['KEY'], emptied(false))).toEqual({})
  // Who begins to replace one and types nothing has not lost it.
  const draft = secretDraft('x')
  const typed = typeSecret(draft, 'y', true)
  expect([draft.isOpen, typed.now, typeSecret(typed, '', true).now]).toEqual([false, 'y', 'x'])
  const none = secretDraft(undefined)
  expect([none.isOpen, typeSecret(none, '', true).now, typeSecret(none, '', false).now]).toEqual([
    ...[true, '', undefined],
  ])
  // One that was taken out does not come back, nor one in whose place another item of the list stands now.
  expect(secretDraft('y', typed)).toBe(typed)
  expect(typeSecret(secretDraft(undefined, typed), '', false).now).toBeUndefined()
  expect(secretDraft('other', typed)).toEqual(secretDraft('other'))
})
