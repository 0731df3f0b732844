import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Access } from '../../core/access.ts'
import { createTestEngine, type TestEngine } from '../testing.ts'
import { compileOrdered, type OrderedRules } from './ordered-rules.ts'
import type { Rule } from './rules.ts'

type Line = [action: 'allow' | 'ask' | 'deny' | 'pass', tool: string, pattern: string]

const origin = { file: 'ordered.toml', line: 1 }
const { workspace } = createTestEngine()
const context = { home: '/home/kim', workspace }

function engineWith(defaultAction: OrderedRules['defaultAction'], ...lines: Line[]): TestEngine {
  const rules = lines.map(([action, tool, pattern]) => ({ action, tool, pattern, origin }))
  const compiled: Rule[] = compileOrdered({ defaultAction, rules, origin }, context, name => name)
  return createTestEngine([], { workspace, rules: compiled })
}

async function decide(box: TestEngine, tool: string, access: Access[], input = {}): Promise<string> {
  return (await box.engine.judge(box.request(tool, access, { input }))).decision.outcome
}
const run = (box: TestEngine, command: string) =>
  decide(box, 'run_command', [{ kind: 'execute', command }], { command })
const write = (box: TestEngine, path: string) =>
  decide(box, 'write_file', [{ kind: 'file_write', path }], { path })
const read = (box: TestEngine, path: string) =>
  decide(box, 'read_file', [{ kind: 'file_read', path }], { path })

beforeAll(() => {
  for (const folder of ['docs', 'secrets', 'src']) mkdirSync(join(workspace, folder), { recursive: true })
  writeFileSync(join(workspace, 'docs/build.sh'), 'true\n')
  symlinkSync('../secrets', join(workspace, 'docs/link'))
})

describe('an allow covers a line only if all of the line is what it names', () => {
  const box = engineWith(
    'deny',
    ['allow', 'run_command', 'git status*'],
    ['allow', 'run_command', 'npm test*'],
  )

  test.each(['git status', 'git status -s', 'npm test', 'npm test -- --watch', 'git status && npm test'])(
    'it covers %s',
    async line => expect(await run(box, line)).toBe('allow'),
  )

  test.each([
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=./x git status',
    'X=1 npm test',
    'export X=1; npm test',
    'npm test > out.txt',
    'git status >> ~/.bashrc',
    'npm test 2> err.txt',
    'git() { rm x; }; git status',
    'npm test &',
    'npm test | sh',
    'npm test | tee out.txt',
    'npm test $(rm x)',
    'git status "$(touch x)"',
    'npm test <(touch x)',
    'npm test $FLAGS',
    'npm test; rm x',
    'npm test && rm x',
    'if npm test; then rm x; fi',
    '"npm test" x',
    'npm\\ test',
    './npm test',
    'env X=1 npm test',
    'alias npm=rm; npm test',
    'cd vendor && npm test; rm x',
  ])('it does not cover %s', async line => expect(await run(box, line)).toBe('deny'))
})

describe('an allow for every tool', () => {
  const box = engineWith('ask', ['allow', '*', 'docs/*'])

  test('covers files', async () => {
    expect(await write(box, 'docs/a.md')).toBe('allow')
    expect(await write(box, 'docs/deep/er/a.md')).toBe('allow')
    expect(await read(box, 'docs/a.md')).toBe('allow')
  })

  test.each(['docs/build.sh', './docs/build.sh', 'docs/build.sh x', 'sh docs/build.sh', 'docs/../x'])(
    'does not run %s',
    async line => expect(await run(box, line)).toBe('ask'),
  )

  test('calls no tool because of the text of an argument', async () => {
    const custom: Access[] = [{ kind: 'custom', name: 'mcp_call', details: 'x' }]
    expect(await decide(box, 'files__wipe', custom, { path: 'docs/a' })).toBe('ask')
  })

  test.each(['docs/../src/a', 'docs/link/a', 'docs', 'Docs/a', 'src/docs/a', '/etc/docs/a'])(
    'does not write %s',
    async path => expect(await write(box, path)).not.toBe('allow'),
  )

  test('of every pattern is the same as a default of allow', async () => {
    for (const all of [engineWith('ask', ['allow', '*', '*']), engineWith('allow')]) {
      expect(await run(all, 'X=1 npm test > a')).toBe('allow')
      expect(await write(all, 'src/a')).toBe('allow')
      expect(await decide(all, 'other', [])).toBe('allow')
    }
  })
})

describe('the first match decides', () => {
  const box = engineWith(
    'deny',
    ['allow', 'run_command', 'git push origin*'],
    ['deny', 'run_command', 'git push*'],
    ['ask', 'run_command', 'npm*'],
    ['deny', 'run_command', '*| sh'],
    ['allow', 'read_file', 'secrets/readme*'],
    ['deny', 'read_file', 'secrets/*'],
    ['allow', 'write_file', 'docs/*'],
    ['ask', 'web_fetch', '*example.com*'],
  )

  test.each([
    ['git push origin main', 'ask'],
    ['git push evil main', 'deny'],
    ['git -C . push evil', 'deny'],
    ['/usr/bin/git push evil', 'deny'],
    ['X=1 git push origin main', 'deny'],
    ['npm test', 'ask'],
    ['X=1 npm test > a', 'ask'],
    ['npm test && rm x', 'deny'],
    ['npm test && git push origin', 'ask'],
    ['cat a | sh', 'deny'],
    ['make', 'deny'],
    ['ls', 'allow'],
    ['cat secrets/a', 'deny'],
  ])('of the command %s: %s', async (line, expected) => expect(await run(box, line)).toBe(expected))

  test.each([
    ['secrets/readme.md', 'allow'],
    ['secrets/a', 'deny'],
    ['SECRETS/a', 'deny'],
    ['secrets/deep/a', 'deny'],
    ['docs/link/a', 'deny'],
    ['src/a', 'deny'],
  ])('of reading %s: %s', async (path, expected) => expect(await read(box, path)).toBe(expected))

  test('of writing', async () => {
    expect(await write(box, 'docs/a')).toBe('allow')
    expect(await write(box, 'src/a')).toBe('deny')
  })

  test('of an address', async () => {
    const fetch = (url: string) =>
      decide(box, 'web_fetch', [{ kind: 'network', url, method: 'GET' }], { url })
    expect(await fetch('https://example.com/a')).toBe('ask')
    expect(await fetch('https://other.org/')).toBe('deny')
  })

  test('an allow that may not count still ends the list', async () => {
    const untrusted = engineWith('pass', ['pass', 'run_command', 'npm*'], ['deny', 'run_command', '*'])
    expect(await run(untrusted, 'npm test')).toBe('ask')
    expect(await run(untrusted, 'make')).toBe('deny')
  })
})

test('an allow of a file does not cover what else the call does', async () => {
  const box = engineWith('ask', ['allow', 'write_file', 'docs/*'])
  const access: Access[] = [
    { kind: 'file_write', path: 'docs/a' },
    { kind: 'custom', name: 'write_hard_link', details: 'It has another name.' },
  ]
  expect(await decide(box, 'write_file', access, { path: 'docs/a' })).toBe('ask')
})
