import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

describe('kogu call', () => {
  test('reads a file under any name of the tool and of its parameters', () => {
    box.write('a.txt', 'hello\n')
    for (const [tool, input] of [
      ['read_file', '{"path":"a.txt"}'],
      ['Read', '{"file_path":"a.txt"}'],
      ['read', '{"file_path":"a.txt","limit":5}'],
      ['READ_FILE', '{"path":"./a.txt"}'],
    ] as const) {
      const result = box.json(['call', tool, input])
      expect(result).toMatchObject({
        ok: true,
        tool: 'read_file',
        error: null,
        decision: { outcome: 'allow', by: 'rule', ref: { id: 'read', source: 'built-in' } },
        risk: 'low',
        effects: [],
      })
      expect(result.text).toContain('hello')
      expect(Object.keys(result)).toEqual(
        expect.arrayContaining([
          'ok',
          'tool',
          'text',
          'data',
          'error',
          'decision',
          'risk',
          'effects',
          'duration_ms',
          'wait_ms',
        ]),
      )
    }
  })

  test.each([
    ['an unknown tool', ['call', 'raed_file', '{}'], 2, 'unknown_tool', "Did you mean 'read_file'"],
    ['an unknown parameter', ['call', 'read_file', '{"path":"a","ofset":1}'], 2, 'invalid_input', "'offset'"],
    ['a wrong type', ['call', 'read_file', '{"path":1}'], 2, 'invalid_input', 'path'],
    ['a missing parameter', ['call', 'read_file', '{}'], 2, 'invalid_input', "'path'"],
    ['no input at all', ['call', 'read_file'], 2, 'invalid_input', "'path'"],
    [
      'a key that is given twice',
      ['call', 'read_file', '{"path":"a","path":"b"}'],
      2,
      'invalid_input',
      '"path"',
    ],
    [
      'a __proto__ key',
      ['call', 'read_file', '{"path":"a","__proto__":{"x":1}}'],
      2,
      'invalid_input',
      '__proto__',
    ],
    ['invalid JSON', ['call', 'read_file', '{path}'], 2, 'invalid_input', 'not valid JSON'],
    ['an array', ['call', 'read_file', '[]'], 2, 'invalid_input', 'object'],
    ['a missing file', ['call', 'read_file', '{"path":"nope.txt"}'], 9, 'not_found', 'nope.txt'],
    ['a NUL in a path', ['call', 'read_file', '{"path":"a\\u0000b"}'], 2, 'invalid_input', 'NUL'],
  ])('%s ends with a clear error', (_, args, code, error, words) => {
    const plain = box.run(args)
    expect(plain.code).toBe(code)
    expect(plain.stdout).toBe('')
    const { stdout, code: jsonCode } = box.run([...args, '--json'])
    expect(jsonCode).toBe(code)
    const result = JSON.parse(stdout)
    expect(result.ok).toBe(false)
    expect(result.error.code).toBe(error)
    expect(`${result.error.message} ${result.error.hint}`).toContain(words)
  })

  test('10 MB of JSON on standard input ends with a clear error', () => {
    const input = JSON.stringify({ path: 'a.txt', content: 'x'.repeat(10_000_000) })
    const { code, stderr, stdout } = box.run(['call', 'write_file', '-', '--json'], { input })
    expect(code).toBe(2)
    expect(stderr).toContain('too large')
    expect(JSON.parse(stdout).error.code).toBe('invalid_input')
  })

  test('writes only where and when it may', () => {
    const write = (path: string, ...flags: string[]) =>
      box.run(['call', 'write_file', JSON.stringify({ path, content: 'x' }), '--json', ...flags])
    // Asking mode without a terminal: a person is needed.
    expect(write('a.txt').code).toBe(7)
    expect(existsSync(join(box.workspace, 'a.txt'))).toBe(false)
    expect(write('a.txt', '--yes-once').code).toBe(0)
    expect(readFileSync(join(box.workspace, 'a.txt'), 'utf8')).toBe('x')
    expect(write('b.txt', '--mode', 'accept-edits').code).toBe(0)
    expect(write('c.txt', '--mode', 'read-only').code).toBe(6)
    expect(write('c.txt', '--mode', 'auto').code).toBe(6)
    // Hard limits hold in every mode, and --yes-once does not lift them.
    for (const path of [
      '../out.txt',
      '/etc/kogu-test',
      '.git/hooks/x',
      '.kogu/config.toml',
      'kogu.toml',
      '.bashrc',
    ]) {
      for (const flags of [['--yes-once'], ['--mode', 'accept-edits'], ['--mode', 'auto']]) {
        const { code, stdout } = write(path, ...flags)
        expect([path, code]).toEqual([path, 6])
        expect(JSON.parse(stdout)).toMatchObject({
          error: { code: 'forbidden' },
          decision: { by: 'hard-stop' },
        })
      }
    }
    expect(existsSync(join(box.home, 'out.txt'))).toBe(false)
  })

  test('a link that leads out of the workspace is judged by where it leads', () => {
    symlinkSync(box.home, join(box.workspace, 'up'))
    const { code } = box.run(['call', 'write_file', '{"path":"up/x.txt","content":"x"}', '--yes-once'])
    expect(code).toBe(6)
    expect(existsSync(join(box.home, 'x.txt'))).toBe(false)
  })

  test('asks before it reads a secret, also through a link with a harmless name', () => {
    box.write('.env', 'TOKEN=1\n')
    symlinkSync('.env', join(box.workspace, 'readme'))
    for (const path of ['.env', './.env', 'readme', join(box.workspace, '.env')]) {
      expect(box.run(['call', 'read_file', JSON.stringify({ path })]).code).toBe(7)
    }
    expect(box.run(['call', 'read_file', '{"path":".env"}', '--yes-once']).stdout).toContain('TOKEN')
  })

  test('--run lets a later call rely on what an earlier one read', () => {
    box.write('a.txt', 'one\n')
    const write = [
      'call',
      'write_file',
      '{"path":"a.txt","content":"two\\n"}',
      '--mode',
      'accept-edits',
      '--json',
    ]
    expect(box.run([...write, '--run', 'r1']).code).toBe(7)
    expect(box.run(['call', 'read_file', '{"path":"a.txt"}', '--run', 'r1']).code).toBe(0)
    expect(box.run([...write, '--run', 'r1']).code).toBe(0)
    expect(box.run(['call', 'read_file', '{"path":"a.txt"}', '--run', '../x']).code).toBe(2)
  })

  test('a Kogu inside a Kogu call never approves', () => {
    const env = { KOGU_CALL: 'call_1' }
    expect(box.run(['call', 'write_file', '{"path":"a","content":""}', '--yes-once'], { env }).code).toBe(7)
  })
})

