import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

// What a new user tries first, and where they once stumbled.

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

const call = (tool: string, input: object, ...more: string[]) =>
  box.run(['call', tool, JSON.stringify(input), ...more])

test('a line is counted from 1 under the name of Claude Code, from 0 under the others', () => {
  box.write('a.txt', 'one\ntwo\nthree\n')
  expect(call('Read', { file_path: 'a.txt', offset: 2, limit: 1 }).stdout).toContain('2\ttwo')
  expect(call('read', { filePath: 'a.txt', offset: 2, limit: 1 }).stdout).toContain('3\tthree')
  expect(call('Read', { file_path: 'a.txt', offset: -1 }).stdout).toContain('3\tthree')
})

test('the names of other agents work', () => {
  box.write('a.txt', 'one\n')
  const replaced = call('replace', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }, '--yes-once')
  expect(replaced.code).toBe(0)
  expect(call('search_file_content', { pattern: 'two' }).stdout).toContain('a.txt')
  expect(call('run_shell_command', { command: 'cat a.txt', directory: '.' }).stdout).toContain('two')
  expect(call('BashOutput', { bash_id: 'cmd_unknown' }).stderr).not.toContain('Unknown parameter')
})

test.each(['echo "unterminated', 'ls |', '( ls', 'echo $(ls'])(
  '%s is a syntax error, not a question',
  line => {
    const { code, stderr } = call('run_command', { command: line })
    expect(code).toBe(2)
    expect(stderr).toContain('Syntax error in the command line')
  },
)

test('what is started with & names the way to keep it running', () => {
  expect(call('run_command', { command: 'sleep 0.01 &' }, '--yes-once').stdout).toContain(
    'pass background: true',
  )
  expect(call('run_command', { command: 'true && echo x' }, '--yes-once').stdout).not.toContain('background')
})

test('output that is cut names how to read all of it', () => {
  const { stdout } = call('run_command', { command: 'seq 1 100000' }, '--yes-once')
  const id = /command_output with id "(call_[^"]+)"/.exec(stdout)?.[1]
  expect(call('command_output', { id, from: 50_000, count: 1 }).stdout).toContain('50000')
})

test('an export never overwrites a file, and has its name only when it is whole', () => {
  call('read_file', { path: 'missing' })
  const broken = join(box.workspace, '.kogu/audit/20990101T000000000Z-00000000.jsonl')
  mkdirSync(broken)
  expect(box.run(['audit', 'export', '--output', 'log.jsonl']).code).not.toBe(0)
  expect(existsSync(join(box.workspace, 'log.jsonl'))).toBe(false)
  rmdirSync(broken)
  rmSync(join(box.workspace, 'log.jsonl.part'))
  expect(box.run(['audit', 'export', '--output', 'log.jsonl']).code).toBe(0)
  const again = box.run(['audit', 'export', '--output', 'log.jsonl'])
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining('The file already exists: log.jsonl'),
  ])
})

test('a dry run judges every call in the mode that is named', () => {
  expect(call('write_file', { path: 'a.txt', content: 'x' }, '--yes-once').code).toBe(0)
  box.write('none.toml', '')
  const dryRun = (...more: string[]) => box.json(['permissions', 'dry-run', '--file', 'none.toml', ...more])
  expect(dryRun().transitions).toEqual({})
  expect(dryRun('--mode', 'accept-edits').transitions).toEqual({ 'ask->allow': 1 })
})

test('the package holds no path of the machine that built it, and nothing of an earlier build', () => {
  const root = join(import.meta.dirname, '..')
  const packed = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  })
  const [{ files }] = JSON.parse(packed.stdout)
  const paths = files
    .map((file: { path: string }) => file.path)
    .filter((path: string) => path.startsWith('dist/'))
  expect(paths).toContain('dist/kogu.js')
  const texts = paths.map((path: string) => readFileSync(join(root, path), 'latin1'))
  const telling = paths.filter(
    (_: string, index: number) => texts[index].includes(root) || texts[index].includes(process.execPath),
  )
  expect(telling).toEqual([])
  // A chunk that nothing loads was left by another build.
  const chunks = paths.filter((path: string) => path.startsWith('dist/chunks/') && path.endsWith('.js'))
  const all = texts.join('\n')
  expect(chunks.filter((path: string) => !all.includes(basename(path)))).toEqual([])
})
