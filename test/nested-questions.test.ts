import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { laterApprover } from '../src/core/approval.ts'
import type { CallResult } from '../src/core/call.ts'
import { readEvents } from '../src/store/audit/read.ts'
import { openTestRuntime, reopenTestRuntime, type TestRuntime } from './support/runtime.ts'
import { noSandbox } from './support/skips.ts'

// A tool that calls other tools waits for their questions like any call, and goes on after the answer in another process.

const once = { kind: 'once', user: 'kim' } as const
const opened: TestRuntime[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})

async function open(config = ''): Promise<TestRuntime> {
  const box = await openTestRuntime(config, laterApprover)
  opened.push(box)
  return box
}

/** Answers the one question that waits, and goes on with its call in a runtime of its own, as another process does. */
async function goOn(box: TestRuntime, kind: 'once' | 'deny' = 'once', which?: string): Promise<CallResult> {
  const other = await reopenTestRuntime(box, laterApprover)
  opened.push(other)
  const [question, ...more] = await other.runtime.listQuestions()
  if (which === undefined) expect(more).toEqual([])
  const id = which ?? question?.id ?? ''
  await other.runtime.answerQuestion(id, kind === 'once' ? once : { kind, user: 'kim', message: 'not now' })
  return other.runtime.continueCall(id)
}

const read = (box: TestRuntime, path: string): string | undefined =>
  existsSync(join(box.workspace, path)) ? readFileSync(join(box.workspace, path), 'utf8') : undefined

describe.skipIf(noSandbox !== '')(`self_eval${noSandbox}`, () => {
  const MAKEFILE =
    'build:\n\t@echo built >> built.txt\nlint:\n\t@date +%N > stamp.txt; echo linted\ntest:\n\t@echo "1 passed in 0.1s"\n'

  test('waits for the question of a check, and the checks that have run do not run again', async () => {
    const box = await open()
    box.write('Makefile', MAKEFILE)
    const waits = await box.runtime.call({ tool: 'self_eval', input: {} })
    expect(waits).toMatchObject({ ok: false, error: { code: 'needs_approval' } })
    const [question] = await box.runtime.listQuestions()
    expect(question).toMatchObject({
      id: waits.question,
      tool: { name: 'run_command' },
      input: { command: 'make build' },
      within: [{ callId: waits.call, tool: 'self_eval' }],
    })
    // What lint writes is another thing each time it runs: kept is what was asked about.
    expect(await goOn(box)).toMatchObject({ ok: false, error: { code: 'needs_approval' }, call: waits.call })
    expect([read(box, 'built.txt'), read(box, 'stamp.txt')]).toEqual(['built\n', undefined])
    const done = await goOn(box)
    expect(done).toMatchObject({ ok: true, call: waits.call, data: { all_passed: true } })
    expect(done.text).toMatch(/^build: passed.*\nlint: passed.*\ntype_check: skipped.*\ntest: passed/)
    expect(read(box, 'built.txt')).toBe('built\n')
    expect(await box.runtime.listQuestions()).toEqual([])
    const ran: unknown[] = []
    for await (const { event } of readEvents({ directory: box.runtime.places.audit }))
      if (event.type === 'call-started') ran.push(event.tool)
    expect(ran).toEqual(['self_eval', 'run_command', 'run_command', 'run_command'])
  })

  test('of an agent that has no other tool goes on as well: its checks are parts of it', async () => {
    const box = await open()
    box.write('Makefile', 'build:\n\t@echo built > doc/built.txt\n')
    box.write('doc/a.md', '')
    const authority = { agent: 'checker', tools: ['self_eval'] }
    const { id: run } = await box.runtime.openRun({ id: 'checks', authority })
    await box.runtime.call({ tool: 'self_eval', input: { checks: ['build'] }, run })
    await box.runtime.closeRun(run)
    expect(await goOn(box)).toMatchObject({ ok: true, data: { all_passed: true } })
    expect(read(box, 'doc/built.txt')).toBe('built\n')
  })

  test('says in words that a check could not run when a person denies it, and not that it failed', async () => {
    const box = await open('[[permissions.rules]]\ndecision = "ask"\ncommand = ["make", "build"]\n')
    box.write('Makefile', 'build:\n\t@echo built > built.txt\ntest:\n\t@echo "1 passed in 0.1s"\n')
    await box.runtime.call({ tool: 'self_eval', input: { checks: ['build', 'test'] } })
    const done = await goOn(box, 'deny')
    expect(done).toMatchObject({
      ok: true,
      verdict: { is: 'failed' },
      data: { all_passed: false, checks: { build: { not_run: true }, test: { passed: true } } },
    })
    expect(done.text).toMatch(/^build: could not run\. .*not now/)
    expect(done.text).not.toContain('build: failed')
  })

  test('counts a check by what its command said when its changes are not kept', async () => {
    const box = await open()
    box.write('Makefile', 'build:\n\t@echo built > built.txt\n')
    await box.runtime.call({ tool: 'self_eval', input: { checks: ['build'] } })
    expect(await goOn(box, 'deny')).toMatchObject({
      ok: true,
      text: expect.stringMatching(/^build: passed .*its changes were not kept/),
      data: { all_passed: true, checks: { build: { changes_kept: false } } },
    })
    expect(read(box, 'built.txt')).toBeUndefined()
  })
})

