import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type Approver, noApprover, onceApprover, type Question } from '../src/core/approval.ts'
import { openTestRuntime, reopenTestRuntime, type TestRuntime } from './support/runtime.ts'

// Many runs of one process: each with its own authority, its own approver, its own end.

let box: TestRuntime | undefined
afterEach(async () => {
  await box?.close()
  box = undefined
})

const writeA = { tool: 'write_file', input: { path: 'a.txt', content: 'x\n' } }

/** Says yes for the session with the widest grant that is offered, and keeps what it was asked. */
function sessionApprover(asked: Question[] = []): Approver {
  return {
    async ask(question) {
      asked.push(question)
      const offer = question.offers.at(-1)
      return offer === undefined
        ? { kind: 'once', user: 'kim' }
        : { kind: 'session', user: 'kim', grant: offer.id }
    },
  }
}

describe('a run', () => {
  test('has the authority that it was opened with, and no call of it has more', async () => {
    box = await openTestRuntime('mode = "accept-edits"\n')
    const { runtime } = box
    const reader = await runtime.openRun({ authority: { mode: 'read-only' } })
    const writer = await runtime.openRun()
    expect((await runtime.call({ ...writeA, run: reader.id })).error?.code).toBe('denied')
    expect((await runtime.call({ ...writeA, run: writer.id })).ok).toBe(true)
    expect((await runtime.explain({ ...writeA, run: reader.id })).decision).toBe('deny')
  })

  test('of an agent has no tools, and doc to write in, unless it is given more', async () => {
    box = await openTestRuntime('mode = "accept-edits"\n')
    const { runtime, workspace } = box
    const bare = await runtime.openRun({ authority: { agent: 'bare' } })
    expect((await runtime.call({ ...writeA, run: bare.id })).error?.code).toBe('not_enabled')
    const writer = await runtime.openRun({ authority: { agent: 'writer', tools: ['Write', 'run_command'] } })
    const write = (path: string) =>
      runtime.call({ tool: 'write_file', input: { path, content: 'x\n' }, run: writer.id })
    expect((await write('doc/a.md')).ok).toBe(true)
    expect((await write('src/a.ts')).error).toMatchObject({
      code: 'forbidden',
      message: `Path '${workspace}/src/a.ts' is not within any allowed write directory. Allowed: ${workspace}/doc`,
    })
    const command = await runtime.call({ tool: 'Bash', input: { command: 'touch x' }, run: writer.id })
    expect(command.error?.message).toContain("Command 'touch' is not in the allowed command list.")
  })

  test('with git at ReadWrite adds and commits, whatever its commands; at ReadOnly it is told which level it needs', async () => {
    box = await openTestRuntime('mode = "ask"\n', onceApprover('the test'))
    const { runtime, workspace, write } = box
    const git = (...words: string[]) => execFileSync('git', words, { cwd: workspace, encoding: 'utf8' })
    git('init', '--quiet')
    git('config', 'user.name', 'kim')
    git('config', 'user.email', 'kim@example.com')
    write('doc/a.md', 'a\n')
    const as = async (level: 'read-only' | 'read-write', input: Record<string, unknown>) => {
      const run = await runtime.openRun({ authority: { agent: 'committer', tools: ['git_ops'], git: level } })
      return runtime.call({ tool: 'git_ops', input, run: run.id })
    }
    const add = { action: 'add', args: { files: ['doc/a.md'] } }
    expect((await as('read-only', add)).error?.message).toBe(
      "Git write action 'add' requires ReadWrite permission. Current: ReadOnly",
    )
    const results = [
      await as('read-write', add),
      await as('read-write', { action: 'commit', args: { message: 'add a' } }),
    ]
    expect(results.map(({ error }) => error?.message)).toEqual([undefined, undefined])
    expect(git('log', '--format=%s')).toBe('add a\n')
  })

  test('with self_eval alone runs the checks of the project, and no command of its own', async () => {
    box = await openTestRuntime('', onceApprover('the test'))
    box.write('Makefile', 'test:\n\t@echo fine\n')
    const { runtime } = box
    const { id: run } = await runtime.openRun({ authority: { agent: 'checker', tools: ['self_eval'] } })
    const checked = await runtime.call({ tool: 'self_eval', input: {}, run })
    expect(checked, checked.text).toMatchObject({ ok: true, data: { all_passed: true } })
    const own = await runtime.call({ tool: 'run_command', input: { command: 'make test' }, run })
    expect(own.error?.code).toBe('not_enabled')
  })

  test('has no more by its tools than a configuration that restricts all commands', async () => {
    box = await openTestRuntime('[tools.run_command]\nprofile = "restricted"\nallowed_commands = ["ls"]\n')
    box.write('Makefile', 'test:\n\t@echo fine\n')
    const { runtime } = box
    const { id: run } = await runtime.openRun({ authority: { agent: 'checker', tools: ['self_eval'] } })
    const checked = await runtime.call({ tool: 'self_eval', input: {}, run })
    expect(checked.text).toContain("Command 'make' is not in the allowed command list. Allowed: ")
  })

  test('below another one has at most what that one has', async () => {
    box = await openTestRuntime('mode = "accept-edits"\n')
    const { runtime, workspace } = box
    const parent = await runtime.openRun({ authority: { writeScope: ['doc'], git: 'read-only' } })
    const child = await runtime.openRun({
      parent: parent.id,
      authority: { writeScope: ['.'], git: 'read-write', mode: 'accept-edits', tools: 'all' },
    })
    expect(child.authority).toMatchObject({ writeScope: [join(workspace, 'doc')], git: 'read-only' })
    expect((await runtime.call({ ...writeA, run: child.id })).error?.code).toBe('forbidden')
  })

  test('with a name keeps its authority in later processes, also when its own was killed', async () => {
    box = await openTestRuntime('mode = "accept-edits"\n')
    await box.runtime.openRun({ id: 'night', authority: { mode: 'read-only', limits: { calls: 2 } } })
    // Nothing was closed: the first process is gone.
    const later = await reopenTestRuntime(box, noApprover('a test'))
    const call = { ...writeA, run: 'night' }
    expect((await later.runtime.explain(call)).decision).toBe('deny')
    expect((await later.runtime.call(call)).error?.code).toBe('denied')
    await later.close()
    const last = await reopenTestRuntime(box, noApprover('a test'))
    expect((await last.runtime.call(call)).error?.code).toBe('denied')
    expect((await last.runtime.call(call)).error?.message).toBe(
      "The run 'night' has reached its limit of 2 calls.",
    )
    await last.close()
  })

  test('cannot have a write folder outside the workspace, by a link neither', async () => {
    box = await openTestRuntime()
    const { runtime, workspace, home } = box
    symlinkSync(home, join(workspace, 'innocent'))
    for (const folder of ['/srv', '..', home, 'innocent'])
      await expect(runtime.openRun({ authority: { writeScope: [folder] } })).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining('is outside of the workspace'),
      })
  })

  test('whose write folder becomes a link later does not follow it', async () => {
    box = await openTestRuntime('mode = "accept-edits"\n')
    const { runtime, workspace } = box
    const run = await runtime.openRun({ authority: { writeScope: ['doc'] } })
    mkdirSync(join(workspace, 'src'))
    symlinkSync('src', join(workspace, 'doc'))
    const input = { path: 'doc/a', content: 'x' }
    expect((await runtime.call({ tool: 'write_file', input, run: run.id })).error?.code).toBe('forbidden')
  })

  test('that is open is not opened anew with another authority', async () => {
    box = await openTestRuntime()
    const { runtime } = box
    await runtime.openRun({ id: 'nightly', authority: { mode: 'read-only' } })
    await expect(runtime.openRun({ id: 'nightly', authority: { mode: 'auto' } })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  test('that was closed takes no more calls, nor do those below it', async () => {
    box = await openTestRuntime('mode = "accept-edits"\n')
    const { runtime } = box
    const parent = await runtime.openRun({ authority: { mode: 'read-only' } })
    const child = await runtime.openRun({ parent: parent.id })
    await runtime.closeRun(parent.id)
    for (const run of [parent.id, child.id])
      await expect(runtime.call({ ...writeA, run })).rejects.toMatchObject({ code: 'not_found' })
    await expect(runtime.openRun({ parent: parent.id })).rejects.toMatchObject({ code: 'not_found' })
    expect(existsSync(join(box.workspace, 'a.txt'))).toBe(false)
  })

  test('asks its own approver, and what that one granted for the session ends with it', async () => {
    const elsewhere: Question[] = []
    box = await openTestRuntime('', sessionApprover(elsewhere))
    const { runtime } = box
    const asked: Question[] = []
    const open = () => runtime.openRun({ id: 'nightly', approver: sessionApprover(asked) })
    const run = await open()
    const write = (path: string) =>
      runtime.call({ tool: 'write_file', input: { path, content: 'x\n' }, run: run.id })
    expect((await write('a.txt')).decision.by).toBe('user')
    expect((await write('b.txt')).decision.by).toBe('grant')
    const child = await runtime.openRun({ parent: run.id, approver: sessionApprover(elsewhere) })
    const input = { path: 'c.txt', content: 'x\n' }
    expect((await runtime.call({ tool: 'write_file', input, run: child.id })).decision.by).toBe('user')
    await runtime.closeRun('nightly')
    await open()
    expect((await write('d.txt')).decision.by).toBe('user')
    expect([asked.length, elsewhere.length]).toEqual([2, 1])
  })
})

test('what is granted to an agent for good is for that agent, in this workspace', async () => {
  box = await openTestRuntime()
  const { runtime } = box
  const approver: Approver = {
    async ask({ offers }) {
      return { kind: 'permanent', user: 'kim', grant: offers.at(-1)?.id ?? '' }
    },
  }
  const by = async (agent: string | undefined, path: string): Promise<string> => {
    const authority = { tools: ['write_file'], writeScope: ['.'], ...(agent === undefined ? {} : { agent }) }
    const run = await runtime.openRun({ authority, approver })
    const { decision } = await runtime.call({
      tool: 'write_file',
      input: { path, content: 'x\n' },
      run: run.id,
    })
    await runtime.closeRun(run.id)
    return decision.by
  }
  expect(await by('writer', 'a.txt')).toBe('user')
  expect(await by('writer', 'b.txt')).toBe('grant')
  expect(await by('other', 'c.txt')).toBe('user')
  expect(await by(undefined, 'd.txt')).toBe('user')
  // Given in a run of the person's own, it is for the workspace.
  expect(await by('third', 'e.txt')).toBe('grant')
})
