import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Access } from '../core/access.ts'
import type { Judgement, Mode } from '../core/decision.ts'
import { loadCorpus } from './commands/corpus/testing.ts'
import { hidingCandidates } from './paths/hidden-files.ts'
import { compileRule } from './rules/rules.ts'
import { createTestEngine, type TestEngine } from './testing.ts'

const read = (path: string): Access => ({ kind: 'file_read', path })
const write = (path: string): Access => ({ kind: 'file_write', path })
const remove = (path: string): Access => ({ kind: 'file_delete', path })
const run = (command: string): Access => ({ kind: 'execute', command })

function judge(test: TestEngine, tool: string, access: Access | Access[]): Judgement {
  const judgement = test.engine.judge(test.request(tool, access))
  if (judgement instanceof Promise) throw new Error('judging is synchronous')
  return judgement
}

function outcome(test: TestEngine, tool: string, access: Access | Access[]): string {
  const { decision, hard } = judge(test, tool, access)
  return hard ? `hard ${decision.ref?.id}` : decision.outcome
}

describe('modes', () => {
  const rows: [Mode, string, Access, string][] = [
    ['ask', 'read_file', read('a.txt'), 'allow'],
    ['ask', 'read_file', read('.env'), 'ask'],
    ['ask', 'write_file', write('a.txt'), 'ask'],
    ['ask', 'delete_file', remove('a.txt'), 'ask'],
    ['ask', 'run_command', run('ls -la'), 'allow'],
    ['ask', 'run_command', run('npm test'), 'ask'],
    ['ask', 'x', { kind: 'custom', name: 'y', details: 'z' }, 'ask'],
    ['accept-edits', 'write_file', write('a.txt'), 'allow'],
    ['accept-edits', 'write_file', write('.env'), 'ask'],
    ['accept-edits', 'write_file', write('.github/workflows/ci.yml'), 'ask'],
    ['accept-edits', 'delete_file', remove('a.txt'), 'ask'],
    ['accept-edits', 'run_command', run('npm test'), 'ask'],
    ['accept-edits', 'x', { kind: 'custom', name: 'overwrite_unread', details: 'z' }, 'ask'],
    ['read-only', 'read_file', read('a.txt'), 'allow'],
    ['read-only', 'read_file', read('.env'), 'deny'],
    ['read-only', 'write_file', write('a.txt'), 'deny'],
    ['read-only', 'run_command', run('ls -la'), 'allow'],
    ['read-only', 'run_command', run('npm test'), 'deny'],
    ['auto', 'read_file', read('a.txt'), 'allow'],
    ['auto', 'read_file', read('.env'), 'deny'],
    ['auto', 'write_file', write('a.txt'), 'deny'],
    ['auto', 'run_command', run('npm test'), 'deny'],
  ]
  test.each(rows)('%s: %s %j is %s', (mode, tool, access, expected) => {
    expect(outcome(createTestEngine([], { mode }), tool, access)).toBe(expected)
  })

  test('read-only is a ceiling that no rule raises', () => {
    const rules = [{ decision: 'allow' as const, tool: ['write_file'], path: ['**'] }]
    expect(outcome(createTestEngine(rules, { mode: 'read-only' }), 'write_file', write('a'))).toBe('deny')
  })

  test.each([
    'alias g=git; shopt -s expand_aliases\ng push',
    'xargs -i git {} < names',
    'xargs -I{} git {} origin < names',
    'cat names | xargs git',
    'ssh-agent git push',
    'fd -X git push',
    'for x in push; do git $x; done',
    'X=git; $X push',
    '{git,push}',
    '$(echo git) push',
    'echo git push | sh',
    'flock lock git push',
    "flock lock -c 'git push'",
    "expect -c 'spawn git push origin'",
    'python3 -c \'import subprocess; subprocess.run(["/usr/bin/git", "push"], check=True)\'',
    "node -e \"require('child_process').execSync('git -C . push')\"",
    "tar cf x y --checkpoint-action=exec='git push'",
    "hyperfine 'git push'",
  ])('a deny on `git push` holds for %s', line => {
    const engine = createTestEngine([
      { decision: 'deny', tool: ['run_command'], command: ['git', 'push', '**'] },
    ])
    expect(outcome(engine, 'run_command', run(line))).toBe('deny')
  })

  test('a rule about words takes no text for a command that nothing runs', () => {
    const engine = createTestEngine([
      { decision: 'deny', tool: ['run_command'], command: ['git', 'push', '**'] },
    ])
    for (const line of ['git commit -m "before git push"', 'echo "git push"', 'npm test -- -t "git push"'])
      expect([line, outcome(engine, 'run_command', run(line))]).not.toEqual([line, 'deny'])
  })

  test.each(['constructor', 'toString x', 'git constructor a', 'git valueOf -x'])(
    'a word that every object has is a word like any other: %s',
    line => {
      const { decision } = judge(createTestEngine([], { mode: 'ask' }), 'run_command', run(line))
      expect(decision.outcome).toBe('ask')
      expect(decision.reason).not.toContain('could not be analysed')
    },
  )

  test('the default deny takes the place of every question', () => {
    const strict = createTestEngine([], { fallback: 'deny' })
    expect(outcome(strict, 'write_file', write('a'))).toBe('deny')
    expect(outcome(strict, 'read_file', read('a'))).toBe('allow')
  })
})