test('an option with a value is taken once', () => {
  const { code, stderr } = box.run(['tools', 'list', '--color', 'never', '--color', 'always'])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--color is given twice') })
  expect(box.run(['--color=never', 'tools', 'list', '--color=never']).code).toBe(2)
  // Saying yes twice is still yes, and -c is meant to be repeated.
  expect(box.run(['tools', 'list', '-q', '-q', '-c', 'mode=auto', '-c', 'undo.budget=2GB']).code).toBe(0)
})

test('what Kogu keeps in a repository is not seen by git', () => {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: box.workspace, env: box.env, encoding: 'utf8' })
  const untracked = (): string[] => git('status', '--porcelain', '-uall').trim().split('\n')
  git('init', '--quiet')
  box.run(['call', 'write_file', '{"path":"a.txt","content":"x"}', '--yes-once', '--run', 'r'])
  box.run(['call', 'run_command', '{"command":"echo b > b.txt"}', '--yes-once', '--run', 'r'])
  expect(untracked()).toEqual(['?? a.txt', '?? b.txt'])
  box.run(['init'])
  const shared = ['?? .kogu/config.toml', '?? .kogu/schema.json']
  expect(untracked()).toEqual([...shared, '?? a.txt', '?? b.txt'])
  // As in a clone, which has what is committed and nothing else.
  rmSync(join(box.workspace, '.kogu/.gitignore'))
  box.run(['call', 'read_file', '{"path":"a.txt"}'])
  expect(untracked()).toEqual([...shared, '?? a.txt', '?? b.txt'])
})

