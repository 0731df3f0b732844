import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noApprover, onceApprover } from '../src/core/approval.ts'
import { openTestRuntime, reopenTestRuntime, type TestRuntime } from './support/runtime.ts'
import { noSandbox } from './support/skips.ts'

// What cli-command.test.ts shows through the program, for many lines: in process.

let box: TestRuntime
beforeEach(async () => {
  box = await openTestRuntime('[permissions]\ncommands = "ask"\n', onceApprover('the test'))
  box.write('a.txt', 'hello\n')
  box.write('src/x.ts', 'const x = 1\n')
  box.write('.env', 'TOKEN=abc\n')
})
afterEach(() => box.close())

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever a command returned
const run = async (command: string, more: Record<string, unknown> = {}): Promise<any> =>
  box.runtime.call({ tool: 'run_command', input: { command, ...more } })

describe.skipIf(noSandbox !== '')(`run_command, line by line${noSandbox}`, () => {
  test('the restricted profile takes one simple command of the list', async () => {
    const restricted = (command: string) => run(command, { profile: 'restricted' })
    expect((await restricted('ls src')).data.stdout).toBe('x.ts\n')
    for (const command of ['ls & touch x', 'ls; id', 'ls | wc', 'ls > x', 'ls $(id)', 'ls `id`', 'ls\nid']) {
      expect((await restricted(command)).error.message).toContain('forbidden shell metacharacter')
    }
    expect((await restricted('touch x')).error.message).toContain(
      "'touch' is not in the allowed command list",
    )
    // Of the list, but no reader: it is asked about as anywhere else.
    expect((await restricted('find . -delete')).decision).toMatchObject({ by: 'user' })
  })

  test('what a command leaves as its state is not believed', async () => {
    const secret = join(box.home, 'secret')
    writeFileSync(secret, `${box.workspace}\nSTOLEN=yes\0`)
    await box.runtime.openRun({ id: 'r2' })
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const inRun = async (command: string): Promise<any> =>
      box.runtime.call({ tool: 'run_command', input: { command }, run: 'r2' })
    const leave = (how: string) =>
      inRun(
        `f=$(trap -p EXIT | grep -o -m 1 '/run/kogu-state/state' | head -1); trap - EXIT; ${how}; kill -9 $$`,
      )
    await leave('mkfifo $f')
    await leave('mkdir -p $f/x')
    await leave(`ln -s ${secret} $f`)
    await leave(
      `export GOOD=1; printf '${box.workspace}/nowhere\\nGOOD=1\\0FORGED=1\\0GOFLAGS=-x\\0npm_config_x=1\\0' > $f`,
    )
    expect((await inRun('pwd; env')).data.stdout).toMatch(/^\/.*\/work\n/)
    expect((await inRun('env')).data.stdout).not.toMatch(/STOLEN|FORGED|GOFLAGS|npm_config/)
    expect((await inRun('env')).data.stdout).toContain('GOOD=1')
  })

  test('git commands do not let the rest of a line plant code in a repository', async () => {
    await run('git init -q . && git config user.name kim && git config user.email k@x')
    box.write('evil/hooks/post-checkout', 'x')
    const scripts = {
      'a file named like a subcommand': 'git add config; printf "[core]\\n\\teditor = x\\n" >> .git/config',
      'core.fsmonitor': 'git branch one; printf "[core]\\n\\tfsmonitor = x\\n" >> .git/config',
      'core.hookspath': 'git config core.hooksPath /tmp/x',
      'alias.st': "git config alias.st '!x'",
      'include.path': 'git config include.path /tmp/x',
      'filter.x.clean': 'git config filter.x.clean x',
      commondir: 'git commit -q --allow-empty -m x; echo ../evil > .git/commondir',
      'hooks as a link': 'git commit -q --allow-empty -m x; rm -r .git/hooks; ln -s ../evil/hooks .git/hooks',
      'hooks of a module':
        'git commit -q --allow-empty -m x; mkdir -p .git/modules/m/hooks; echo > .git/modules/m/hooks/a',
      'a file for a repository': 'git commit -q --allow-empty -m x; mkdir n; echo "gitdir: ../evil" > n/.git',
      'a file in a worktree line':
        'git worktree list; git worktree prune; mkdir n; echo "gitdir: ../evil" > n/.git',
      'info/attributes': 'git branch two; mkdir -p .git/info; echo "* diff=x" > .git/info/attributes',
      alternates: 'git branch two; mkdir -p .git/objects/info; echo /tmp > .git/objects/info/alternates',
      'config.worktree': 'git config a.b c; printf "[core]\\n\\teditor = x\\n" > .git/config.worktree',
    }
    for (const [what, script] of Object.entries(scripts)) {
      box.write('line.sh', script.replace(/^git [^;]*;?/, ''))
      // The git commands stand in the line; what plants something is hidden in a script.
      const git = /^git [^;]*/.exec(script)?.[0] ?? ''
      const result = await run(`${git}; bash line.sh`)
      expect([what, result.error?.code, result.error?.message]).toEqual([
        what,
        'forbidden',
        expect.stringContaining('none of its changes were kept'),
      ])
    }
    expect((await run('git config core.hooksPath x')).error.message).toContain('core.hookspath')
  })

  test('git shows differences unasked, without the programs that a repository names', async () => {
    const git = (...args: string[]) => execFileSync('git', ['-C', box.workspace, ...args])
    git('init', '-q', '-b', 'main')
    git('config', 'user.name', 'kim')
    git('config', 'user.email', 'k@x')
    box.write('.gitattributes', '*.txt diff=evil\n')
    rmSync(join(box.workspace, '.env'))
    git('add', '-A')
    git('commit', '-qm', 'one')
    box.write('evil.sh', '#!/bin/sh\necho EVIL\n')
    chmodSync(join(box.workspace, 'evil.sh'), 0o755)
    for (const key of ['diff.external', 'diff.evil.command', 'diff.evil.textconv']) {
      git('config', key, join(box.workspace, 'evil.sh'))
    }
    box.write('a.txt', 'changed\n')
    git('stash', '-q')
    git('stash', 'apply', '-q')
    const unasked = await reopenTestRuntime(box, noApprover('a test'))
    for (const [line, shown] of [
      ['git diff -- a.txt', '+changed'],
      ['git -C . diff HEAD -- a.txt', '+changed'],
      ['git diff -- a.txt | cat', '+changed'],
      ['git log -p -- a.txt', '+hello'],
      ['git show HEAD -- a.txt', '+hello'],
      ['git blame a.txt', 'changed'],
      ['git stash show -p', '+changed'],
      ['echo git diff', 'git diff\n'],
    ] as const) {
      // biome-ignore lint/suspicious/noExplicitAny: as above
      const result: any = await unasked.runtime.call({ tool: 'run_command', input: { command: line } })
      expect([line, result.data?.exit_code, result.data?.stdout]).toEqual([
        line,
        0,
        expect.stringContaining(shown),
      ])
      expect([line, result.data.stdout]).not.toEqual([line, expect.stringContaining('EVIL')])
    }
    await unasked.close()
  })
})
