import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { localProvider, type OnTools, PRIORITY, type Provider } from './provider.ts'
import { fingerprintOf, Registry } from './registry.ts'
import { fromZod } from './schema.ts'
import { echo, toolNamed } from './testing.ts'
import type { AnyTool } from './tool.ts'

test('the provider with the highest priority answers, and its removal brings the other back', async () => {
  const registry = new Registry()
  await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo]))
  const remove = await registry.add(
    localProvider('cli', 'CLI', PRIORITY.cli, [toolNamed('echo', { overrides: 'echo', title: 'fast' })]),
  )
  expect((await registry.resolve('Echo')).provider.id).toBe('cli')
  await remove()
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

describe('a provider that does not start', () => {
  const broken = (start: Provider['start'], close: Provider['close'] = () => undefined): Provider => ({
    ...localProvider('mcp:broken', 'Broken', PRIORITY.mcp, []),
    start,
    close,
  })

  test.each<[string, Provider['start'], string]>([
    ['fails', () => Promise.reject(new Error('exit 1')), 'mcp:broken is down: exit 1'],
    [
      'throws',
      () => {
        throw new Error('exit 1.')
      },
      'mcp:broken is down: exit 1',
    ],
    ['offers nothing', () => undefined, 'mcp:broken is down: it offered no tools'],
    ['hangs', () => new Promise(() => undefined), 'mcp:broken is down: it did not start within 10 ms'],
  ])('because it %s is reported, and the others work', async (_, start, problem) => {
    const registry = new Registry({ startMs: 10 })
    await registry.add(broken(start))
    await registry.add(localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo]))
    expect(registry.list().map(entry => entry.tool.name)).toEqual(['echo'])
    expect(registry.problems()).toEqual([problem])
    await registry.close()
  })

  test('is started again by itself, with growing pauses', async () => {
    vi.useFakeTimers()
    try {
      const registry = new Registry({ retryMs: 1000, longestRetryMs: 3000 })
      const attempts: number[] = []
      const start: Provider['start'] = (_signal, onTools) => {
        attempts.push(Date.now() - begun)
        if (attempts.length < 5) throw new Error('not yet')
        onTools([toolNamed('late')])
      }
      const begun = Date.now()
      await registry.add(broken(start))
      await vi.advanceTimersByTimeAsync(20_000)
      expect(attempts).toEqual([0, 1000, 3000, 6000, 9000])
      expect((await registry.resolve('late')).provider.id).toBe('mcp:broken')
      expect(registry.problems()).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  test('and does not end either holds nobody up', async () => {
    const registry = new Registry({ startMs: 10, closeMs: 10 })
    const never = () => new Promise<void>(() => undefined)
    const remove = await registry.add(broken(never, never))
    await remove()
    expect(registry.statistics()).toEqual([])
  })
})

describe('a provider that goes down', () => {
  test('keeps its last list, says why, and comes back', async () => {
    vi.useFakeTimers()
    try {
      const registry = new Registry({ retryMs: 1000 })
      const provider = localProvider('mcp:x', 'X', PRIORITY.mcp, [toolNamed('x__tool')])
      await registry.add(provider)
      registry.markUnavailable(provider, 'the server has ended')
      expect(registry.list().map(entry => entry.tool.name)).toEqual(['x__tool'])
      await expect(registry.resolve('x__tool')).rejects.toMatchObject({
        message: "No provider of 'x__tool' is available now: mcp:x is down: the server has ended.",
      })
      await vi.advanceTimersByTimeAsync(1000)
      expect((await registry.resolve('x__tool')).provider).toBe(provider)
    } finally {
      vi.useRealTimers()
    }
  })

  test('and is started anew by several at that moment has one life, and no second one later', async () => {
    vi.useFakeTimers()
    try {
      const registry = new Registry({ retryMs: 1000 })
      const lives: AbortSignal[] = []
      const provider: Provider = {
        ...localProvider('mcp:x', 'X', PRIORITY.mcp, []),
        start(signal, onTools) {
          lives.push(signal)
          onTools([toolNamed('x__tool')])
        },
        close: () => new Promise(resolve => setTimeout(resolve, 100)),
      }
      await registry.add(provider)
      registry.markUnavailable(provider, 'the server has ended')
      await vi.advanceTimersByTimeAsync(50)
      const refreshed = Promise.all([registry.refresh('mcp:x'), registry.refresh('mcp:x')])
      await vi.advanceTimersByTimeAsync(20_000)
      await refreshed
      expect(lives.filter(signal => !signal.aborted)).toHaveLength(1)
      expect(lives).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })

  test('cannot offer anything for the life that has ended', async () => {
    const registry = new Registry()
    const offers: OnTools[] = []
    const provider: Provider = {
      ...localProvider('mcp:x', 'X', PRIORITY.mcp, []),
      start: (_signal, onTools) => {
        offers.push(onTools)
        onTools([])
      },
    }
    await registry.add(provider)
    await registry.refresh('mcp:x')
    offers[0]?.([toolNamed('stale')])
    offers[1]?.([toolNamed('fresh')])
    expect(registry.list().map(entry => entry.tool.name)).toEqual(['fresh'])
    await registry.close()
  })
})

test('a tool that is not known yet is waited for while a provider starts', async () => {
  const registry = new Registry()
  const connected = Promise.withResolvers<void>()
  void registry.add({
    ...localProvider('mcp:slow', 'Slow', PRIORITY.mcp, []),
    async start(_signal, onTools) {
      await connected.promise
      onTools([toolNamed('slow__tool')])
    },
  })
  const resolved = registry.resolve('slow__tool')
  connected.resolve()
  expect((await resolved).provider.id).toBe('mcp:slow')
})

test('one bad tool never hides the others', async () => {
  const registry = new Registry()
  const unreadable = new Proxy(toolNamed('x'), {
    get() {
      throw new Error('no')
    },
  })
  const circular: Record<string, unknown> = {}
  circular.properties = circular
  const bad = [
    toolNamed('with space'),
    { name: 'half' },
    null,
    unreadable,
    // What a list of tools would fail on.
    { ...toolNamed('odd_alias'), aliases: [5] },
    { ...toolNamed('no_words'), description: undefined },
    { ...toolNamed('odd_override'), overrides: 5 },
    toolNamed('odd_schema', { input: { ...echo.input, json: circular } }),
  ] as AnyTool[]
  await registry.add(localProvider('mcp:x', 'X', PRIORITY.mcp, [...bad, toolNamed('good')]))
  expect(registry.list().map(entry => entry.tool.name)).toEqual(['good'])
  expect(registry.problems()).toHaveLength(bad.length)
})

test('a fingerprint covers what is read of a tool and who offers it, and nothing else', async () => {
  const tool = toolNamed('tool')
  const same = fingerprintOf({ ...tool, run: async () => ({ text: 'other' }) }, 'mcp:x')
  expect(same).toBe(fingerprintOf(tool, 'mcp:x'))
  const others = [
    fingerprintOf(tool, 'mcp:y'),
    fingerprintOf({ ...tool, description: 'Reads, and sends it home.' }, 'mcp:x'),
    fingerprintOf({ ...tool, title: 'Other' }, 'mcp:x'),
    fingerprintOf({ ...tool, input: fromZod(() => z.object({ path: z.string() })) }, 'mcp:x'),
    fingerprintOf({ ...tool, output: fromZod(() => z.object({})) }, 'mcp:x'),
  ]
  expect(new Set([same, ...others]).size).toBe(others.length + 1)
})

test('listeners hear of every change, and calls are counted', async () => {
  const registry = new Registry()
  let changes = 0
  const stop = registry.onChange(() => {
    changes += 1
  })
  const provider = localProvider('builtin', 'Built-in', PRIORITY.builtin, [echo])
  const remove = await registry.add(provider)
  registry.count(provider, true, 30)
  registry.count(provider, false, 900)
  expect(registry.health('builtin')).toEqual({ isStarting: false, problems: [], p50Ms: 30 })
  expect(registry.health('b')).toBeUndefined()
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
  await remove()
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
