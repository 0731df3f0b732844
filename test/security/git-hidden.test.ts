import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { onceApprover } from '../../src/core/approval.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'
import { noSandbox } from '../support/skips.ts'

// A rule hides tracked files from every command. Git, which cannot see them, would take them for deleted.

const DENY = `
[[permissions.rules]]
decision = "deny"
tool = "read_file"
path = ["secrets/**", "private.txt"]
`

let box: TestRuntime
const git = (...args: string[]): string =>
  execFileSync('git', args, {
    cwd: box.workspace,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: box.home },
  }).trim()
const run = (command: string) => box.runtime.call({ tool: 'run_command', input: { command } })

beforeEach(async () => {
  box = await openTestRuntime(DENY, onceApprover('the test'))
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Kim')
  git('config', 'user.email', 'kim@site.test')
  for (const path of ['secrets/k.txt', 'private.txt', 'a.txt']) box.write(path, `${path}\n`)
  git('add', '-A')
  git('commit', '-qm', 'first')
  box.write('a.txt', 'changed\n')
})
afterEach(() => box.close())

const tracked = (): string[] => git('ls-tree', '-r', '--name-only', 'HEAD').split('\n')

describe.skipIf(noSandbox !== '')(`files that a rule hides from an approved line${noSandbox}`, () => {
  test.each([
    'git commit -am second',
    'git add -A && git commit -m second',
    'git add . ; git commit -m second',
    'git rm -rq --cached secrets ; git commit -m second',
    'git stash',
    "sh -c 'git commit -am second'",
    'python3 -c "import os; os.system(\'git commit -qam second\')"; git tag v1',
  ])('are never recorded as deleted or changed by `%s`', async line => {
    const result = await run(line)
    expect(result.ok && /^\[Command exited/m.test(result.text) === false, result.text).toBe(false)
    expect(git('rev-list', '--count', 'HEAD')).toBe('1')
    expect(tracked()).toEqual(['a.txt', 'private.txt', 'secrets/k.txt'])
    expect(git('status', '--porcelain').split('\n')).toEqual(['M a.txt'])
    expect(git('stash', 'list')).toBe('')
    if (!result.ok) expect(result.error?.message).toMatch(/private\.txt|secrets\/k\.txt|refuse|not kept/i)
  })

  test('do not keep other files from being committed by name', async () => {
    const result = await run('git add a.txt && git commit -qm second')
    expect(result.ok, result.text).toBe(true)
    expect(git('show', 'HEAD:a.txt')).toBe('changed')
    expect(tracked()).toEqual(['a.txt', 'private.txt', 'secrets/k.txt'])
    expect(git('status', '--porcelain')).toBe('')
  })

  test('may be recorded as deleted once they really are', async () => {
    rmSync(join(box.workspace, 'secrets'), { recursive: true })
    rmSync(join(box.workspace, 'private.txt'))
    const result = await run('git commit -qam second')
    expect(result.ok, result.text).toBe(true)
    expect(tracked()).toEqual(['a.txt'])
  })
})