describe('hard limits', () => {
  const allowAll = [
    { decision: 'allow' as const, tool: ['write_file', 'delete_file', 'read_file'], path: ['**'] },
    { decision: 'allow' as const, tool: ['run_command'] },
  ]
  test.each<[string, Access, string]>([
    ['write_file', write('../x'), 'hard write-scope'],
    ['write_file', write('/etc/hosts'), 'hard protected-path'],
    ['write_file', write('.git/config'), 'hard protected-path'],
    ['write_file', write('.kogu/local.toml'), 'hard protected-path'],
    ['delete_file', remove('.'), 'hard write-scope'],
    ['delete_file', remove('.git'), 'hard protected-path'],
    ['run_command', run('rm -rf /'), 'hard forbidden-command'],
    ['run_command', run('vim a.txt'), 'hard interactive-program'],
    ['run_command', run('echo x > .git/hooks/pre-commit'), 'hard protected-path'],
    ['run_command', run('echo x > /srv/x'), 'hard write-scope'],
    ['run_command', run('tee ~/.bashrc < a'), 'hard write-scope'],
    ['run_command', run('curl http://169.254.169.254/latest'), 'hard private-address'],
    ['web_fetch', { kind: 'network', url: 'http://127.0.0.1:8080/' }, 'hard private-address'],
    ['web_fetch', { kind: 'network', url: 'http://user:pw@example.com/' }, 'hard private-address'],
  ])('%s %j ends with %s whatever the rules say', (tool, access, expected) => {
    expect(outcome(createTestEngine(allowAll), tool, access)).toBe(expected)
  })

  test('a command that names its own loopback is asked about; without walls that is the host, and a hard limit', () => {
    const line = run('curl http://localhost:3000/')
    expect(outcome(createTestEngine(), 'run_command', line)).toBe('ask')
    const open = createTestEngine(allowAll, { noSandbox: () => ({ reason: 'none', required: false }) })
    expect(outcome(open, 'run_command', line)).toBe('hard private-address')
  })

  test('a link is judged by where it leads, a dangling one too', () => {
    const engine = createTestEngine(allowAll)
    symlinkSync('/etc', join(engine.root, 'config'))
    symlinkSync('/nowhere/new', join(engine.root, 'dangling'))
    symlinkSync('.git', join(engine.root, 'g'))
    expect(outcome(engine, 'write_file', write('config/hosts'))).toBe('hard protected-path')
    expect(outcome(engine, 'write_file', write('dangling'))).toBe('hard write-scope')
    expect(outcome(engine, 'write_file', write('g/config'))).toBe('hard protected-path')
    // Deleting a link takes away the link.
    expect(outcome(engine, 'delete_file', remove('config'))).toBe('allow')
  })

  test('an agent with its own folders may not write elsewhere in the workspace', () => {
    const engine = createTestEngine(allowAll)
    mkdirSync(join(engine.root, 'doc'))
    const authority = { agent: 'writer', writeScope: [join(engine.workspace, 'doc')] }
    const judgeAs = (path: string) =>
      engine.engine.judge(engine.request('write_file', write(path), { authority }))
    expect(judgeAs('doc/a.md')).toMatchObject({ decision: { outcome: 'allow' } })
    expect(judgeAs('src/a.ts')).toMatchObject({ hard: true, decision: { ref: { id: 'write-scope' } } })
    expect(judgeAs('doc/../src/a.ts')).toMatchObject({ hard: true })
  })
})

