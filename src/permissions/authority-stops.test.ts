import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AuthorityWish } from '../core/authority.ts'
import type { Judgement } from '../core/decision.ts'
import { createRun } from '../core/run.ts'
import { restrictedProblem } from './authority-stops.ts'
import { analyzeCommand } from './commands/analyze.ts'
import { createTestEngine, type TestEngine } from './testing.ts'

// What a run may do at most, against rules that allow everything.

const ALLOW = [
  { id: 'all-commands', decision: 'allow' as const, tool: ['run_command'], command: ['**'] },
  { id: 'all-writes', decision: 'allow' as const, tool: ['write_file'], path: ['**'] },
  { id: 'all-hosts', decision: 'allow' as const, tool: ['http'], host: ['*'] },
]

function judgeLine(authority: AuthorityWish, command: string, engine = createTestEngine(ALLOW)): Judgement {
  return judge(engine, engine.request('run_command', { kind: 'execute', command }, { authority }))
}

/** The analyser is loaded, so that it is no promise. */
function judge({ engine }: TestEngine, request: Parameters<TestEngine['engine']['judge']>[0]): Judgement {
  return engine.judge(request) as Judgement
}

const verdict = ({ hard, decision }: Judgement): string =>
  hard ? `hard ${decision.ref?.id}` : decision.outcome

describe('git', () => {
  const WRITES = [
    'git add .',
    'git commit -m x',
    'git push',
    'git push --force origin main',
    '/usr/bin/git push',
    'sudo git commit -m x',
    'env X=1 git commit -m x',
    'bash -c "git commit -m x"',
    'timeout 5 git add .',
    'echo $(git stash)',
    'git -C sub commit -m x',
    'git -c core.pager=sh log',
    'git status && git checkout main',
    'xargs git add < files',
    'find . -name "*.ts" -exec git add {} +',
    'git-push origin main',
    '/usr/lib/git-core/git-send-pack x',
    'git $ACTION',
    '$GIT push',
    'G=git; $G push',
    'git fetch',
    'git config user.name kim',
  ]

  test.each(WRITES)('below read-write, %s is refused whatever rules say', line => {
    expect(verdict(judgeLine({ git: 'read-only' }, line))).toBe('hard git-level')
    expect(verdict(judgeLine({ git: 'disabled' }, line))).toBe('hard git-level')
  })

  test.each(['git status', 'git log --oneline -5', 'git diff | head', 'git show HEAD'])(
    'read-only lets %s through, disabled does not',
    line => {
      expect(verdict(judgeLine({ git: 'read-only' }, line))).toBe('allow')
      const refused = judgeLine({ git: 'disabled' }, line)
      expect(refused.decision.reason).toBe('Git operations are disabled.')
    },
  )

  test('a refusal names the action and the level', () => {
    expect(judgeLine({ git: 'read-only' }, 'git commit -m x').decision.reason).toBe(
      "Git write action 'commit' requires ReadWrite permission. Current: ReadOnly",
    )
  })

  test.each(['git push', 'git -C . push origin main', 'sudo git push', 'git-push', 'ls && git push -f'])(
    'with read-write, %s always asks, as dangerous, and no grant is offered for it',
    line => {
      const judgement = judgeLine({ git: 'read-write' }, line)
      expect(judgement).toMatchObject({
        decision: { outcome: 'ask' },
        preview: { dangerous: true, grants: [] },
      })
      expect(verdict(judgeLine({ mode: 'auto' }, line))).toBe('deny')
    },
  )

  test('with read-write, a commit is what rules say', () => {
    expect(verdict(judgeLine({}, 'git commit -m x'))).toBe('allow')
  })
})

