import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Access } from '../core/access.ts'
import type { RememberedAnswer } from '../core/approval.ts'
import type { CommandPattern } from '../core/decision.ts'
import { describeGrant } from './grants.ts'
import { createTestEngine, type TestEngine } from './testing.ts'

const run = (command: string): Access => ({ kind: 'execute', command })

function requestOf(engine: TestEngine, command: string, agent?: string) {
  const authority = agent === undefined ? {} : { authority: { agent } }
  return engine.request('run_command', run(command), { input: { command }, ...authority })
}

async function outcome(engine: TestEngine, command: string, agent?: string): Promise<string> {
  return (await engine.engine.judge(requestOf(engine, command, agent))).decision.outcome
}

/** Answers the question about a command line with the widest of its offers. */
async function remember(
  engine: TestEngine,
  command: string,
  answer: Partial<RememberedAnswer> = {},
  agent?: string,
): Promise<void> {
  const request = requestOf(engine, command, agent)
  const judgement = await engine.engine.judge(request)
  const grant = judgement.preview?.grants.at(-1)?.id ?? ''
  await engine.engine.settle(
    request,
    judgement,
    { kind: 'permanent', user: 'kim', grant, ...answer },
    'call_1',
  )
}

const words = (...list: (string | null)[]): CommandPattern => ({ words: list, more: false })

describe('words that a person chooses', () => {
  test('an exact word is that word, any word is one word, and a word that was left out is none', async () => {
    for (const [pattern, allowed] of [
      [words('npm', 'test', 'a', 'b'), ['npm test a b']],
      [words('npm', 'test', 'a', null), ['npm test a b', 'npm test a x']],
      [
        { words: ['npm', 'test', 'a'], more: true },
        ['npm test a', 'npm test a b', 'npm test a x', 'npm test a b c'],
      ],
      [
        { words: ['npm', 'test'], more: true },
        ['npm test', 'npm test a', 'npm test a b', 'npm test a x', 'npm test x b', 'npm test a b c'],
      ],
    ] as const) {
      const engine = createTestEngine()
      await remember(engine, 'npm test a b', { pattern })
      for (const line of [
        'npm test',
        'npm test a',
        'npm test a b',
        'npm test a x',
        'npm test x b',
        'npm test a b c',
      ])
        expect([line, await outcome(engine, line)]).toEqual([
          line,
          allowed.some(each => each === line) ? 'allow' : 'ask',
        ])
      for (const line of ['npm install a b', 'npm test a b --x', 'npm test a b && y', 'npm test a b > ../x'])
        expect([line, await outcome(engine, line)]).not.toEqual([line, 'allow'])
    }
  })

  test('options stay those of the line that was asked about, wherever they stand', async () => {
    const engine = createTestEngine()
    await remember(engine, 'npm test --silent a', { pattern: words('npm', 'test', null) })
    expect(await outcome(engine, 'npm test b --silent')).toBe('allow')
    expect(await outcome(engine, 'npm test b')).toBe('allow')
    expect(await outcome(engine, 'npm test b --prefix=x')).toBe('ask')
    expect(await outcome(engine, 'npm --silent test b')).toBe('ask')
  })

  test.each([
    ['npm test a', words(null, 'test', 'a')],
    ['npm test a', words('npm', null, 'a')],
    ['npm test a', words('npm')],
    ['npm test a', words('node', 'test', 'a')],
    ['npm test a', words('npm', 'test', 'b')],
    ['npm test a', words('npm', 'test')],
    ['npm run build a', words('npm', 'run', null, 'a')],
    ['python3 x.py', words('python3', null)],
    ['node -e 1', words('node', '-e', null)],
    ['bash -c ls', words('bash', null, null)],
    ['npx x', words('npx', null)],
    ['sudo ls', words('sudo', null)],
    ['curl https://example.com', words('curl', null)],
    ['env A=1 npm test', words('env', null, 'npm', 'test')],
    ['xargs rm', words('xargs', null)],
  ])('a forged choice for %s is refused and nothing is remembered', async (line, pattern) => {
    const engine = createTestEngine()
    await expect(remember(engine, line, { pattern })).rejects.toThrow()
    await expect(
      remember(engine, line, { pattern: { ...pattern, words: [null], more: true } }),
    ).rejects.toThrow()
    expect(engine.grants).toEqual([])
  })

  test.each([
    ['npm test a', ['says-what', 'says-what', null]],
    ['npm test --silent a', ['says-what', 'says-what', 'option', null]],
    ['touch a.txt', ['says-what', null]],
    ['python3 x.py', ['interpreter', 'interpreter']],
    ['bash -c ls', ['interpreter', 'interpreter', 'interpreter']],
    ['npx x', ['package-runner', 'package-runner']],
    ['curl https://example.com', ['fetcher', 'fetcher']],
    ['./a.sh b', ['whole-line', 'whole-line']],
  ])('%s says which words cannot be anything else, and why', async (line, locks) => {
    const engine = createTestEngine()
    const { preview } = await engine.engine.judge(requestOf(engine, line))
    expect(preview?.grants.at(-1)?.pattern?.map(({ lock }) => lock)).toEqual(locks)
  })
})

