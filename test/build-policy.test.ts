import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noApprover } from '../src/core/approval.ts'
import { configOfCopy } from '../src/pipelines/build/copy-policy.ts'
import { createRuntime, type Runtime } from '../src/runtime.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

// What may happen in the copy of a build, as docs/build.md says, in mode ask and under a rule of the person's.

const RULE =
  '[[permissions.rules]]\nid = "lock"\ndecision = "deny"\ntool = "write_file"\npath = ["locked.txt", "~/work/absolute.txt"]\n[[permissions.rules]]\ndecision = "deny"\ntool = "read_file"\npath = ["private/**"]\n'

let box: TestRuntime
let copy: Runtime

beforeAll(async () => {
  box = await openTestRuntime(`mode = "ask"\n${RULE}`)
  spawnSync('git', ['init', '-q'], { cwd: box.workspace })
  box.write('a.txt', 'a\n')
  box.write('d/workflows/ci.yml', 'on: push\n')
  box.write('private/x.txt', 'x\n')
  const root = join(box.home, 'copy')
  cpSync(box.workspace, root, { recursive: true })
  const loaded = configOfCopy(box.loaded, root, box.home)
  copy = await createRuntime({ loaded, environment: box.environment, approver: noApprover('a test') })
})
afterAll(async () => {
  await copy.close()
  await box.close()
})

const write = (path: string): [string, object] => ['write_file', { path, content: 'x' }]
const git = (action: string, args: object): [string, object] => ['git_ops', { action, args }]

test.each<[string, [string, object], string]>([
  ['a new file', write('new.txt'), 'allow'],
  ['a deletion', ['delete_file', { path: 'a.txt' }], 'allow'],
  ['a move', ['move_file', { source: 'a.txt', destination: 'b.txt' }], 'allow'],
  ['a whole folder', ['delete_file', { path: 'd', recursive: true }], 'ask'],
  ['a folder that becomes one of the CI', ['move_file', { source: 'd', destination: '.github' }], 'ask'],
  ['git add', git('add', { files: ['.'] }), 'allow'],
  ['a commit', git('commit', { message: 'Two\n\nlines' }), 'allow'],
  ['another branch', git('branch_create', { branch_name: 'other' }), 'ask'],
  ['a workflow of the CI', write('.github/workflows/ci.yml'), 'ask'],
  ['a hook', write('.husky/pre-commit'), 'ask'],
  ['a push', ['run_command', { command: 'git push origin main' }], 'ask'],
  ['a download', ['run_command', { command: 'npm publish' }], 'ask'],
  ["what a rule of the person's forbids", write('locked.txt'), 'deny'],
  ['the same by its full path', write('absolute.txt'), 'deny'],
  ['what a rule hides', ['read_file', { path: 'private/x.txt' }], 'deny'],
  ["the same of the person's", ['read_file', { path: '../work/private/x.txt' }], 'deny'],
  ["a file of the person's", write('../work/a.txt'), 'deny'],
  ['a file outside', write('/etc/hosts'), 'deny'],
  ['the repository itself', write('.git/config'), 'deny'],
])('%s', async (_, [tool, input], decision) => {
  expect((await copy.explain({ tool, input })).decision).toBe(decision)
})
