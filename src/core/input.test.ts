import { expect, test } from 'vitest'
import * as z from 'zod'
import { ToolError } from './errors.ts'
import { validateInput } from './input.ts'
import { fromJsonSchema } from './json-schema.ts'
import { fromZod } from './schema.ts'
import { toolNamed } from './testing.ts'
import { type AnyTool, defineTool } from './tool.ts'

const tool: AnyTool = defineTool({
  name: 'sample',
  title: 'Sample',
  description: 'Takes parameters of every kind.',
  category: 'ReadOnly',
  risk: 'low',
  parameterAliases: {
    filePath: 'path',
    oldText: 'old',
    seconds: { to: 'ms', convert: value => (typeof value === 'number' ? value * 1000 : value) },
  },
  input: z.object({
    path: z.string().min(1).optional(),
    offset: z.int().min(-10).max(10).default(0),
    ms: z.number().optional(),
    deep: z.boolean().default(false),
    kind: z.enum(['a', 'b']).default('a'),
    edits: z
      .array(z.strictObject({ old: z.string(), all: z.boolean().default(false) }))
      .min(1)
      .max(2)
      .optional(),
  }),
  access: () => [],
  run: async () => ({ text: '' }),
})

const messageOf = (input: object): string => {
  try {
    return JSON.stringify(validateInput(tool, input))
  } catch (error) {
    return error instanceof ToolError ? error.message : String(error)
  }
}

test('other names of parameters hold in the entries of a list too', () => {
  expect(validateInput(tool, { filePath: 'a', edits: [{ oldText: 'x' }] })).toEqual({
    path: 'a',
    offset: 0,
    deep: false,
    kind: 'a',
    edits: [{ old: 'x', all: false }],
  })
  expect(messageOf({ edits: [{ oldText: 'x', old: 'y' }] })).toBe(
    "'oldText' and 'old' name the same parameter.",
  )
})

test('null for a parameter that need not be given counts as absent, at every depth', () => {
  const given = { path: null, offset: null, kind: null, ms: null, edits: [{ old: 'x', all: null }] }
  expect(validateInput(tool, given)).toMatchObject({
    offset: 0,
    kind: 'a',
    edits: [{ old: 'x', all: false }],
  })
  expect(given.offset).toBeNull()
  expect(messageOf({ edits: [{ old: null }] })).toBe(
    "Missing required parameter 'edits.0.old' for tool 'sample'.",
  )
})

test('a choice that is missing is named as missing', () => {
  const choosing = toolNamed('sample', {
    input: fromZod(() => z.object({ kind: z.enum(['a', 'b'], 'Unknown kind') })),
  })
  const given = (input: object) => () => validateInput(choosing, input)
  expect(given({})).toThrow("Missing required parameter 'kind' for tool 'sample'.")
  expect(given({ kind: 'c' })).toThrow(/^sample: Unknown kind\.$/)
})

test('null beside another name of the same parameter is no contradiction', () => {
  expect(validateInput(tool, { path: null, filePath: 'a' })).toMatchObject({ path: 'a' })
  expect(validateInput(tool, { filePath: 'a', path: null })).toMatchObject({ path: 'a' })
})

test('what only Object knows is not true or false', () => {
  for (const deep of ['constructor', 'toString', '__proto__'])
    expect(messageOf({ deep })).toContain("'deep' must be true or false, got")
})

test('numbers and booleans may come as text, when it can mean one thing only', () => {
  expect(validateInput(tool, { offset: '-2', deep: 'true', ms: '1.5', path: '3' })).toMatchObject({
    offset: -2,
    deep: true,
    ms: 1.5,
    path: '3',
  })
  for (const offset of ['', ' 2', '0x2', '1e1', '02', 'two', '2,0', '9'.repeat(20)])
    expect(messageOf({ offset }), offset).toContain("'offset' must be a number, got")
  for (const deep of ['yes', '1', '', 1])
    expect(messageOf({ deep })).toContain("'deep' must be true or false, got")
})

test('a number as text in another unit is converted before it counts', () => {
  expect(validateInput(tool, { seconds: '5' })).toMatchObject({ ms: 5000 })
})

test('a foreign schema is repaired only where it refuses', () => {
  const foreign = toolNamed('foreign', {
    input: fromJsonSchema({
      type: 'object',
      properties: {
        nothing: { type: ['string', 'null'] },
        count: { type: 'integer' },
        on: { type: 'boolean' },
        left: { type: 'string' },
      },
    }),
  })
  expect(validateInput(foreign, { nothing: null, count: '2', on: 'false', left: null })).toEqual({
    nothing: null,
    count: 2,
    on: false,
  })
})

test('messages are sentences', () => {
  expect(messageOf({ path: '' })).toBe("sample: 'path' must not be empty.")
  expect(messageOf({ offset: 11 })).toBe("sample: 'offset' must be at most 10.")
  expect(messageOf({ offset: -11 })).toBe("sample: 'offset' must be at least -10.")
  expect(messageOf({ offset: 1.5 })).toBe("sample: 'offset' must be a whole number, got 1.5.")
  expect(messageOf({ kind: 'c' })).toBe(`sample: 'kind' must be one of "a", "b".`)
  expect(messageOf({ edits: [] })).toBe("sample: 'edits' must have at least 1 entry.")
  expect(messageOf({ deep: {} })).toBe("sample: 'deep' must be true or false, got an object.")
  expect(messageOf({ path: 3 })).toBe("sample: 'path' must be a string, got 3.")
  expect(messageOf({ edits: 'x' })).toBe(`sample: 'edits' must be a list, got "x".`)
})