describe('commands', () => {
  const authority: AuthorityWish = { commands: { profile: 'restricted', allowed: ['ls', 'npm'] } }

  test.each([
    ['rm x', "Command 'rm' is not in the allowed command list. Allowed: ls, npm"],
    ['ls && rm x', "Command contains forbidden shell metacharacter '&&'."],
    ['ls $(rm x)', "Command contains forbidden shell metacharacter '$('."],
    ['ls\nrm x', "Command contains forbidden shell metacharacter '\\n'."],
    ['bash -c ls', "Command 'bash' is not in the allowed command list."],
    ['./ls', "Command './ls' is not in the allowed command list."],
    ['X=1 ls', "Command 'X=1' is not in the allowed command list."],
    ['npm exec node', "Command 'npm' may start another program here"],
  ])('in the restricted profile %j is refused', (line, reason) => {
    const judgement = judgeLine(authority, line)
    expect(verdict(judgement)).toBe('hard restricted-commands')
    expect(judgement.decision.reason).toContain(reason)
  })

  test('find, which may be on the list, starts nothing that is not', () => {
    const only: AuthorityWish = { commands: { profile: 'restricted', allowed: ['find'] } }
    expect(judgeLine(only, 'find . -exec node -e 1 {} +').decision.reason).toBe(
      "Command 'node' is not in the allowed command list. Allowed: find",
    )
    expect(verdict(judgeLine(only, 'find . -name x'))).toBe('allow')
  })

  test('a line that a tool of the agent is made of needs no place on the list, but keeps the level of git', () => {
    const lineOf = (git: 'read-only' | 'read-write') => {
      const engine = createTestEngine(ALLOW)
      const access = { kind: 'execute', command: 'git commit -m x', programs: 'own' } as const
      return judge(engine, engine.request('run_command', access, { authority: { ...authority, git } }))
    }
    expect(verdict(lineOf('read-write'))).toBe('allow')
    expect(lineOf('read-only').decision.reason).toBe(
      "Git write action 'commit' requires ReadWrite permission. Current: ReadOnly",
    )
  })

  test('what is on the list is judged as ever', () => {
    expect(verdict(judgeLine(authority, 'ls -la'))).toBe('allow')
    expect(verdict(judgeLine(authority, 'npm test', createTestEngine()))).toBe('ask')
  })

  test('a limit on time reaches the command', () => {
    const { permit } = judgeLine({ commands: { profile: 'shell', timeoutMs: 5000 } }, 'npm test')
    expect(permit.command?.timeoutMs).toBe(5000)
  })

  test('several in one call are refused: only one would be walled in as it was judged', () => {
    const engine = createTestEngine(ALLOW)
    const two = ['ls', 'rm x'].map(command => ({ kind: 'execute' as const, command }))
    expect(verdict(judge(engine, engine.request('run_command', two)))).toBe('hard several-commands')
  })
})

describe('hosts', () => {
  const authority: AuthorityWish = { hosts: ['*.example.com'] }
  const fetchAs = (url: string): string => {
    const engine = createTestEngine(ALLOW)
    return verdict(judge(engine, engine.request('fetch', { kind: 'network', url }, { authority })))
  }

  test('that the run may not contact are refused, by tools and by commands', () => {
    expect(fetchAs('https://a.example.com/')).toBe('allow')
    expect(fetchAs('https://evil.example/')).toBe('hard hosts')
    expect(verdict(judgeLine(authority, 'curl https://evil.example/'))).toBe('hard hosts')
  })

  test('that only turn up while a command runs are refused too, and cannot be allowed', () => {
    const { permit } = judgeLine(authority, 'curl $URL')
    expect(permit.command?.network?.('a.example.com', 443, [])).toBeNull()
    expect(permit.command?.network?.('evil.example', 443, [])).toEqual({
      reason: 'this run may only contact *.example.com',
      canBeAllowed: false,
    })
  })
})

describe('write folders of an agent', () => {
  const write = (authority: AuthorityWish, path: string): Judgement => {
    const engine = createTestEngine(ALLOW)
    const scope = authority.writeScope?.map(folder => join(engine.workspace, folder))
    const wish = { agent: 'writer', ...(scope === undefined ? {} : { writeScope: scope }) }
    return judge(engine, engine.request('write_file', { kind: 'file_write', path }, { authority: wish }))
  }

  test('that are none mean that it writes nothing', () => {
    expect(write({ writeScope: [] }, 'a.md').decision.reason).toBe(
      'File writing is disabled. No allowed write directories configured.',
    )
  })

  test('are named by a refusal', () => {
    expect(verdict(write({ writeScope: ['doc'] }, 'doc/a.md'))).toBe('allow')
    const { reason } = write({ writeScope: ['doc'] }, 'src/a.ts').decision
    expect(reason).toMatch(
      /^Path '.*src\/a\.ts' is not within any allowed write directory\. Allowed: .*\/doc$/,
    )
  })

  test('outside of the workspace do not count: nothing there could be undone', () => {
    const engine = createTestEngine(ALLOW)
    const request = engine.request(
      'write_file',
      { kind: 'file_write', path: '/srv/a' },
      { authority: { agent: 'writer', writeScope: ['/srv'] } },
    )
    expect(verdict(judge(engine, request))).toBe('hard write-scope')
    expect(judge(engine, request).permit.writeScope).toEqual([])
  })
})

