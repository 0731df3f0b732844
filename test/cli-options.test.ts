import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

// Options that every command takes.

let box: Sandboxed
beforeAll(() => {
  box = createSandboxed()
  box.write('a.txt', 'one\n')
})
afterAll(() => box.remove())

const READ = ['call', 'read_file', '{"path":"a.txt"}']

test('options may stand before the command, with their values', () => {
  const workspace = box.workspace
  for (const before of [
    ['--cwd', workspace],
    ['-c', 'mode=read-only', '--json'],
    ['-q', `--cwd=${workspace}`],
  ]) {
    expect(box.run([...before, ...READ], { cwd: before.includes('-c') ? workspace : '/' }).code).toBe(0)
  }
  expect(box.run(['--json', 'cal', 'x']).stdout).toContain("Unknown command 'cal'")
  // What stands behind -- is no option.
  const { stderr } = box.run(['--jsn', 'call', '--', 'read_file'])
  expect(stderr).toContain("Unknown option '--jsn'")
})

test('--timeout stops what runs and exits 8', () => {
  const sleep = ['call', 'run_command', '{"command":"sleep 60"}', '--yes-once', '--json']
  const { code, stdout } = box.run([...sleep, '--timeout', '300ms'])
  expect([code, JSON.parse(stdout).error.code]).toEqual([8, 'cancelled'])
  expect(box.run([...READ, '--timeout', '1m']).code).toBe(0)
  expect(box.run([...READ, '--timeout', 'soon']).code).toBe(2)
})

test('--verbose says on standard error what was loaded, and why something failed', () => {
  box.configure('mode = "ask"\n')
  const { stdout, stderr } = box.run([...READ, '-v'])
  expect(stdout).toBe(box.run(READ).stdout)
  expect(stderr).toContain(`workspace ${box.workspace}, mode ask`)
  expect(stderr).toMatch(/config user .*config\.toml: loaded/)
  expect(box.run(READ).stderr).toBe('')
})

test('--lang is a setting of this command only, and one that exists', () => {
  expect(box.json(['config', 'get', 'language', '--lang', 'ja'])).toMatchObject({ value: 'ja' })
  expect(box.json(['config', 'get', 'language'])).toMatchObject({ value: 'auto' })
  expect(box.run([...READ, '--lang', 'de'])).toMatchObject({ code: 2 })
})
