import { afterEach, describe, expect, test } from 'vitest'
import { localProvider, PRIORITY } from '../../src/core/provider.ts'
import { toolNamed } from '../../src/core/testing.ts'
import type { AnyTool } from '../../src/core/tool.ts'
import { readFile } from '../../src/tools/read-file.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'

// A rule that names a tool holds whenever such a tool comes: the attack is a server that connects, reconnects or offers
// its tool under another spelling after the rules were read.

let box: TestRuntime | undefined
afterEach(async () => {
  await box?.close()
  box = undefined
})

const createIssue = toolNamed('github__createIssue', { aliases: ['CreateIssue'], risk: 'low' })
const fastRead: AnyTool = { ...readFile, name: 'fast_read', aliases: [], overrides: 'read_file' }

/** How the tool gets there, once the rules are read. */
const COMINGS: Record<string, (box: TestRuntime, tool: AnyTool) => Promise<void>> = {
  late: async ({ runtime }, tool) => {
    await runtime.registry.add(localProvider('mcp:x', 'X', PRIORITY.mcp, [tool]))
  },
  'registered again': async ({ runtime }, tool) => {
    const remove = await runtime.registry.add(localProvider('mcp:x', 'X', PRIORITY.mcp, [tool]))
    await remove()
    await runtime.registry.add(localProvider('mcp:x', 'X', PRIORITY.mcp, [tool]))
  },
  'from another provider': async ({ runtime }, tool) => {
    const remove = await runtime.registry.add(localProvider('mcp:x', 'X', PRIORITY.mcp, [tool]))
    await remove()
    await runtime.registry.add(localProvider('custom', 'C', PRIORITY.custom, [tool]))
  },
  'with its names exchanged': async ({ runtime }, tool) => {
    const other = { ...tool, name: tool.aliases[0] ?? tool.name, aliases: [tool.name] }
    await runtime.registry.add(localProvider('mcp:x', 'X', PRIORITY.mcp, [other]))
  },
}

/** What a configuration can say about a tool, by name. */
const SAYINGS: Record<string, { config: (name: string) => string; code: string }> = {
  'a rule': {
    config: name => `[[permissions.rules]]\ndecision = "deny"\ntool = "${name}"\n`,
    code: 'denied',
  },
  'a line of an ordered list': {
    config: name =>
      `[permissions]\ndefault_action = "allow"\n[[permissions.rule]]\ntool = "${name}"\npattern = "*"\naction = "deny"\n`,
    code: 'denied',
  },
  'a switch': { config: name => `[tools.${name}]\nenabled = false\n`, code: 'not_enabled' },
}

const NAMES = ['github__createIssue', 'GITHUB__CREATEISSUE', 'createissue']

describe.each(Object.keys(SAYINGS))('%s that names a tool', saying => {
  test.each(Object.keys(COMINGS))(
    'holds for one that comes %s, by each of its names, through every way in',
    async coming => {
      const found: string[] = []
      for (const name of NAMES) {
        const { config, code } = SAYINGS[saying] ?? { config: () => '', code: '' }
        box = await openTestRuntime(config(name))
        await COMINGS[coming]?.(box, createIssue)
        for (const tool of NAMES) found.push(...(await outcomes(box, tool)).filter(each => each !== code))
        await box.close()
      }
      box = undefined
      expect(found).toEqual([])
    },
  )
})

async function outcomes({ runtime }: TestRuntime, tool: string): Promise<string[]> {
  const request = { tool, input: { text: 'x' } }
  const [inTurn] = await runtime.callAll([request])
  const explained = await runtime.explain(request).then(
    ({ decision }) => (decision === 'deny' ? 'denied' : decision),
    error => error.code,
  )
  return [
    (await runtime.call(request)).error?.code ?? 'ok',
    (await runtime.call({ ...request, run: 'named' })).error?.code ?? 'ok',
    inTurn?.error?.code ?? 'ok',
    explained,
  ]
}

test('the tool runs where nothing names it: the refusals above are of the names', async () => {
  box = await openTestRuntime('[[permissions.rules]]\ndecision = "deny"\ntool = "github__createIssues"\n')
  await COMINGS.late?.(box, createIssue)
  expect(await outcomes(box, 'CreateIssue')).toEqual(['ok', 'ok', 'ok', 'allow'])
})

test('a rule for a tool holds for what overrides it, and for itself when that one is gone', async () => {
  box = await openTestRuntime('[[permissions.rules]]\ndecision = "deny"\ntool = "Read"\n')
  box.write('a.txt', 'x')
  const remove = await box.runtime.registry.add(localProvider('mcp:x', 'X', PRIORITY.mcp, [fastRead]))
  for (const tool of ['read_file', 'Read', 'fast_read'])
    expect(await box.runtime.call({ tool, input: { path: 'a.txt' } })).toMatchObject({
      error: { code: 'denied' },
    })
  await remove()
  expect(await box.runtime.call({ tool: 'read_file', input: { path: 'a.txt' } })).toMatchObject({
    error: { code: 'denied' },
  })
})

test('a rule about files that names an overridden tool still holds for its kind of access', async () => {
  box = await openTestRuntime(
    '[[permissions.rules]]\ndecision = "deny"\ntool = "Read"\npath = ["plans/**"]\n',
  )
  box.write('plans/a.md', 'x')
  await box.runtime.registry.add(localProvider('mcp:x', 'X', PRIORITY.mcp, [fastRead]))
  const { decision } = await box.runtime.explain({
    tool: 'run_command',
    input: { command: 'cat plans/a.md' },
  })
  expect(decision).toBe('deny')
})

test('an exception for a tool holds for it whenever it comes', async () => {
  box = await openTestRuntime(
    '[[permissions.rules]]\ndecision = "deny"\ntool = "*"\nexcept = { tool = "createissue" }\n',
  )
  await COMINGS.late?.(box, createIssue)
  expect(await outcomes(box, 'github__createIssue')).toEqual(['ok', 'ok', 'ok', 'allow'])
  expect((await box.runtime.call({ tool: 'list_directory', input: {} })).error?.code).toBe('denied')
})

test('the tools of a run are looked up when they are called, by any of their names', async () => {
  box = await openTestRuntime()
  const { runtime } = box
  const run = (await runtime.openRun({ authority: { tools: ['CREATEISSUE'] } })).id
  await COMINGS.late?.(box, createIssue)
  const call = (tool: string, input: object) => runtime.call({ tool, input, run })
  expect(await call('github__createIssue', { text: 'x' })).toMatchObject({ ok: true })
  expect(await call('list_directory', {})).toMatchObject({ error: { code: 'not_enabled' } })
})