describe('code of a dynamic tool', () => {
  const create = async (box: TestRuntime, name: string, code: string, tools = ['write_file']) => {
    const input = { name, description: 'd', code, tools }
    const other = await reopenTestRuntime(box, { ask: async () => once })
    opened.push(other)
    const made = await other.runtime.call({ tool: 'create_tool', input })
    expect(made.ok, made.text).toBe(true)
    await box.runtime.registry.settled()
  }

  test('waits for the question of a call, and no call of it is made again', async () => {
    const box = await open('language = "en"\n')
    const code = `async function execute() {
      const texts = []
      for (const path of ['a.txt', 'b.txt']) {
        try { texts.push((await kogu.callTool('write_file', { path, content: path })).text) } catch (e) { texts.push(e.message) }
      }
      return texts
    }`
    await create(box, 'writer', code)
    const first = await box.runtime.call({
      tool: 'run_dynamic_tool',
      input: { tool_name: 'writer', parameters: {} },
    })
    expect(first).toMatchObject({ error: { code: 'needs_approval' } })
    const second = await goOn(box)
    expect(second).toMatchObject({ error: { code: 'needs_approval' }, call: first.call })
    expect([read(box, 'a.txt'), read(box, 'b.txt')]).toEqual(['a.txt', undefined])
    const done = await goOn(box, 'deny')
    expect(done).toMatchObject({
      ok: true,
      data: { value: [expect.stringContaining('Created a.txt'), expect.stringContaining('not now')] },
    })
    expect(await box.runtime.listChanges()).toHaveLength(1)
  })

  test('waits for calls of code inside of it, and for several at once', async () => {
    const box = await open('language = "en"\n')
    const both = `async function execute() {
      const write = path => kogu.callTool('write_file', { path, content: path }).then(r => r.text)
      return await Promise.all(['a.txt', 'b.txt'].map(write))
    }`
    await create(box, 'writer', both)
    const outer = `async function execute() {
      const first = await kogu.callTool('write_file', { path: 'first.txt', content: '1' })
      const inner = await kogu.callTool('run_dynamic_tool', { tool_name: 'writer', parameters: {} })
      return [first.text, ...inner.data.value]
    }`
    await create(box, 'both', outer, ['write_file', 'run_dynamic_tool'])
    let result = await box.runtime.call({
      tool: 'run_dynamic_tool',
      input: { tool_name: 'both', parameters: {} },
    })
    const asked: unknown[] = []
    for (; result.question !== undefined; result = await goOn(box, 'once', result.question)) {
      const question = (await box.runtime.listQuestions()).find(({ id }) => id === result.question)
      asked.push([question?.input.path, question?.within?.length])
      expect(asked.length).toBeLessThan(5)
    }
    expect(result.data).toMatchObject({
      value: ['first.txt', 'a.txt', 'b.txt'].map(path => expect.stringContaining(`Created ${path}`)),
    })
    // Of the two that are made at once, either may ask first.
    expect([asked[0], ...asked.slice(1).sort()]).toEqual([
      ['first.txt', 1],
      ['a.txt', 2],
      ['b.txt', 2],
    ])
    expect(await box.runtime.listChanges()).toHaveLength(3)
  })

  test('that goes another way after the answer is ended, and repeats nothing', async () => {
    const box = await open('language = "en"\n')
    const code = `async function execute() {
      await kogu.callTool('write_file', { path: 'a.txt', content: 'a' })
      try { await kogu.callTool('write_file', { path: String(Math.random()) + '.txt', content: 'b' }) } catch {}
      return 'fine'
    }`
    await create(box, 'roller', code)
    await box.runtime.call({ tool: 'run_dynamic_tool', input: { tool_name: 'roller', parameters: {} } })
    expect(await goOn(box)).toMatchObject({ error: { code: 'needs_approval' } })
    expect(await goOn(box)).toMatchObject({
      ok: false,
      error: { code: 'stale', message: expect.stringContaining('other things than before') },
    })
    expect(await box.runtime.listQuestions()).toEqual([])
    expect(await box.runtime.listChanges()).toHaveLength(1)
  })
})
