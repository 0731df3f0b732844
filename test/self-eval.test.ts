import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onceApprover } from '../src/core/approval.ts'
import type { Prepared } from '../src/core/call.ts'
import { ToolError } from '../src/core/errors.ts'
import { findChecks } from '../src/tools/evaluate/find-checks.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

// The checks of a project as calls of their own, through the whole pipeline.

interface Evaluated {
  all_passed: boolean
  total_checks: number
  checks: Record<string, Record<string, unknown>>
}

let box: TestRuntime
beforeAll(async () => {
  box = await openTestRuntime('', onceApprover('the test'))
  box.write('report', 'Found 1 error.\n')
  box.write(
    'Makefile',
    'build:\n\t@mkdir -p dist && echo bundle > dist/out.js\nlint:\n\t@cat report; exit 1\ntest:\n\t@echo "5 passed in 0.1s"; i=0; while [ $$i -lt 2000 ]; do echo line$$i; i=$$((i+1)); done\n',
  )
})
afterAll(() => box.close())

const evaluate = async (input: Record<string, unknown> = {}, from = box) => {
  const result = await from.runtime.call({ tool: 'self_eval', input })
  expect(result, result.text).toMatchObject({ ok: true })
  return { data: result.data as Evaluated, text: result.text }
}

describe('a project with a Makefile', () => {
  test('all checks run one after another, and a failure does not stop the rest', async () => {
    const { data } = await evaluate()
    expect(data).toMatchObject({
      all_passed: false,
      total_checks: 4,
      checks: {
        build: { passed: true, exit_code: 0, bundle_bytes: 7, command: 'make build' },
        lint: { passed: false, exit_code: 2, errors: 1, warnings: 0 },
        type_check: { passed: false, skipped: true },
        test: { passed: true, tests: { passed: 5, failed: 0, skipped: 0 } },
      },
    })
    expect(String(data.checks.test?.stdout).length).toBeLessThanOrEqual(5000)
    const events = await box.runtime.listChanges()
    // The build is undone as the command that it is.
    expect(events.map(change => change.tool)).toContain('run_command')
  })

  test('what a check changes is claimed as a change of the call, and not made without', async () => {
    rmSync(join(box.workspace, 'dist'), { recursive: true })
    const claims: string[] = []
    const beforeRun = async ({ entry, judgement }: Prepared): Promise<void> => {
      claims.push(`${entry.tool.name} ${judgement.risk}`)
      if (judgement.risk === 'high') throw new ToolError('conflict', 'Another process has it.')
    }
    await box.runtime.call({ tool: 'self_eval', input: { checks: ['build'] }, beforeRun })
    expect(claims).toEqual(['self_eval low', 'run_command low', 'run_command high'])
    expect(existsSync(join(box.workspace, 'dist'))).toBe(false)
  })

  test('its verdict is no when a check failed, with the words of the check, and unknown when nothing was checked', async () => {
    const failed = await box.runtime.call({ tool: 'self_eval', input: { checks: ['build', 'lint'] } })
    expect(failed.verdict).toMatchObject({
      is: 'failed',
      why: expect.stringMatching(/^lint: failed[\s\S]*Found 1 error/),
    })
    const passed = await box.runtime.call({ tool: 'self_eval', input: { checks: ['test'] } })
    expect(passed.verdict).toBeUndefined()
    const nothing = await box.runtime.call({ tool: 'self_eval', input: { checks: ['type_check'] } })
    expect(nothing.verdict).toMatchObject({
      is: 'unknown',
      why: expect.stringContaining('Nothing was checked'),
    })
  })

  test('the difference to the last time is told', async () => {
    box.write('report', 'Found 3 errors.\n')
    const { data, text } = await evaluate({ checks: ['lint'] })
    expect(data.checks.lint).toMatchObject({ errors: 3, change: { errors: 2 } })
    expect(text).toContain('2 new errors')
    box.write('report', 'Found 0 errors.\n')
    expect((await evaluate({ checks: ['lint'] })).text).toContain('3 errors fewer')
  })

  test('unknown names are left out and said', async () => {
    const { data, text } = await evaluate({ checks: ['build', 'fly', '__proto__'] })
    expect(data).toMatchObject({ all_passed: true, total_checks: 3 })
    expect(Object.keys(data.checks)).toEqual(['build'])
    expect(text).toContain('fly')
  })
})

test('each check passes the same rules as a command line', async () => {
  const strict = await openTestRuntime(
    '[[permissions.rules]]\ndecision = "deny"\ncommand = ["make", "**"]\n',
    onceApprover('x'),
  )
  strict.write('Makefile', 'test:\n\t@touch ran\n')
  const { data } = await evaluate({ checks: ['test'] }, strict)
  expect(data.checks.test).toMatchObject({
    passed: false,
    not_run: true,
    error: expect.stringMatching(/rule/),
  })
  await strict.close()
})

test('a configured command comes before what is found', async () => {
  const own = await openTestRuntime('[tools.self_eval]\ntest = ["echo", "it\'s; fine"]\n', onceApprover('x'))
  own.write('Makefile', 'test:\n\t@exit 1\n')
  expect((await evaluate({ checks: ['test'] }, own)).data.checks.test).toMatchObject({
    passed: true,
    stdout: "it's; fine\n",
  })
  await own.close()
})

test('commands are found by the files of a project', () => {
  const found = (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) box.write(`projects/p/${path}`, text)
    return findChecks(`${box.workspace}/projects/p`)
  }
  expect(found({ 'go.mod': 'module x\n' }).test).toEqual(['go', 'test', './...'])
  expect(found({ 'Cargo.toml': '' })).toMatchObject({ build: ['cargo', 'build'], lint: ['cargo', 'clippy'] })
  const scripts = { build: 'x', check: 'y', test: 'echo "Error: no test specified" && exit 1' }
  expect(found({ 'package.json': JSON.stringify({ scripts }), 'pnpm-lock.yaml': '' })).toEqual({
    build: ['pnpm', 'run', 'build'],
    lint: ['cargo', 'clippy'],
    type_check: ['pnpm', 'run', 'check'],
    test: ['cargo', 'test'],
  })
  expect(found({ 'package.json': '{"scripts":{"test":"vitest"},"packageManager":"yarn@4"}' }).test).toEqual([
    'yarn',
    'run',
    'test',
  ])
})