test('what a project shares is seen by git, also where an older Kogu hid it', () => {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: box.workspace, env: box.env, encoding: 'utf8' })
  git('init', '--quiet')
  const shared = ['panels/p.toml', 'pipelines/p.toml', 'rehearsals/p.toml', 'scripts/s.py']
  const hidden = ['panels/p.bak', 'scripts/__pycache__/s.pyc', 'local.toml', 'undo/panels/p.toml']
  for (const name of [...shared, ...hidden]) box.write(`.kogu/${name}`, '')
  const first =
    '# Written by Kogu. Only what the project shares is committed.\n*\n!config.toml\n!schema.json\n'
  for (const before of ['', first, `# ours\n${first}`]) {
    box.write('.kogu/.gitignore', before)
    box.run(['call', 'write_file', '{"path":"a.txt","content":"x"}', '--yes-once'])
    const seen = git('status', '--porcelain', '-uall', '.kogu').trim().split('\n')
    expect(seen, before).toEqual(shared.map(name => `?? .kogu/${name}`))
  }
  const own = `${first}# none of the panels\n`
  box.write('.kogu/.gitignore', own)
  box.run(['call', 'read_file', '{"path":"a.txt"}'])
  expect(box.read('.kogu/.gitignore')).toBe(own)
})

describe('kogu call --batch', () => {
  test('answers every line in order, and a bad line does not stop the rest', () => {
    box.write('a.txt', 'hello\n')
    const input = [
      '{"tool":"read_file","input":{"path":"a.txt"}}',
      'not json',
      '',
      '{"tool":"write_file","input":{"path":"a.txt","content":"two"}}',
      '{"input":{}}',
      '{"tool":"read_file","input":{"path":"a.txt"},"cwd":"sub"}',
      '{"tool":"read_file","input":{"path":"a.txt"},"extra":1}',
    ].join('\n')
    const { code, stdout } = box.run(['call', '--batch', '--mode', 'accept-edits'], { input })
    const lines = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(code).toBe(0)
    expect(lines.map(line => line.error?.code ?? 'ok')).toEqual([
      'ok',
      'invalid_input',
      'ok',
      'invalid_input',
      'not_found',
      'invalid_input',
    ])
    expect(readFileSync(join(box.workspace, 'a.txt'), 'utf8')).toBe('two')
  })
})

describe('kogu explain', () => {
  test('says what would be decided and changes nothing', () => {
    const input = '{"path":"/etc/kogu-new","content":"x"}'
    const explained = box.json(['explain', 'Write', input])
    expect(explained).toMatchObject({
      tool: 'Write',
      canonical: 'write_file',
      decision: 'deny',
      hard: true,
      risk: 'high',
      access: [{ kind: 'file_write', path: '/etc/kogu-new' }],
      ref: { id: 'protected-path', source: 'built-in' },
    })
    expect(existsSync(join(box.workspace, '.kogu'))).toBe(false)
    expect(box.json(['explain', 'read_file', '{"path":"a"}']).decision).toBe('allow')
    expect(box.json(['explain', 'write_file', '{"path":"a","content":""}']).decision).toBe('ask')
  })

  test('gives every command line a level and its score from 0 to 10', () => {
    const lines = ['ls', 'touch a', 'vim a', 'frobnicate', 'ls && git push --force', 'rm -rf /']
    const calls = lines.map(command => JSON.stringify({ tool: 'run_command', input: { command } }))
    const { stdout } = box.run(['explain', '--batch'], {
      input: [...calls, '{"tool":"read_file","input":{"path":"a"}}'].join('\n'),
    })
    const answers = stdout.trim().split('\n')
    expect(answers.map(line => JSON.parse(line).command)).toEqual([
      { level: 'safe', score: 0 },
      { level: 'caution', score: 3 },
      { level: 'interactive', score: 4 },
      { level: 'unknown', score: 5 },
      { level: 'dangerous', score: 7 },
      { level: 'forbidden', score: 10 },
      undefined,
    ])
    expect(box.run(['explain', 'run_command', '{"command":"rm -rf /"}']).stdout).toContain(
      'level of the command line: forbidden, score 10 of 10',
    )
  })

  test('10,000 lines take a few seconds and keep their order', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) =>
      index % 1000 === 999 ? '{' : `{"tool":"read_file","input":{"path":"file-${index}.txt"}}`,
    )
    const { stdout, code } = box.run(['explain', '--batch'], { input: lines.join('\n') })
    const answers = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(code).toBe(0)
    expect(answers).toHaveLength(10_000)
    expect(answers[999].error.code).toBe('invalid_input')
    expect(answers[1234].access[0].path).toContain('file-1234.txt')
  })
})
