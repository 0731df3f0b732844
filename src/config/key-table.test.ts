import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KEYS, keyEntry } from './key-table.ts'
import { sectionNames, sectionSchema } from './schema.ts'
import { createTestMachine } from './test-machine.ts'
import { unreadKeys } from './unread-keys.ts'

/** What is used of zod's description of a schema. */
interface Definition {
  innerType?: unknown
  getter?: () => unknown
  in?: unknown
  options?: unknown[]
  shape?: Record<string, unknown>
  catchall?: unknown
  valueType?: unknown
}

/** Every setting that the schema knows; `*` for a name that people choose. A list is one setting. */
function settingsOf(node: unknown, path: readonly string[]): string[][] {
  const definition = (node as { def?: Definition } | undefined)?.def
  if (definition === undefined) return []
  const { innerType, getter, in: input, options, shape, catchall, valueType } = definition
  if (innerType !== undefined) return settingsOf(innerType, path)
  if (getter !== undefined) return settingsOf(getter(), path)
  if (input !== undefined) return settingsOf(input, path)
  if (options?.some(option => settingsOf(option, path).some(each => each.length > path.length)))
    return options.flatMap(option => settingsOf(option, path))
  const open = [catchall, valueType].filter(
    each => (each as { def?: { type?: string } })?.def?.type !== 'never',
  )
  if (shape === undefined && open.every(each => each === undefined)) return [[...path]]
  return [
    ...Object.entries(shape ?? {}).flatMap(([key, child]) => settingsOf(child, [...path, key])),
    ...open.flatMap(child => settingsOf(child, [...path, '*'])),
  ]
}

const settings = sectionNames().flatMap(name => settingsOf(sectionSchema(name), [name]))

test('every setting of the schema says who may change it and who reads it', () => {
  expect(settings.length).toBeGreaterThan(80)
  const missing = settings.filter(path => keyEntry(path) === undefined).map(path => path.join('.'))
  expect([...new Set(missing)]).toEqual([])
})

test('every line of the table is about a setting, and its reader reads it', () => {
  const unused = Object.entries(KEYS).filter(
    ([pattern, entry]) =>
      !settings.some(path => keyEntry(path) === entry) && !/^(tools|reviewers)\.\*/.test(pattern),
  )
  expect(unused.map(([pattern]) => pattern)).toEqual([])
  for (const [pattern, { reader }] of Object.entries(KEYS)) {
    if (reader === null) continue
    const text = readFileSync(join(import.meta.dirname, '..', reader), 'utf8')
    const name =
      pattern
        .replace(/\.\*+$/, '')
        .split('.')
        .at(-1) ?? ''
    expect([pattern, new RegExp(`\\b${name}\\b`).test(text)]).toEqual([pattern, true])
  }
})

test('a file that nobody trusts weakens nothing of the record, and lets no question expire', () => {
  const machine = createTestMachine()
  machine.write(
    'kogu.toml',
    '[redaction]\npatterns = ["[\\\\s\\\\S]+"]\n[permissions]\napproval_timeout = "1ms"\n[undo]\nbudget = "1KB"\n[audit]\nsegment_size = "1KB"\n',
  )
  const { config, warnings } = machine.load()
  expect(config.redaction.patterns).toEqual([])
  expect(config.permissions.approval_timeout).toBe(30 * 60_000)
  expect(config.undo.budget).toBe(1e9)
  expect(warnings.map(({ message }) => message).join()).toMatch(/redaction\.patterns.*approval_timeout/)
})

test.each([
  ['[retention]\naudit = "1d"', "'retention.audit' has no effect"],
  ['[tools.Bash]\nprofile = "restricted"', "'tools.Bash.profile' has no effect"],
  ['[tools.read_file]\nmax_bytes = 10', "'tools.read_file.max_bytes' has no effect"],
])('a setting that nothing reads is an error: %j', (toml, message) => {
  const machine = createTestMachine()
  machine.write('user/config.toml', `${toml}\n`)
  expect(unreadKeys(machine.load())[0]?.message).toContain(message)
})

test('settings that are read are no errors', () => {
  const machine = createTestMachine()
  machine.write(
    'user/config.toml',
    'mode = "auto"\n[tools.run_command]\nprofile = "restricted"\nallowed_commands = ["ls"]\ntimeout = "5s"\nmax_output = "1KB"\n[tools.web_fetch]\nenabled = false\n',
  )
  expect(unreadKeys(machine.load())).toEqual([])
})