describe('rules', () => {
  test('the strictest wins, in whatever order they stand', () => {
    const deny = { id: 'd', decision: 'deny' as const, path: ['secret/**'] }
    const ask = { id: 'k', decision: 'ask' as const, path: ['secret/**'] }
    const allow = { id: 'a', decision: 'allow' as const, tool: ['read_file'], path: ['**'] }
    for (const rules of [
      [deny, ask, allow],
      [allow, ask, deny],
    ]) {
      const { decision } = judge(createTestEngine(rules), 'read_file', read('secret/x'))
      expect(decision).toMatchObject({ outcome: 'deny', by: 'rule', ref: { id: 'd', source: 'test.toml' } })
      expect(decision.also?.map(other => other.id).sort()).toEqual(['a', 'k'])
    }
  })

  test('a rule for every tool forbids for every tool, and allows for none', () => {
    const engine = createTestEngine([{ decision: 'deny', tool: ['*'], path: ['secret/**'] }])
    expect(outcome(engine, 'read_file', read('secret/x'))).toBe('deny')
    expect(outcome(engine, 'write_file', { kind: 'file_write', path: 'secret/x' })).toBe('deny')
    const wide = createTestEngine([{ decision: 'allow', tool: ['*'], path: ['**'] }])
    expect(outcome(wide, 'write_file', { kind: 'file_write', path: 'a' })).toBe('ask')
  })

  test('a star in the name of a tool forbids every one like it, and allows those of one server only', () => {
    const mcp = { kind: 'custom' as const, name: 'mcp', details: 'd' }
    const deny = createTestEngine([{ decision: 'deny', tool: ['hub__delete_*'] }])
    expect(outcome(deny, 'hub__Delete_repo', mcp)).toBe('deny')
    expect(outcome(deny, 'hub__list', mcp)).toBe('ask')
    // What tools of such a name do is forbidden in every other way, too.
    const anyReader = createTestEngine([{ decision: 'deny', tool: ['read_*'], path: ['secret/**'] }])
    expect(outcome(anyReader, 'run_command', run('cat secret/x'))).toBe('deny')
    const allow = createTestEngine([{ decision: 'allow', tool: ['hub__*', '*list', 'w*'] }])
    expect(outcome(allow, 'hub__list', mcp)).toBe('allow')
    expect(outcome(allow, 'other__list', mcp)).toBe('ask')
    expect(outcome(allow, 'write_file', { kind: 'file_write', path: 'a' })).toBe('ask')
    const but = createTestEngine([
      { decision: 'deny', tool: ['hub__*'], except: { tool: ['hub__get_*', '*'] } },
    ])
    expect(outcome(but, 'hub__get_one', mcp)).toBe('ask')
    expect(outcome(but, 'hub__put', mcp)).toBe('deny')
  })

  test('a tool of another kind is not allowed by a star because its name looks like one of a server', () => {
    const code = { kind: 'custom' as const, name: 'unwalled_code', details: 'hub__list' }
    const allow = createTestEngine([{ decision: 'allow', tool: ['hub__*'] }])
    expect(outcome(allow, 'hub__list', code)).toBe('ask')
    expect(outcome(allow, 'hub__list', run('npm publish'))).toBe('ask')
    const but = createTestEngine([{ decision: 'deny', tool: ['*'], except: { tool: ['hub__*'] } }])
    expect(outcome(but, 'hub__list', code)).toBe('deny')
  })

  test('a star for other names of a tool forbids what it does in every other way, as those names would', () => {
    const context = { home: '/home/kim', workspace: '/w' }
    const canonical = (name: string): string => (name.toLowerCase() === 'bash' ? 'run_command' : name)
    const origin = { file: 'test.toml' }
    const rule = (tool: string) =>
      compileRule({ decision: 'deny', tool, command: ['npm', 'test'], origin }, 0, context, canonical, [
        'bash',
      ])
    for (const tool of ['Bash', 'ba*'])
      expect(outcome(createTestEngine([], { rules: [rule(tool)] }), 'build', run('npm test'))).toBe('deny')
  })

  test('one denied access denies the whole call', () => {
    const engine = createTestEngine([{ decision: 'deny', path: ['b'] }])
    expect(outcome(engine, 'move_file', [read('a'), read('b')])).toBe('deny')
  })

  test('what is denied to one tool is denied to every way of reading it', () => {
    const engine = createTestEngine([{ decision: 'deny', tool: ['read_file'], path: ['secret.txt'] }])
    writeFileSync(join(engine.root, 'secret.txt'), 'x')
    symlinkSync('secret.txt', join(engine.root, 'innocent'))
    for (const path of ['secret.txt', './secret.txt', 'innocent', 'x/../secret.txt', 'SECRET.txt']) {
      expect([path, outcome(engine, 'grep_search', read(path))]).toEqual([path, 'deny'])
      expect([path, outcome(engine, 'run_command', run(`cat ${path}`))]).toEqual([path, 'deny'])
    }
    for (const line of [
      'head -5 < secret.txt',
      'cat ./secret.txt | wc -l',
      'ls && cat secret.txt',
      'echo $(cat secret.txt)',
      "cat 'secret.txt'",
      'F=secret.txt; cat "$F"',
      'cp secret.txt other.txt',
    ]) {
      expect([line, outcome(engine, 'run_command', run(line))]).toEqual([line, 'deny'])
    }
  })

  test('an allow rule for commands covers a line only when it covers all of it', () => {
    const engine = createTestEngine([
      { decision: 'allow', tool: ['run_command'], command: ['npm', ['test', 'run'], '**'] },
    ])
    expect(outcome(engine, 'run_command', run('npm test'))).toBe('allow')
    expect(outcome(engine, 'run_command', run('npm test | tail -5'))).toBe('allow')
    expect(outcome(engine, 'run_command', run('npm publish'))).toBe('ask')
    expect(outcome(engine, 'run_command', run('npm test && rm -r build'))).toBe('ask')
    expect(outcome(engine, 'run_command', run('npm test $(touch x)'))).toBe('ask')
    expect(outcome(engine, 'run_command', run('npm test > src/a.ts'))).toBe('ask')
    expect(outcome(engine, 'run_command', run('PATH=. npm test'))).toBe('ask')
    expect(outcome(engine, 'run_command', run('./npm test'))).toBe('ask')
    expect(outcome(engine, 'run_command', run('npm test; rm -rf /'))).toBe('hard forbidden-command')
  })

  test('a deny rule for commands catches it anywhere in the line, by any path, under any wrapper', () => {
    const engine = createTestEngine([
      { decision: 'deny', tool: ['run_command'], command: ['git', 'push', '**'] },
    ])
    for (const line of [
      'git push',
      'git push --force origin main',
      'ls && git push',
      '/usr/bin/git push',
      'sudo git push',
      'env X=1 git push',
      'bash -c "git push"',
      'timeout 5 git push',
      'echo $(git push)',
      '"git" push',
      'g\\it push',
    ]) {
      expect([line, outcome(engine, 'run_command', run(line))]).toEqual([line, 'deny'])
    }
    expect(outcome(engine, 'run_command', run('git status'))).toBe('allow')
  })

  test('effects, agents, modes, expiry and exceptions limit a rule', () => {
    const engine = createTestEngine([
      { decision: 'deny', tool: ['run_command'], effects: ['privilege'] },
      { decision: 'allow', tool: ['write_file'], path: ['docs/**'], except: { path: ['docs/keep/**'] } },
      { decision: 'allow', tool: ['write_file'], path: ['all/**'], except: { sensitive: true } },
      { decision: 'allow', tool: ['write_file'], path: ['old/**'], expires: 1 },
      { decision: 'allow', tool: ['write_file'], path: ['mine/**'], agents: ['me'] },
      { decision: 'allow', tool: ['write_file'], path: ['auto/**'], modes: ['auto'] },
    ])
    expect(outcome(engine, 'run_command', run('sudo ls'))).toBe('deny')
    expect(outcome(engine, 'write_file', write('docs/a'))).toBe('allow')
    expect(outcome(engine, 'write_file', write('docs/keep/a'))).toBe('ask')
    expect(outcome(engine, 'write_file', write('all/a'))).toBe('allow')
    expect(outcome(engine, 'write_file', write('all/.env'))).toBe('ask')
    expect(outcome(engine, 'write_file', write('old/a'))).toBe('ask')
    expect(outcome(engine, 'write_file', write('mine/a'))).toBe('ask')
    expect(outcome(engine, 'write_file', write('auto/a'))).toBe('ask')
    const me = engine.request('write_file', write('mine/a'), { authority: { agent: 'me' } })
    expect(engine.engine.judge(me)).toMatchObject({ decision: { outcome: 'allow' } })
  })

  test('a rule may wait for content that is not trusted', () => {
    const engine = createTestEngine([
      { decision: 'allow', tool: ['run_command'], command: ['make'] },
      { decision: 'ask', tool: ['run_command'], command: ['make'], after: 'untrusted' },
    ])
    expect(outcome(engine, 'run_command', run('make'))).toBe('allow')
    engine.request('x', []).run.labels.push({ origin: 'web', trusted: false })
    expect(outcome(engine, 'run_command', run('make'))).toBe('ask')
  })

  test('a line that runs unasked finds no keys among the settings of the machine', () => {
    const engine = createTestEngine([], { containment: () => ({ works: true }) })
    for (const line of ['npm test', 'grep -r x src']) {
      const hidden = judge(engine, 'run_command', run(line)).permit.command?.hidden
      expect(hidden?.searched).toContain('/etc')
      const hides = (path: string) => hidden?.hides(path)
      expect([hides('/etc/app/server.key'), hides('/etc/app/.env'), hides('/etc/passwd')]).toEqual([
        true,
        true,
        false,
      ])
    }
  })

  test('search results leave out what may not be read', () => {
    const engine = createTestEngine([{ decision: 'deny', path: ['private/**'] }])
    const { permit } = judge(engine, 'grep_search', read('.'))
    const may = (path: string) => permit.mayRead(join(engine.root, path))
    expect([may('src/a.ts'), may('private/a.ts'), may('.env'), may('x/.env.local'), may('a.pem')]).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  })
})