describe('a run that another one opened', () => {
  const below = (engine: TestEngine, agents: readonly (string | undefined)[], mode?: 'ask' | 'auto') => {
    let { run } = engine.request('read_file', [])
    for (const agent of agents) {
      const authority = {
        ...run.authority,
        ...(agent === undefined ? {} : { agent }),
        ...(mode ? { mode } : {}),
      }
      run = createRun('below', { authority, approver: run.approver, parent: run })
    }
    return (path: string): string =>
      verdict(judge(engine, engine.request('write_file', { kind: 'file_write', path }, { run })))
  }
  const write = { tool: ['write_file'], path: ['**'] }

  test('is held to what is forbidden to those above it', () => {
    const engine = createTestEngine([...ALLOW, { id: 'no', decision: 'deny', ...write, agents: ['boss'] }])
    expect(below(engine, ['boss'])('a')).toBe('deny')
    expect(below(engine, ['boss', 'helper'])('a')).toBe('deny')
    expect(below(engine, ['helper'])('a')).toBe('allow')
  })

  test('is allowed by name only what every agent above it is allowed too', () => {
    const engine = createTestEngine([{ id: 'yes', decision: 'allow', ...write, agents: ['helper'] }])
    expect(below(engine, ['helper'])('a')).toBe('allow')
    expect(below(engine, ['boss', 'helper'])('a')).toBe('ask')
  })

  test('does not get rid of a rule by another mode', () => {
    const engine = createTestEngine([...ALLOW, { id: 'no', decision: 'deny', ...write, modes: ['ask'] }])
    expect(below(engine, [undefined], 'auto')('a')).toBe('deny')
  })

  test('has an exception only when those above it have it', () => {
    const engine = createTestEngine([
      ...ALLOW,
      { id: 'no', decision: 'deny', ...write, except: { agents: ['trusted'] } },
    ])
    expect(below(engine, ['trusted'])('a')).toBe('allow')
    expect(below(engine, ['other', 'trusted'])('a')).toBe('deny')
  })
})

describe('a list of programs', () => {
  const ALLOWED = ['ls', 'cat', 'find']

  const problem = (line: string, allowed: readonly string[] = ALLOWED): string | undefined =>
    restrictedProblem(analyzeCommand(line, { cwd: '/w', home: '/home/kim', workspace: '/w' }), allowed)

  test.each([
    'ls && id',
    'ls & id',
    'ls || id',
    'ls; id',
    'ls | id',
    'ls $(id)',
    'ls `id`',
    'ls $X',
    'ls > a',
    'ls < a',
    'ls\nid',
    'ls\rid',
  ])('%j is not one simple command', line => {
    expect(problem(line)).toContain('forbidden shell metacharacter')
  })

  test('the first word has to be on the list, as a whole', () => {
    expect(problem('ls -la')).toBeUndefined()
    for (const line of ['lsof', '/bin/ls', './ls', 'rm x', '', ' ']) {
      expect(problem(line), line).toContain('is not in the allowed command list. Allowed: ls, cat, find')
    }
  })

  const STARTERS = [
    ...[
      'find',
      'env',
      'xargs',
      'sh',
      'bash',
      'timeout',
      'nice',
      'nohup',
      'git',
      'tar',
      'sed',
      'awk',
      'sort',
      'time',
    ],
    ...[
      'split',
      'fd',
      'rg',
      'rsync',
      'make',
      'npm',
      'npx',
      'go',
      'cargo',
      'stdbuf',
      'flock',
      'zip',
      'exec',
      'eval',
    ],
  ]

  test.each([
    'find . -exec node -e 1 {} +',
    'find . -execdir node -e 1 {} +',
    'find . -ok node {} +',
    'find . -exec ./ls {} +',
    'find . -exec sh -c "node x" +',
    'find . -exec env node {} +',
    'env node x',
    'env -S "node x"',
    'env X=1 node x',
    'xargs -n1 node',
    'sh -c "node x"',
    "bash -c 'node x'",
    'timeout 5 node',
    'nice -n 5 node',
    'nohup node',
    'time node',
    'exec node',
    'eval node',
    'git -c core.pager=node log',
    'git grep -Onode x',
    'git rebase -x node',
    'git bisect run node',
    'git submodule foreach node',
    'tar --checkpoint-action=exec=node -cf x y',
    'tar --to-command node -xf x',
    'tar -I node -xf x',
    'tar Ixf node x',
    'sed "1e node" f',
    'sed s/x/node/e f',
    'sed -f script f',
    'awk \'BEGIN{system("node")}\' f',
    'awk -f script f',
    'sort --compress-program=node f',
    'sort --compress-prog node f',
    'split --filter=node f',
    'fd -x node',
    'fd . -tX node',
    'rg --pre node x',
    'rsync -e node a b',
    'make SHELL=node',
    'npm exec node',
    'npm test --script-shell node',
    'npx node',
    'go build -toolexec node',
    'cargo --config build.rustc-wrapper=node build',
    'stdbuf -o0 node',
    'flock x node',
    'zip -T -TT node a b',
  ])('a listed program cannot start another one: %s', line => {
    expect(problem(line, STARTERS)).toMatch(/allowed command list/)
  })

  test.each([
    'find . -name "*.ts" -exec grep -n "a b" {} +',
    'find . -type f',
    'env ls',
    'xargs grep x',
    'tar -xzf a.tar',
    'tar cf a.tar b',
    'sed -n 1,5p f',
    'sed -i "s/a b/c d/" f',
    'sort -o x f',
    'git commit -m "say x and node"',
    'git log --oneline -5',
    'npm test',
    'npm run build',
    'cargo test',
    'go test ./...',
    'make test',
    'ls "a node"',
  ])('what starts only listed programs runs: %s', line => {
    expect(problem(line, [...STARTERS, 'ls', 'grep'])).toBeUndefined()
  })
})