describe('where an answer holds', () => {
  test('for a panel: in its runs, and neither in those of another panel nor in those without one', async () => {
    const engine = createTestEngine()
    await remember(engine, 'npm test', { scope: 'panel' }, 'pricing')
    expect(await outcome(engine, 'npm test', 'pricing')).toBe('allow')
    expect(await outcome(engine, 'npm test', 'other')).toBe('ask')
    expect(await outcome(engine, 'npm test')).toBe('ask')
    const elsewhere = createTestEngine()
    elsewhere.grants.push(...engine.grants)
    expect(await outcome(elsewhere, 'npm test', 'pricing')).toBe('ask')
  })

  test('for a panel that did not ask: nowhere', async () => {
    const engine = createTestEngine()
    await expect(remember(engine, 'npm test', { scope: 'panel' })).rejects.toThrow('No panel asked')
    expect(engine.grants).toEqual([])
  })

  test('for the project: in every run of this workspace and of no other', async () => {
    const engine = createTestEngine()
    await remember(engine, 'npm test', { scope: 'project' }, 'pricing')
    for (const agent of ['pricing', 'other', undefined])
      expect(await outcome(engine, 'npm test', agent)).toBe('allow')
    const elsewhere = createTestEngine()
    elsewhere.grants.push(...engine.grants)
    expect(await outcome(elsewhere, 'npm test')).toBe('ask')
    expect(engine.grants).toMatchObject([{ call: 'call_1', user: 'kim' }])
  })

  test('everywhere: at the same place of other workspaces, on their own files', async () => {
    const engine = createTestEngine()
    await remember(engine, 'git fetch', { scope: 'everywhere' }, 'pricing')
    const elsewhere = createTestEngine()
    elsewhere.grants.push(...engine.grants)
    expect(await outcome(elsewhere, 'git fetch a')).toBe('allow')
    expect(await outcome(elsewhere, `git fetch ${engine.workspace}/a`)).toBe('ask')
    expect(await outcome(elsewhere, 'git pull')).toBe('ask')
  })

  test('everywhere never lifts a rule that asks or denies, nor a mode or default that refuses', async () => {
    const engine = createTestEngine()
    await remember(engine, 'git fetch', { scope: 'everywhere' })
    const rule = { tool: ['run_command'], command: ['git', 'fetch'] }
    for (const [other, expected] of [
      [createTestEngine([{ ...rule, decision: 'ask' }]), 'ask'],
      [createTestEngine([{ ...rule, decision: 'deny' }]), 'deny'],
      [createTestEngine([{ decision: 'ask', tool: ['run_command'], command: ['git', '**'] }]), 'ask'],
      [createTestEngine([], { mode: 'read-only' }), 'deny'],
      [createTestEngine([], { mode: 'auto' }), 'deny'],
      [createTestEngine([], { fallback: 'deny' }), 'deny'],
    ] as const) {
      other.grants.push(...engine.grants)
      expect(await outcome(other, 'git fetch')).toBe(expected)
    }
  })

  test('everywhere is not offered for what a rule asks about, for this very call, nor for what files start', async () => {
    const asking = createTestEngine([{ decision: 'ask', tool: ['run_command'], command: ['git', 'fetch'] }])
    await expect(remember(asking, 'git fetch', { scope: 'everywhere' })).rejects.toThrow('other workspaces')
    const exact = createTestEngine()
    await expect(remember(exact, 'python3 x.py', { scope: 'everywhere' })).rejects.toThrow('other workspaces')
    await expect(remember(exact, 'npm test', { scope: 'everywhere' })).rejects.toThrow('other workspaces')
    expect([asking.grants, exact.grants]).toEqual([[], []])
  })
})