describe('grants', () => {
  const settle = async (engine: TestEngine, access: Access, kind: 'session' | 'permanent', which = 0) => {
    const request = engine.request('run_command', access, { input: { command: 'x' } })
    const judgement = await engine.engine.judge(request)
    const offer = judgement.preview?.grants[which]
    if (offer === undefined) throw new Error('nothing was offered')
    await engine.engine.settle(request, judgement, { kind, user: 'kim', grant: offer.id })
    return offer.label
  }

  test('a grant made from a call covers that call, and says so', async () => {
    for (const line of [
      'npm test',
      'touch a.txt',
      'rm -rf build',
      'python3 x.py',
      'curl https://example.com',
    ]) {
      const engine = createTestEngine()
      await settle(engine, run(line), 'permanent')
      const again = engine.request('run_command', run(line), { input: { command: 'x' } })
      expect(await engine.engine.judge(again)).toMatchObject({ decision: { outcome: 'allow', by: 'grant' } })
    }
  })

  test('the wider offer covers the subcommand and nothing beside it', async () => {
    const engine = createTestEngine()
    expect(await settle(engine, run('npm test'), 'permanent', 1)).toContain("'npm test …'")
    expect(outcome(engine, 'run_command', run('npm test -- a.test.ts'))).toBe('allow')
    expect(outcome(engine, 'run_command', run('npm test | head'))).toBe('allow')
    for (const line of [
      'npm install',
      'npm test && x',
      'npm test; rm a',
      'npm test > ../x',
      'npm test $X',
      'npm test --x',
    ]) {
      expect([line, outcome(engine, 'run_command', run(line))]).not.toEqual([line, 'allow'])
    }
  })

  test.each([
    'python3 a.py',
    'node -e 1',
    'bash -c ls',
    'npx x',
    'sudo ls',
    'curl https://example.com',
    'rm -r x',
    './a.sh',
  ])('nothing wider than the exact call is offered for %s', async line => {
    const engine = createTestEngine()
    const { preview } = judge(engine, 'run_command', run(line))
    expect(preview?.grants).toHaveLength(1)
    expect(preview?.grants[0]?.label).toContain('exactly this')
  })

  test('a session grant ends with its run, a permanent one with its time or its workspace', async () => {
    const engine = createTestEngine()
    await settle(engine, run('npm test'), 'session', 1)
    expect(outcome(engine, 'run_command', run('npm test'))).toBe('allow')
    const elsewhere = engine.request('run_command', run('npm test'), {
      run: { ...engine.request('x', []).run, id: 'run_2' },
    })
    expect(await engine.engine.judge(elsewhere)).toMatchObject({ decision: { outcome: 'ask' } })

    const first = createTestEngine()
    await settle(first, run('npm test'), 'permanent', 1)
    const later = createTestEngine([], { workspace: first.workspace, now: () => Date.now() + 7_200_000 })
    later.grants.push(...first.grants)
    expect(outcome(later, 'run_command', run('npm test'))).toBe('ask')
    const other = createTestEngine()
    other.grants.push(...first.grants)
    expect(outcome(other, 'run_command', run('npm test'))).toBe('ask')
  })

  test('a grant lifts an ask rule unless it says always, and never a deny', async () => {
    const ask = { decision: 'ask' as const, tool: ['run_command'], command: ['npm', 'test'] }
    const lifted = createTestEngine([ask])
    await settle(lifted, run('npm test'), 'permanent')
    const again = lifted.request('run_command', run('npm test'), { input: { command: 'x' } })
    expect(await lifted.engine.judge(again)).toMatchObject({ decision: { outcome: 'allow' } })

    const always = createTestEngine([{ ...ask, always: true }])
    expect(judge(always, 'run_command', run('npm test')).preview?.grants).toEqual([])
  })

  test('a grant does not cover a tool that has changed since, and a permanent no still does', async () => {
    for (const kind of ['permanent', 'deny-permanently'] as const) {
      const engine = createTestEngine()
      const access: Access = { kind: 'custom', name: 'mcp', details: 'github: create_issue' }
      const request = engine.request('github__create_issue', access, { fingerprint: 'as it was' })
      const judgement = await engine.engine.judge(request)
      const grant = judgement.preview?.grants[1]?.id ?? ''
      await engine.engine.settle(request, judgement, { kind, user: 'kim', grant })
      const changed = await engine.engine.judge({ ...request, fingerprint: 'other' })
      const isNo = kind === 'deny-permanently'
      expect((await engine.engine.judge(request)).decision.outcome).toBe(isNo ? 'deny' : 'allow')
      expect(changed.decision.outcome).toBe(isNo ? 'deny' : 'ask')
    }
  })

  test('a permanent no is remembered', async () => {
    const engine = createTestEngine()
    const request = engine.request('run_command', run('npm test'))
    const judgement = await engine.engine.judge(request)
    const decision = await engine.engine.settle(request, judgement, { kind: 'deny-permanently', user: 'kim' })
    expect(decision).toMatchObject({ outcome: 'deny', by: 'user' })
    expect(await engine.engine.judge(request)).toMatchObject({ decision: { outcome: 'deny', by: 'grant' } })
  })
})

