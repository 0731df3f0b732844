import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { initWorkspace } from './init.ts'
import { configJsonSchema } from './json-schema.ts'
import { createTestMachine } from './test-machine.ts'

test('init writes a private folder with a configuration that loads silently and needs no trust', () => {
  const machine = createTestMachine()
  expect(initWorkspace(machine.workspace)).toEqual([
    { path: '.kogu/', status: 'created' },
    { path: '.kogu/.gitignore', status: 'created' },
    { path: '.kogu/config.toml', status: 'created' },
    { path: '.kogu/schema.json', status: 'created' },
  ])
  expect(statSync(join(machine.workspace, '.kogu')).mode & 0o777).toBe(0o700)
  const config = readFileSync(join(machine.workspace, '.kogu/config.toml'), 'utf8')
  expect(config.split('\n')[0]).toBe('#:schema ./schema.json')
  expect(machine.load()).toMatchObject({
    warnings: [],
    trust: { status: 'not-needed' },
    workspace: { by: 'kogu' },
  })
  expect(JSON.parse(readFileSync(join(machine.workspace, '.kogu/schema.json'), 'utf8')).$schema).toContain(
    'draft-04',
  )
})

test('what the example comments show is valid once it is uncommented', () => {
  const machine = createTestMachine()
  initWorkspace(machine.workspace)
  const file = join(machine.workspace, '.kogu/config.toml')
  const lines = readFileSync(file, 'utf8').split('\n')
  const settings = lines.slice(lines.findIndex(line => line.startsWith('# mode')))
  const text = settings.map(line => line.replace(/^# /, '')).join('\n')
  expect(Object.keys(parse(text))).toEqual(['mode', 'permissions', 'tools'])
  writeFileSync(file, text)
  expect(machine.inspect()).toMatchObject({ errors: [] })
})

test('init never overwrites, and does not write through a link', () => {
  const machine = createTestMachine()
  machine.write('.kogu/config.toml', 'mode = "auto"\n')
  expect(initWorkspace(machine.workspace).map(step => step.status)).toEqual([
    'kept',
    'created',
    'kept',
    'created',
  ])
  expect(readFileSync(join(machine.workspace, '.kogu/config.toml'), 'utf8')).toBe('mode = "auto"\n')

  const linked = createTestMachine()
  mkdirSync(join(linked.home, 'elsewhere'))
  symlinkSync(join(linked.home, 'elsewhere'), join(linked.workspace, '.kogu'))
  expect(() => initWorkspace(linked.workspace)).toThrow('is not a folder')
})

test.each(['user.toml', 'kogu.toml'])('the schema for editors accepts %s', name => {
  const data = parse(readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8'))
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
    configJsonSchema('draft-2020-12'),
  )
  expect(validate(JSON.parse(JSON.stringify(data))), JSON.stringify(validate.errors)).toBe(true)
  expect(validate({ permissions: { rules: [{ decision: 'alow' }] } })).toBe(false)
  expect(validate({ permissions: { defalt: 'deny' } })).toBe(false)
})

test('the schema comes in both drafts, with defaults as people write them', () => {
  for (const draft of ['draft-04', 'draft-2020-12'] as const) {
    const schema = configJsonSchema(draft)
    const at = (...path: string[]) =>
      path.reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], schema)
    expect(String(schema.$schema)).toContain(draft === 'draft-04' ? 'draft-04' : '2020-12')
    expect(at('properties', 'limits', 'properties', 'max_time')).toMatchObject({
      type: 'string',
      default: '15m',
    })
    expect(at('properties', 'permissions', 'additionalProperties')).toBe(false)
    expect(at('properties', 'mode')).toMatchObject({ enum: ['ask', 'accept-edits', 'read-only', 'auto'] })
    expect(schema.required).toBeUndefined()
  }
})