describe('files that a line starts', () => {
  const write = (engine: TestEngine, name: string, text: string): void => {
    mkdirSync(dirname(join(engine.root, name)), { recursive: true })
    writeFileSync(join(engine.root, name), text)
  }
  const FILES = ['s.sh', 'x.py', 'x.js', 'Makefile', 'package.json', 'pkg/mod.py', 'sub/Makefile', 'x.sql']
  const prepared = (): TestEngine => {
    const engine = createTestEngine()
    for (const name of FILES) write(engine, name, 'one')
    write(engine, 'package.json', '{ "main": "x.js", "scripts": { "deploy": "node bin/deploy.mjs" } }')
    write(engine, 'bin/deploy.mjs', 'one')
    write(engine, 'outer/Makefile', 'all:\n\tbash run.sh\n')
    write(engine, 'outer/source.sh', '. outer/run.sh')
    write(engine, 'outer/run.sh', 'one')
    write(engine, 'outer/main.py', 'import part')
    return engine
  }

  test.each([
    ['bash s.sh', 's.sh'],
    ['./s.sh', 's.sh'],
    ['. ./s.sh', 's.sh'],
    ['sh < s.sh', 's.sh'],
    ['cat s.sh | bash', 's.sh'],
    ['bash -c "./s.sh"', 's.sh'],
    ['bash --rcfile=s.sh x', 's.sh'],
    ['cd sub && ../s.sh', 's.sh'],
    ['find . -exec ./s.sh {} +', 's.sh'],
    ['timeout 5 python3 x.py', 'x.py'],
    ['env A=b python3 x.py', 'x.py'],
    ['python3 -m pkg.mod', 'pkg/mod.py'],
    ['node x', 'x.js'],
    ['node -r./x.js -e 1', 'x.js'],
    ['make deploy', 'Makefile'],
    ['make deploy', 'GNUmakefile'],
    ['make -C sub deploy', 'sub/Makefile'],
    ['make -f s.sh', 's.sh'],
    ['npm run x', 'package.json'],
    ['psql -f x.sql', 'x.sql'],
    ['acme --script=s.sh', 's.sh'],
    ['python3 -mpkg.mod', 'pkg/mod.py'],
    ['ruby -r./x -e 1', 'x.rb'],
    ['ssh h.example.org < s.sh', 's.sh'],
    ["ssh h.example.org 'bash -s' < s.sh", 's.sh'],
    // What publishes runs the code of the project first.
    ['./s.sh publish', 's.sh'],
    ['./gradlew publish', 'build.gradle'],
    ['npm publish', '.npmrc'],
    ['tar -I ./s.sh -xf a', 's.sh'],
    ['make -kfs.sh', 's.sh'],
    // What the started file starts.
    ['npm run deploy', 'bin/deploy.mjs'],
    ['make -C outer', 'outer/run.sh'],
    ['bash outer/source.sh', 'outer/run.sh'],
    ['python3 outer/main.py', 'outer/part.py'],
  ])('a yes for ever to %j is none once %j has changed', async (line, file) => {
    const engine = prepared()
    const request = requestOf(engine, line)
    const judgement = await engine.engine.judge(request)
    const grant = judgement.preview?.grants[0]?.id ?? ''
    for (const kind of ['permanent', 'session'] as const)
      await engine.engine.settle(request, judgement, { kind, user: 'kim', grant })
    write(engine, 'unrelated', 'two')
    expect(await outcome(engine, line)).toBe('allow')
    write(engine, file, 'two')
    expect(await outcome(engine, line)).toBe('ask')
  })

  test.each(['tox', 'terraform apply', 'pip install .', 'act'])(
    'a yes to %j, which names no file, is one to what lies where it starts',
    async line => {
      const engine = prepared()
      const request = requestOf(engine, line)
      const judgement = await engine.engine.judge(request)
      const grant = judgement.preview?.grants[0]?.id ?? ''
      await engine.engine.settle(request, judgement, { kind: 'permanent', user: 'kim', grant })
      write(engine, 'README.md', 'two')
      write(engine, 'pkg/mod.py', 'two')
      expect(await outcome(engine, line)).toBe('allow')
      write(engine, 'tox.ini', 'two')
      expect(await outcome(engine, line)).toBe('ask')
    },
  )

  test('a wider yes goes by what its program takes orders from, and a no stays one', async () => {
    const engine = prepared()
    await remember(engine, 'npm run x')
    expect(await outcome(engine, 'npm run x fast')).toBe('allow')
    write(engine, 'package.json', 'two')
    expect(await outcome(engine, 'npm run x')).toBe('ask')
    const request = requestOf(engine, 'npm run x')
    await engine.engine.settle(request, await engine.engine.judge(request), {
      kind: 'deny-permanently',
      user: 'kim',
    })
    write(engine, 'package.json', 'three')
    expect(await outcome(engine, 'npm run x')).toBe('deny')
  })

  test.each([
    'ls | xargs ./s.sh',
    'bash "$(cat name)"',
    'bash /var/tmp/s.sh',
    'cat /var/tmp/s.sh | bash',
    'node *.js',
    'BASH_ENV=s.sh bash -c ls',
    'MAKEFILES=s.sh make',
    'NODE_OPTIONS=--require=./x.js node -e 1',
    'GIT_SSH_COMMAND=./s.sh git fetch',
    'PATH=.:$PATH s.sh',
    'PATH=$PWD; s.sh',
    'export PATH=$PWD; s.sh',
    'hash -p ./s.sh ls; ls',
  ])('nothing is offered where they cannot be known: %s', async line => {
    const engine = prepared()
    expect((await engine.engine.judge(requestOf(engine, line))).preview?.grants).toEqual([])
  })

  test('code in a word is no file, however long it is', async () => {
    const engine = prepared()
    for (const line of [`node -e '${'x = 1; '.repeat(1000)}'`, 'python3 -c "print(1)"']) {
      await remember(engine, line)
      expect([line.length, await outcome(engine, line)]).toEqual([line.length, 'allow'])
    }
  })

  test('data is not started: a yes outlives changes of what is added, copied or packed', async () => {
    for (const line of [
      'git add x.js',
      'cp x.js y.js',
      'tar cf a.tar x.js',
      'rm x.js',
      'curl -d @x.js https://a.example',
      'npm run other',
      'docker ps',
    ]) {
      const engine = prepared()
      await remember(engine, line)
      write(engine, 'x.js', 'two')
      expect([line, await outcome(engine, line)]).toEqual([line, 'allow'])
    }
  })
})