test('what was found out about files to hide is not kept when the rules change', () => {
  const context = { home: '/home/kim', workspace: '/w' }
  const rule = compileRule(
    { decision: 'deny', path: ['plans/**'], origin: { file: 'test.toml', line: 1 } },
    0,
    context,
    name => name,
  )
  const before = hidingCandidates([], context)
  const after = hidingCandidates([rule], context)
  expect([before('/w/plans/a.md'), after('/w/plans/a.md')]).toEqual([false, true])
  expect(after.rules).not.toBe(before.rules)
  expect(hidingCandidates([rule], context).rules).toBe(after.rules)
})

test('a line that only reads never asks where the same line with an unknown program would run contained', () => {
  const { engine, request, workspace } = createTestEngine([], { containment: () => ({ works: true }) })
  const outcome = (command: string) =>
    engine.judge(request('run_command', { kind: 'execute', command, cwd: workspace }))
  const lines = loadCorpus('safe')
    .map(({ command }) => command)
    .filter(command => !/<<|#|&$/.test(command))
  const machine = ['find / -empty', 'ls -R /', 'du -sh /', 'rg --files /', 'cd sub/.. && cat a.txt']
  const stricter = [...lines, ...machine].filter(line => {
    const [plain, unknown] = [outcome(line), outcome(`${line}; frobnicate a.txt`)]
    return (
      !('then' in plain || 'then' in unknown) &&
      unknown.decision.outcome === 'allow' &&
      plain.decision.outcome !== 'allow'
    )
  })
  expect(stricter).toEqual([])
  expect(outcome('find / -empty')).toMatchObject({
    decision: { outcome: 'allow', by: 'contained' },
    permit: { command: { contained: true, hidden: { shown: [] } } },
  })
})
