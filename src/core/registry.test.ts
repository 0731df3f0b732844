import { expect, test } from 'vitest'
import { localProvider, PRIORITY } from './provider.ts'
import { Registry } from './registry.ts'
import { echo, toolNamed } from './testing.ts'

test('the provider with the highest priority answers, and its removal brings the other back', async () => {
  const registry = new Registry()
  await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo]))
  const remove = await registry.add(
    localProvider('cli', 'CLI', PRIORITY.cli, [toolNamed('echo', { overrides: 'echo', title: 'fast' })]),
  )
  expect((await registry.resolve('Echo')).provider.id).toBe('cli')
  remove()
  expect((await registry.resolve('Echo')).provider.id).toBe('builtin')
})

test('a tie goes to the provider that was added first', async () => {
  const registry = new Registry()
  await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo]))
  const override = toolNamed('echo', { overrides: 'echo' })
  await registry.add(localProvider('custom', 'Custom', PRIORITY.custom, [override]))
  await registry.add(localProvider('script', 'Script', PRIORITY.script, [override]))
  expect((await registry.resolve('echo')).provider.id).toBe('custom')
})

test('a name or alias that is taken is refused unless it is overridden on purpose', async () => {
  const registry = new Registry()
  await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo]))
  await registry.add(
    localProvider('mcp:x', 'X', PRIORITY.mcp, [toolNamed('ECHO'), toolNamed('other', { aliases: ['say'] })]),
  )
  expect((await registry.resolve('echo')).provider.id).toBe('builtin')
  await expect(registry.resolve('other')).rejects.toMatchObject({ code: 'unknown_tool' })
  expect(registry.problems()).toHaveLength(2)
})

test('an override answers to every alias of what it replaces and never has a lower risk', async () => {
  const registry = new Registry()
  await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [{ ...echo, risk: 'high' }]))
  await registry.add(
    localProvider('cli', 'CLI', PRIORITY.cli, [toolNamed('fast_echo', { overrides: 'echo', risk: 'low' })]),
  )
  for (const name of ['echo', 'say', 'fast_echo']) {
    expect(await registry.resolve(name)).toMatchObject({ provider: { id: 'cli' }, risk: 'high' })
  }
})

test('a provider that cannot list its tools is reported and the others work', async () => {
  const registry = new Registry()
  await registry.add({
    ...localProvider('mcp:broken', 'Broken', PRIORITY.mcp, []),
    discoverTools: () => Promise.reject(new Error('exit 1')),
  })
  await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo]))
  expect(registry.list().map(entry => entry.tool.name)).toEqual(['echo'])
  expect(registry.problems()).toEqual(['mcp:broken: its tools cannot be listed: exit 1'])
})

test('a provider that cannot say whether it is available is not', async () => {
  const registry = new Registry()
  await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo]))
  await registry.add({
    ...localProvider('cli', 'CLI', PRIORITY.cli, [toolNamed('echo', { overrides: 'echo' })]),
    isAvailable: () => Promise.reject(new Error('?')),
  })
  expect((await registry.resolve('echo')).provider.id).toBe('builtin')
})

test('listeners hear of every change, and calls are counted', async () => {
  const registry = new Registry()
  let changes = 0
  const stop = registry.onChange(() => {
    changes += 1
  })
  const provider = localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo])
  const remove = await registry.add(provider)
  registry.count(provider, true)
  registry.count(provider, false)
  expect(registry.statistics()).toEqual([
    {
      id: 'builtin',
      displayName: 'Built-in',
      priority: -100,
      available: true,
      tools: 1,
      calls: 2,
      failures: 1,
    },
  ])
  remove()
  stop()
  await registry.add(provider)
  expect(changes).toBe(2)
})

test('a tool that is known from elsewhere leads to the one that does it', async () => {
  const registry = new Registry()
  await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [toolNamed('list_directory')]))
  await expect(registry.resolve('create_directory')).rejects.toMatchObject({
    hint: "Did you mean 'list_directory'?",
  })
  await registry.add(localProvider('other', 'Other', PRIORITY.custom, [toolNamed('write_file')]))
  await expect(registry.resolve('create_directory')).rejects.toMatchObject({
    hint: expect.stringContaining("'write_file' creates missing folders"),
  })
})
