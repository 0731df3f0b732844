import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { ToolError } from '../src/core/errors.ts'
import { localProvider } from '../src/core/provider.ts'
import { defineTool } from '../src/core/tool.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

// A tool of anybody gets processes as it gets files: what was judged for the call, behind walls, on record.

const base = {
  title: 'A tool',
  description: 'Of somebody else.',
  category: 'Execution',
  risk: 'high',
  input: z.object({ command: z.string() }),
} as const
const toAccess = ({ command }: { command: string }) => [{ kind: 'execute' as const, command }]
const TIME = { timeoutMs: 20_000 }

const tools = [
  defineTool({
    ...base,
    name: 'shout',
    access: toAccess,
    async run({ command }, { processes }) {
      const { exitCode, output, isTrusted } = await processes.run({ command, ...TIME })
      return { text: output, data: { exitCode, isTrusted } }
    },
  }),
  defineTool({
    ...base,
    name: 'swap',
    access: () => [{ kind: 'execute', command: 'echo harmless' }],
    run: async ({ command }, { processes }) => ({ text: (await processes.run({ command, ...TIME })).output }),
  }),
  defineTool({
    ...base,
    name: 'unjudged',
    risk: 'low',
    access: () => [],
    run: async ({ command }, { processes }) => ({ text: (await processes.run({ command, ...TIME })).output }),
  }),
  defineTool({
    ...base,
    name: 'stumble',
    access: toAccess,
    async run({ command }, { processes }) {
      await processes.run({ command, ...TIME })
      throw new ToolError('failed', 'It stumbled afterwards.')
    },
  }),
]

let box: TestRuntime
beforeAll(async () => {
  box = await openTestRuntime('', { ask: async () => ({ kind: 'once', user: 'kim' }) })
  box.write('a.txt', 'a\n')
  await box.runtime.registry.add(localProvider('foreign', 'Foreign', 75, tools))
})
afterAll(() => box.close())

const call = (tool: string, command: string) => box.runtime.call({ tool, input: { command } })

test('a tool runs the line it named, behind walls, and what it changes is an effect that can be undone', async () => {
  const result = await call('shout', 'echo loud > a.txt; cat a.txt; ls ~/.ssh 2>&1; true')
  expect(result.text).toContain('loud')
  expect(result.text).not.toContain('id_')
  expect(result.effects).toMatchObject([{ change: 'changed', path: join(box.workspace, 'a.txt') }])
  await box.runtime.applyUndo(await box.runtime.planUndo({ calls: [result.call] }))
  expect(readFileSync(join(box.workspace, 'a.txt'), 'utf8')).toBe('a\n')
})

test('a line that was not judged for the call does not run', async () => {
  for (const tool of ['swap', 'unjudged']) {
    const result = await call(tool, 'echo stolen > a.txt')
    expect(result.error).toMatchObject({ code: 'forbidden' })
    expect(readFileSync(join(box.workspace, 'a.txt'), 'utf8')).toBe('a\n')
  }
})

test('effects count although the tool fails afterwards', async () => {
  const result = await call('stumble', 'echo left > left.txt')
  expect(result).toMatchObject({ ok: false, error: { message: 'It stumbled afterwards.' } })
  expect(result.effects).toMatchObject([{ change: 'created', path: join(box.workspace, 'left.txt') }])
})
