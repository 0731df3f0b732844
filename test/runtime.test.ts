import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import {
  TOOL_FILE_WRITE,
  TOOL_GIT_OPS,
  TOOL_SELF_EVAL,
  TOOL_SHELL_EXEC,
  TOOL_WEB_FETCH,
  TOOL_WEB_SEARCH,
} from '../src/index.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

let opened: TestRuntime | undefined
afterEach(() => opened?.close())

test('calls of one turn share their run, although none of them has opened it before', async () => {
  opened = await openTestRuntime('mode = "accept-edits"\n')
  const { runtime, write } = opened
  const names = ['a.txt', 'b.txt', 'c.txt']
  for (const name of names) write(name, 'old\n')
  await runtime.callAll(names.map(path => ({ tool: 'read_file', input: { path }, run: 'nightly' })))
  // Replacing a file that the run has not read is asked about, and nobody is there to answer.
  const written = await runtime.callAll(
    names.map(path => ({ tool: 'write_file', input: { path, content: 'new\n' }, run: 'nightly' })),
  )
  expect(written.map(result => result.error)).toEqual([null, null, null])
})

test('a run that could not be opened can be opened later', async () => {
  opened = await openTestRuntime()
  const { runtime, write } = opened
  write('.kogu/runs/nightly.json', 'not a run')
  await expect(runtime.openRun({ id: 'nightly' })).rejects.toThrow()
  rmSync(join(opened.workspace, '.kogu/runs/nightly.json'))
  expect(await runtime.openRun({ id: 'nightly' })).toMatchObject({ id: 'nightly' })
})

test('a run is closed although another one cannot be opened at that moment', async () => {
  opened = await openTestRuntime()
  const { runtime, write } = opened
  write('.kogu/runs/nightly.json', 'not a run')
  const { id } = await runtime.openRun({})
  const child = await runtime.openRun({ parent: id })
  const failing = runtime.openRun({ id: 'nightly' }).catch(() => 'not opened')
  await runtime.closeRun(id)
  expect(await failing).toBe('not opened')
  for (const run of [id, child.id])
    await expect(runtime.call({ tool: 'list_directory', input: {}, run })).rejects.toThrow('is not open')
})

test('a row of short calls does not keep timers waiting', async () => {
  opened = await openTestRuntime()
  const { runtime, write } = opened
  write('a.txt', 'old\n')
  const row = async (): Promise<boolean> => {
    let fired = false
    const waiting = setImmediate(() => {
      fired = true
    })
    for (let n = 0; n < 20; n += 1)
      await runtime.call({ tool: 'read_file', input: { path: 'a.txt' }, run: 'row' })
    clearImmediate(waiting)
    return fired
  }
  let time = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
  onTestFinished(() => clock.mockRestore())
  await row()
  // No time passes: the row is not interrupted.
  expect(await row()).toBe(false)
  time += 100
  expect(await row()).toBe(true)
})

test('the names of tools in other runtimes lead to ours', async () => {
  const box = await openTestRuntime()
  const names = [
    TOOL_WEB_FETCH,
    TOOL_WEB_SEARCH,
    TOOL_FILE_WRITE,
    TOOL_SHELL_EXEC,
    TOOL_GIT_OPS,
    TOOL_SELF_EVAL,
  ]
  const found = names.map(name => box.runtime.registry.candidates(name)[0]?.tool.name)
  expect(found).toEqual(['web_fetch', 'web_search', 'write_file', 'run_command', 'git_ops', 'self_eval'])
  await box.close()
})
