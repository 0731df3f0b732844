import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

describe('kogu undo', () => {
  test('a conflict names the later call that is in the way', () => {
    const first = box.approve('write_file', { path: 'a.txt', content: 'one\n' })
    const second = box.approve('edit_file', { path: 'a.txt', old_string: 'one', new_string: 'two' })
    const { code, stdout } = box.run(['undo', first, '--yes'])
    expect(code).toBe(1)
    expect(stdout).toContain(`changed by edit_file ${second}, undo that one first: kogu undo ${second}`)
    expect(box.json(['undo', first, '--yes']).conflicts).toMatchObject([
      { call: first, changed_by: { call: second, tool: 'edit_file' } },
    ])
    expect(box.run(['undo', second, '--yes']).code).toBe(0)
    expect(box.run(['undo', first, '--yes']).code).toBe(0)
  })

  test('a conflict names the call that changed the file at its new place, or removed the folder around it', () => {
    box.approve('write_file', { path: 'd/a.txt', content: 'one\n' })
    const moving = box.approve('move_file', { source: 'd/a.txt', destination: 'd/b.txt' })
    const editing = box.approve('edit_file', { path: 'd/b.txt', old_string: 'one', new_string: 'two' })
    expect(box.json(['undo', moving, '--dry-run']).conflicts).toContainEqual(
      expect.objectContaining({ changed_by: { call: editing, tool: 'edit_file' } }),
    )
    const removing = box.approve('delete_file', { path: 'd', recursive: true })
    expect(box.json(['undo', editing, '--dry-run']).conflicts).toMatchObject([
      { changed_by: { call: removing, tool: 'delete_file' } },
    ])
  })

  test('an undo that was killed is finished before an earlier call is taken back', () => {
    box.approve('write_file', { path: 'earlier.txt', content: 'x' })
    for (const name of ['a', 'b', 'c']) box.write(`d/${name}`, name)
    box.approve('delete_file', { path: 'd', recursive: true })
    expect(box.run(['undo', '--yes']).code).toBe(0)
    // As a kill leaves it: the folder and its first file are back, with the mode that new folders have.
    const store = join(box.workspace, '.kogu/undo')
    const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).map(name => join(store, name))
    const newest = files.find(
      path => path.endsWith('.jsonl') && readFileSync(path, 'utf8').includes('"undoes"'),
    )
    const text = readFileSync(newest ?? '', 'utf8')
    writeFileSync(newest ?? '', text.replace(/\{"done":"all"\}\n$/, '{"done":[0,1]}\n'))
    for (const name of ['b', 'c']) rmSync(join(box.workspace, 'd', name))
    const { code, stdout, stderr } = box.run(['undo', '--yes'])
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('The last undo was interrupted. This finishes it.'),
    ])
    expect(stdout).toContain('delete_file')
    expect(['a', 'b', 'c'].map(name => box.read(`d/${name}`))).toEqual(['a', 'b', 'c'])
    expect(box.read('earlier.txt')).toBe('x')
    expect(box.run(['undo', '--yes']).stdout).toContain('earlier.txt')
  })

  test('a conflict that no call has caused names none', () => {
    const only = box.approve('write_file', { path: 'a.txt', content: 'one\n' })
    box.write('a.txt', 'by hand\n')
    expect(box.run(['undo', only, '--yes']).stdout).toContain('its content was changed since')
    expect(box.json(['undo', only, '--yes']).conflicts).toMatchObject([{ changed_by: null }])
  })

  test('of two calls that both cannot be undone, neither is the way out of the other', () => {
    box.approve('write_file', { path: 'a.txt', content: 'one\n' })
    const second = box.approve('edit_file', { path: 'a.txt', old_string: 'one', new_string: 'two' })
    box.write('a.txt', 'by hand\n')
    const { stdout } = box.run(['undo', '--run', 'work', '--yes'])
    expect(stdout).toContain(`changed by edit_file ${second}, which cannot be undone either`)
  })

  test('with --skip-conflicts a call is partly undone, and can be undone again for the rest', () => {
    box.write('src/a.txt', 'a\n')
    box.write('src/b.txt', 'b\n')
    const command = { command: 'echo more >> src/a.txt; echo more >> src/b.txt' }
    const args = ['call', 'run_command', JSON.stringify(command), '--yes-once', '--run', 'work']
    const { call: id, error } = box.json(args)
    expect(error).toBeNull()
    box.write('src/b.txt', 'by hand\n')
    const skipped = box.run(['undo', id, '--yes', '--skip-conflicts'])
    expect(skipped).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`undo run_command ${id} in part`),
    })
    expect([box.read('src/a.txt'), box.read('src/b.txt')]).toEqual(['a\n', 'by hand\n'])
    expect(box.run(['changes', id]).stdout).toContain('(partly undone)')
    expect(box.json(['changes', id])).toMatchObject([{ undone: false, partly_undone: true }])

    box.write('src/b.txt', 'b\nmore\n')
    expect(box.run(['undo', '--run', 'work', '--yes']).code).toBe(0)
    expect([box.read('src/a.txt'), box.read('src/b.txt')]).toEqual(['a\n', 'b\n'])
    expect(box.json(['changes', id])).toMatchObject([{ undone: true, partly_undone: false }])
  })

  test('with --skip-conflicts and nothing but conflicts, nothing is said to be undone', () => {
    const only = box.approve('write_file', { path: 'a.txt', content: 'one\n' })
    box.write('a.txt', 'by hand\n')
    const { code, stdout, stderr } = box.run(['undo', only, '--yes', '--skip-conflicts'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Nothing was changed') })
    expect(stdout).not.toContain('undo write_file')
    expect(box.json(['changes', only])).toMatchObject([{ undone: false, partly_undone: false }])
  })

  test('work of a later call is a conflict that names it, although the bytes are the same', () => {
    const [first, , third] = ['A\n', 'B\n', 'A\n'].map(content =>
      box.approve('write_file', { path: 'i.txt', content }),
    )
    const { code, stderr } = box.run(['undo', `${first}`, '--yes'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`i.txt: changed by write_file ${third}, undo that one first`),
    })
    expect(box.read('i.txt')).toBe('A\n')
    expect(box.run(['undo', '--last', '3', '--yes']).code).toBe(0)
    expect(readdirSync(box.workspace)).toEqual(['.kogu'])
  })

  test('shows 200 lines of a difference at most, and no secret', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    box.write('a.txt', `token = ${token}\n${'old\n'.repeat(500)}`)
    box.approve('delete_file', { path: 'a.txt' })
    const { stdout } = box.run(['undo', '--dry-run'])
    expect(stdout).toContain('… 305 more lines')
    expect(stdout.split('\n').length).toBeLessThan(210)
    expect(stdout).not.toContain(token)
    expect(box.run(['undo', '--yes']).code).toBe(0)
    expect(box.read('a.txt')).toContain(token)
  })

  test('the last line says what is in the way, also when nobody changed anything since', () => {
    box.write('../config/kogu/config.toml', '[undo]\nmax_file_size = "1KB"\n')
    box.write('a.txt', 'a'.repeat(5000))
    const command = JSON.stringify({ command: 'echo b > a.txt' })
    expect(box.json(['call', 'run_command', command, '--yes-once']).error).toBeNull()
    expect(box.run(['undo', '--yes']).stderr).toContain('its old content was more than undo could keep')
  })

  test('calls and runs are found by the start of their ids', () => {
    const id = box.approve('write_file', { path: 'a.txt', content: 'one\n' }, 'nightly-1')
    expect(box.json(['changes', id.slice(0, 12)])).toMatchObject([{ call: id }])
    expect(box.json(['changes', '--run', 'night'])).toMatchObject([{ call: id }])
    const events: { type: string; call: string }[] = box.json(['audit', 'show', id.slice(0, 12)])
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['call-started', 'call-finished']))
    expect(events.every(({ call }) => call === id)).toBe(true)
    expect(box.json(['audit', 'list', '--run', 'night'])[0]).toMatchObject({ call: id })
    expect(box.json(['undo', id.slice(0, 12), '--dry-run']).calls).toMatchObject([{ call: id }])
    expect(box.json(['undo', '--run', 'night', '--dry-run']).calls).toMatchObject([{ call: id }])
    expect(box.run(['undo', 'call_none', '--yes']).stderr).toContain('No changes are recorded')
  })

  test('the start of several ids is refused with all of them', () => {
    const ids = ['a.txt', 'b.txt'].map(path => box.approve('write_file', { path, content: 'x\n' }))
    const { code, stderr } = box.run(['undo', 'call_', '--yes'])
    expect(code).toBe(2)
    for (const id of ids) expect(stderr).toContain(id)
    expect(box.read('a.txt')).toBe('x\n')
  })
})
