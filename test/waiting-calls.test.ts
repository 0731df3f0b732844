import { chmodSync, cpSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { laterApprover } from '../src/core/approval.ts'
import { localProvider, PRIORITY } from '../src/core/provider.ts'
import { toolNamed } from '../src/core/testing.ts'
import { openTestRuntime, reopenTestRuntime, type TestRuntime } from './support/runtime.ts'

// What may happen between a question and the end of its call, and must not make an answer one to something else.

const once = { kind: 'once', user: 'kim' } as const

let opened: TestRuntime[] = []
afterEach(async () => {
  for (const each of opened.toReversed()) await each.close()
  opened = []
})

async function open(config = ''): Promise<TestRuntime> {
  const box = await openTestRuntime(config, laterApprover)
  opened.push(box)
  return box
}

async function inAnotherProcess(box: TestRuntime): Promise<TestRuntime> {
  const other = await reopenTestRuntime(box, laterApprover)
  opened.push(other)
  return other
}

test('a call that goes on in another process is still below the runs that it was made below', async () => {
  const box = await open(
    'mode = "accept-edits"\n[[permissions.rules]]\ndecision = "ask"\ntool = "write_file"\nagents = ["boss"]\n',
  )
  const authority = { tools: 'all', writeScope: ['.'] } as const
  const boss = await box.runtime.openRun({ authority: { ...authority, agent: 'boss' } })
  const helper = await box.runtime.openRun({
    authority: { ...authority, agent: 'helper' },
    parent: boss.id,
  })
  const asked = await box.runtime.call({
    tool: 'write_file',
    input: { path: 'a.txt', content: 'x' },
    run: helper.id,
  })
  expect(asked.error?.code).toBe('needs_approval')
  const { runtime } = await inAnotherProcess(box)
  // The rule is about the agent above: without it, the mode would let the call through, unanswered.
  expect((await runtime.continueCall(asked.call)).error?.code).toBe('needs_approval')
  await runtime.answerQuestion(asked.call, once)
  expect(await runtime.continueCall(asked.call)).toMatchObject({ ok: true, decision: { user: 'kim' } })
})

test('an answer that was used does not come back with its file', async () => {
  const box = await open()
  let runs = 0
  const publish = toolNamed('publish', {
    risk: 'high',
    access: () => [{ kind: 'custom', name: 'publish', details: 'the package' }],
    run: async () => {
      runs += 1
      return { text: 'published' }
    },
  })
  await box.runtime.registerProvider(localProvider('own', 'Own', PRIORITY.custom, [publish]))
  const { call } = await box.runtime.call({ tool: 'publish', input: { text: 'x' } })
  await box.runtime.answerQuestion(call, once)
  const folder = join(box.workspace, '.kogu/approvals')
  const copy = join(box.home, 'copy')
  cpSync(folder, copy, { recursive: true })
  expect((await box.runtime.continueCall(call)).ok).toBe(true)
  // A checkout, a backup, an editor that saves what it had open.
  cpSync(copy, folder, { recursive: true })
  await expect(box.runtime.continueCall(call)).rejects.toMatchObject({ code: 'not_found' })
  expect(await box.runtime.listQuestions()).toEqual([])
  expect(runs).toBe(1)
})

test('a file of one question is none of another, and what else lies in the folder is no question', async () => {
  const box = await open()
  const ask = (path: string) => box.runtime.call({ tool: 'write_file', input: { path, content: 'x' } })
  const [first, second] = [await ask('a.txt'), await ask('b.txt')]
  await box.runtime.answerQuestion(first.call, once)
  const fileOf = (id = '') => join(box.workspace, '.kogu/approvals', `${id}.json`)
  renameSync(fileOf(first.question), fileOf(second.question))
  mkdirSync(fileOf('q-12'))
  symlinkSync('/dev/zero', fileOf('q-34'))
  expect(await box.runtime.listQuestions()).toEqual([])
  await expect(box.runtime.continueCall(second.call)).rejects.toMatchObject({ code: 'not_found' })
})

test.each([
  ['./deploy.sh', 'deploy.sh'],
  ['env ./link', 'deploy.sh'],
  ['make deploy', 'Makefile'],
  ['npm run deploy', 'package.json'],
])('a yes to %s is one to what %s says at that moment', async (command, changed) => {
  const box = await open('[[permissions.rules]]\ndecision = "ask"\ntool = "run_command"\ncommand = ["**"]\n')
  box.write('deploy.sh', '#!/bin/sh\necho good\n')
  chmodSync(join(box.workspace, 'deploy.sh'), 0o755)
  symlinkSync('deploy.sh', join(box.workspace, 'link'))
  box.write('Makefile', 'deploy:\n\techo good\n')
  box.write('package.json', '{"scripts":{"deploy":"echo good"}}')
  const { call } = await box.runtime.call({ tool: 'run_command', input: { command } })
  box.write(changed, 'echo evil\n')
  await box.runtime.answerQuestion(call, once)
  expect((await box.runtime.continueCall(call)).error).toMatchObject({
    code: 'stale',
    message: expect.stringContaining(changed),
  })
})