test('what a tool of others names is not remembered everywhere: it can be another thing in another project', async () => {
  const engine = createTestEngine()
  const request = engine.request('notes__add', { kind: 'custom', name: 'mcp', details: 'notes: add' })
  const judgement = await engine.engine.judge(request)
  const grant = judgement.preview?.grants.at(-1)?.id ?? ''
  const everywhere = { kind: 'permanent', user: 'kim', grant, scope: 'everywhere' } as const
  await expect(engine.engine.settle(request, judgement, everywhere)).rejects.toThrow('other workspaces')
  expect(engine.grants).toEqual([])
})

test('an answer for a run can be shorter than the run, and never longer than a day', async () => {
  const engine = createTestEngine()
  const named = {
    ...requestOf(engine, 'npm test'),
    run: { ...requestOf(engine, 'x').run, isNamed: true as const },
  }
  const judgement = await engine.engine.judge(named)
  const grant = judgement.preview?.grants[0]?.id ?? ''
  for (const hours of [1, 100])
    await engine.engine.settle(named, judgement, { kind: 'session', user: 'kim', grant, hours })
  const lasting = engine.grants.map(
    ({ createdAt, expiresAt }) => Date.parse(expiresAt ?? '') - Date.parse(createdAt),
  )
  expect(lasting).toEqual([3_600_000, 24 * 3_600_000])
})

test('an offer that covers the whole workspace says so plainly', () => {
  const write = (root: string): string =>
    describeGrant({ kind: 'path', access: 'file_write', root }, '/home/me/shop')
  expect(write('/home/me/shop')).toContain('every file of this workspace')
  expect(write('/home/me')).toContain('every file of this workspace')
  expect(write('/home/me/shop/src')).toBe('write /home/me/shop/src and what is below it')
  const command = { kind: 'command', words: ['git', 'add'], options: [], cwd: '/home/me/shop' } as const
  const line = (root: string): string => describeGrant({ ...command, roots: [root] }, '/home/me/shop')
  expect(line('/home/me/shop')).toContain('on every file of this workspace')
  expect(line('/home/me/shop/src')).not.toContain('workspace')
})
