import { expect, test } from 'vitest'
import { keyEntry } from './key-table.ts'
import { getKey, listKeys } from './keys.ts'
import { createTestMachine } from './test-machine.ts'

test('a key says where its value comes from and what it overrides', () => {
  const machine = createTestMachine()
  const system = machine.write('system/config.toml', '[limits]\nmax_time = "1h"\n')
  const user = machine.write('user/config.toml', 'version = 1\nlimits.max_time = "10m"\n')
  const loaded = machine.load({ variables: { KOGU_LIMITS__MAX_TIME: '5m' } })
  const isRoot = process.getuid?.() === 0
  expect(getKey(loaded, 'limits.max_time')).toEqual({
    key: 'limits.max_time',
    value: 300_000,
    origin: { layer: 'environment', file: 'KOGU_LIMITS__MAX_TIME', written: '5m' },
    overrides: [
      { layer: 'user', file: user, line: 2, written: '10m' },
      // Somebody else's system file counts only where it tightens.
      ...(isRoot ? [{ layer: 'system', file: system, line: 2, written: '1h' }] : []),
    ],
  })
  expect(getKey(loaded, 'limits.max_turns')).toEqual({
    key: 'limits.max_turns',
    value: 30,
    origin: { layer: 'built-in' },
    overrides: [],
  })
})

test('sections, quoted keys and settings without a value can be asked for', () => {
  const machine = createTestMachine()
  machine.write('user/config.toml', '[providers.local.models."qwen3.5"]\ncontext = 10\n')
  const loaded = machine.load()
  expect(getKey(loaded, 'limits.budget').value).toEqual({ warn_at: 0.8 })
  expect(getKey(loaded, 'providers.local.models."qwen3.5".context').value).toBe(10)
  expect(getKey(loaded, 'limits.max_cost').value).toBeUndefined()
  expect(getKey(loaded, 'permissions.rules').value).toEqual([])
})

test('an unknown key is not found, with a suggestion', () => {
  const loaded = createTestMachine().load()
  const attempt = (key: string) => () => getKey(loaded, key)
  expect(attempt('limits.max_turn')).toThrow(
    expect.objectContaining({ code: 'not_found', hint: "Did you mean 'limits.max_turns'?" }),
  )
  for (const key of ['toString', '__proto__', 'constructor', 'limits.constructor', '', 'a b']) {
    expect(attempt(key)).toThrow('There is no setting')
  }
})

test('a tightened key names who tightened it', () => {
  const machine = createTestMachine()
  const file = machine.write('kogu.toml', '\n[limits]\nmax_turns = 3\n')
  expect(getKey(machine.load(), 'limits.max_turns')).toMatchObject({
    value: 3,
    origin: { layer: 'project', file, line: 3, written: 3 },
  })
})

test('the list has every setting once, with its place, and no rules', () => {
  const machine = createTestMachine()
  const file = machine.write(
    'user/config.toml',
    'mode = "auto"\n[[permissions.rules]]\ndecision = "deny"\ntool = "x"\n',
  )
  const keys = listKeys(machine.load())
  expect(keys.find(info => info.key === 'mode')).toMatchObject({ value: 'auto', origin: { file, line: 1 } })
  expect(new Set(keys.map(info => info.key)).size).toBe(keys.length)
  expect(keys.some(info => info.key.startsWith('permissions.rule'))).toBe(false)
  expect(keys.length).toBeGreaterThan(30)
  expect(keys.filter(info => keyEntry(info.key.split('.'))?.reader === null)).toEqual([])
})

test('a default inside a table that was replaced as a whole is not said to come from the lower layer', async () => {
  const machine = createTestMachine()
  const tool = '[tools.custom.x]\ndescription = "d"\ncommand = "ls"\n'
  machine.write('user/config.toml', `${tool}risk_level = "low"\n`)
  machine.write('kogu.toml', tool)
  await machine.trustNow()
  expect(getKey(machine.load(), 'tools.custom.x.risk_level')).toMatchObject({
    value: 'high',
    origin: { layer: 'built-in' },
  })
})
