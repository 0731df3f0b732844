import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

describe('what kogu undo says', () => {
  test('a conflict says every way on: the folder to make, and the call before', () => {
    box.write('p q/a.txt', 'a\n')
    const first = box.approve('write_file', { path: 'b.txt', content: 'b\n' })
    box.approve('delete_file', { path: 'p q/a.txt' })
    rmSync(join(box.workspace, 'p q'), { recursive: true })
    const { code, stderr } = box.run(['undo', '--yes'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `Nothing was changed. p q/a.txt: its folder no longer exists; make it (mkdir -p 'p q') and repeat. To take back the call before instead: kogu undo ${first}\n`,
    })
    const both = box.run(['undo', '--last', '2', '--yes'])
    expect(both.stderr).toContain('--skip-conflicts takes back the rest.')
    expect(box.run(['undo', '--last', '2', '--skip-conflicts', '--yes']).code).toBe(0)
    expect(box.json(['changes'])).toMatchObject([
      { tool: 'undo', undoes: [first] },
      { tool: 'delete_file', undone: false, partly_undone: false },
      { tool: 'write_file', undone: true },
    ])
    expect(box.run(['undo', '--last', '2', '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Only 1 of 2: no other recorded call can be undone'),
    })
    mkdirSync(join(box.workspace, 'p q'))
    expect(box.run(['undo', '--yes']).code).toBe(0)
    expect(box.read('p q/a.txt')).toBe('a\n')
  })

  test('the part that an undo left is told when there is nothing else', () => {
    box.write('a.txt', 'a\n')
    const command = JSON.stringify({ command: 'echo more >> a.txt; echo b > b.txt' })
    const { call: id } = box.json(['call', 'run_command', command, '--yes-once'])
    box.write('b.txt', 'by hand\n')
    expect(box.run(['undo', '--skip-conflicts', '--yes']).code).toBe(0)
    expect(box.run(['undo'])).toMatchObject({
      stdout: 'Nothing to undo.\n',
      stderr: `An undo left a part of run_command ${id}: kogu undo ${id}\n`,
    })
  })

  test('a call that was taken back by hand is told, with the call before', () => {
    const first = box.approve('write_file', { path: 'a.txt', content: 'a\n' })
    const second = box.approve('write_file', { path: 'b.txt', content: 'b\n' })
    rmSync(join(box.workspace, 'b.txt'))
    expect(box.run(['undo', '--yes'])).toEqual({
      code: 0,
      stdout: 'Nothing to undo.\n',
      stderr: `Everything is as it was before write_file ${second}. To take back the call before: kogu undo ${first}\n`,
    })
  })

  test('a run that nobody knows is an error, one that changed nothing is not', () => {
    box.write('a.txt', 'a\n')
    expect(box.run(['call', 'read_file', '{"path":"a.txt"}', '--run', 'reading']).code).toBe(0)
    expect(box.run(['undo', '--run', 'read'])).toMatchObject({ code: 0, stdout: 'Nothing to undo.\n' })
    expect(box.run(['changes', '--run', 'read']).code).toBe(0)
    for (const command of ['undo', 'changes']) {
      expect(box.run([command, '--run', 'nope'])).toMatchObject({
        code: 9,
        stderr: expect.stringContaining("No run 'nope' is recorded."),
      })
    }
  })

  test('paths are written as seen from where the person stands', () => {
    box.write('sub/inner.txt', 'x\n')
    box.approve('write_file', { path: 'top.txt', content: 'one\n' })
    const options = { cwd: join(box.workspace, 'sub') }
    const { stdout } = box.run(['undo', '--dry-run'], options)
    expect(stdout).toContain('  delete  ../top.txt\n    --- a/../top.txt\n')
    expect(box.run(['changes'], options).stdout).toContain('  created ../top.txt\n    --- a/../top.txt\n')
    const named = box.run(['undo', '--dry-run', '--cwd', box.workspace], options)
    expect(named.stdout).toBe(stdout)
    box.write('top.txt', 'by hand\n')
    expect(box.run(['undo'], options).stdout).toBe('  conflict ../top.txt: its content was changed since\n')
  })

  test('a folder that was moved is one line, and thousands of paths are not all shown', () => {
    for (let n = 0; n < 300; n += 1) box.write(`many/${n}.txt`, `${n}\n`)
    box.approve('move_file', { from: 'many', to: 'many2' })
    expect(box.run(['changes']).stdout).toMatch(
      /^move_file .*\n {2}moved {3}many to many2 {2}\(300 files\)\n$/,
    )
    expect(box.run(['undo', '--dry-run']).stdout).toMatch(
      /^undo move_file .*\n {2}move {4}many2 back to many {2}\(300 files\)\n$/,
    )
    box.approve('delete_file', { path: 'many2', recursive: true })
    const lines = box.run(['undo', '--dry-run']).stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThan(300)
    expect(lines.at(-1)).toMatch(/^ {2}and 2\d\d more \(all of it: --json\)$/)
    expect(box.json(['undo', '--dry-run']).steps).toHaveLength(301)
    expect(box.run(['changes']).stdout).toContain('more (all of it: --json)')
  })
})

describe('a workspace whose state is not complete', () => {
  test('undo and changes leave nothing behind in a folder where no call was ever made', () => {
    box.write('f.txt', 'hi\n')
    expect(box.run(['undo', '--dry-run'])).toMatchObject({ code: 0, stdout: 'Nothing to undo.\n' })
    expect(box.run(['undo', 'call_none', '--yes']).code).toBe(9)
    expect(box.run(['changes']).code).toBe(0)
    expect(readdirSync(box.workspace)).toEqual(['f.txt'])
    expect(box.run(['call', 'read_file', '{"path":"f.txt"}']).code).toBe(0)
  })

  test('no folder of the state is needed for the next call: what is missing is made again', () => {
    box.approve('write_file', { path: 'a.txt', content: 'one\n' })
    const state = join(box.workspace, '.kogu')
    for (const name of readdirSync(state)) {
      rmSync(join(state, name), { recursive: true })
      box.approve('write_file', { path: `${name}.txt`, content: 'two\n' })
      expect(box.json(['undo', '--dry-run']).steps).toHaveLength(1)
    }
  })
})
