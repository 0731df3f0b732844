import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { onceApprover } from '../../src/core/approval.ts'
import type { GitLevel } from '../../src/core/authority.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'

// A hostile repository: its settings, attributes, hooks, submodules and file names try to run something or to write, and
// the fields of calls try to be options. Every attack leaves a mark when it works.

let box: TestRuntime
let marks: string

const git = (...args: string[]): string =>
  execFileSync('git', args, {
    cwd: box.workspace,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: box.home },
  })

beforeAll(async () => {
  box = await openTestRuntime('', onceApprover('the test'))
  // Where commands behind walls can leave a mark, too.
  marks = join(box.workspace, 'marks')
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Kim')
  git('config', 'user.email', 'kim@site.test')
  mkdirSync(marks)
  box.write('a.txt', 'one\n')
  box.write('marks/.keep', '')
  box.write('.env', 'KEY=hunter2hunter2\n')
  git('add', '-f', '.')
  git('commit', '-qm', 'first')
  box.write('a.txt', 'two\n')
  git('commit', '-qam', 'second')
  box.write('a.txt', 'three\n')
  for (const level of ['disabled', 'read-only', 'read-write'] satisfies GitLevel[]) {
    await box.runtime.openRun({ id: level, authority: { git: level } })
  }
})
afterAll(() => box.close())
afterEach(() => {
  expect(readdirSync(marks)).toEqual(['.keep'])
})

const call = (action: string, args: Record<string, unknown> = {}, run = 'read-write') =>
  box.runtime.call({ tool: 'git_ops', input: { action, args }, run })
const command = (line: string, run = 'read-write') =>
  box.runtime.call({ tool: 'run_command', input: { command: line }, run })

/** Every byte of the repository and its files. */
function snapshot(folder = box.workspace): Record<string, string> {
  const found: Record<string, string> = {}
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (path.startsWith('.kogu')) continue
    const stat = statSync(join(folder, path), { throwIfNoEntry: false })
    if (stat?.isFile()) found[path] = readFileSync(join(folder, path), 'latin1')
  }
  return found
}

const OPTIONS = [
  '--output=marks/pwned',
  '-Omarks/pwned',
  '--ext-diff',
  '--upload-pack=touch marks/pwned',
  '-f',
  '--force',
  '--no-index',
  '--exec=touch marks/pwned',
  '-c core.pager=x',
  '--git-dir=/tmp',
  '--help',
  '-',
  '--',
  'HEAD --output=marks/pwned',
  'HEAD\n--output=marks/pwned',
  'HEAD;touch marks/pwned',
  '$(touch marks/pwned)',
  '`touch marks/pwned`',
  'HEAD:.env',
  ':/first',
  'main..HEAD',
  '@{-1} --x',
  '\u0000',
  '',
]

describe('words that try to be options', () => {
  test.each(OPTIONS)('%j as a revision is refused', async word => {
    for (const [action, args] of [
      ['show', { ref: word }],
      ['log', { ref: word }],
      ['diff', { from: word }],
      ['diff', { from: 'HEAD', to: word }],
      ['blame', { ref: word, paths: ['a.txt'] }],
    ] as const) {
      const result = await call(action, args)
      expect(result.ok, `${action} ${JSON.stringify(args)}: ${result.text}`).toBe(false)
      expect(result.error?.message).not.toContain('hunter2')
    }
  })

  test.each([
    ...OPTIONS,
    'HEAD',
    '@',
    'a..b',
    'a.lock',
    'a b',
    'a~1',
    'refs/heads/x',
    '/x',
    'x/',
    'a//b',
    '.x',
    'a\u202eb',
  ])('%j as a branch is refused', async word => {
    const before = git('branch', '-a')
    for (const action of ['branch_create', 'checkout']) {
      const result = await call(action, { branch_name: word })
      expect(result.error?.code, `${action} ${word}`).toMatch(/invalid_input|failed/)
    }
    expect(git('branch', '-a')).toBe(before)
  })

  test('a path or a file that looks like an option or a pattern is a name', async () => {
    for (const word of OPTIONS.filter(option => option !== '')) {
      for (const [action, args] of [
        ['diff', { paths: [word] }],
        ['log', { paths: [word] }],
        ['blame', { paths: [word] }],
        ['add', { files: [word] }],
      ] as const) {
        const result = await call(action, args)
        expect(result.text, `${action} ${word}`).not.toContain('hunter2')
      }
    }
    expect((await call('add', { files: ['*.txt'] })).ok).toBe(false)
    expect((await call('add', { files: [':(top)a.txt'] })).ok).toBe(false)
    expect((await call('diff', { paths: ['../outside'] })).error?.message).toContain('outside the repository')
    expect(git('diff', '--cached', '--name-only')).toBe('')
  })

  test('a message may say anything and is only a message', async () => {
    const message =
      "-F/etc/passwd --amend '; touch marks/pwned; $(touch marks/pwned) `touch marks/pwned`\n\n--force"
    expect(await call('add', { files: ['a.txt'] })).toMatchObject({ ok: true })
    expect(await call('commit', { message })).toMatchObject({ ok: true, data: { success: true } })
    expect(git('log', '-1', '--format=%B').trim()).toBe(message)
    expect(git('rev-list', '--count', 'HEAD').trim()).toBe('3')
    expect((await call('commit', { message: '  ' })).error?.message).toContain('Missing commit message')
    box.write('a.txt', 'four\n')
  })

  test('there is no push, and no option that would force one', async () => {
    for (const action of [
      'push',
      'fetch',
      'pull',
      'reset',
      'clean',
      'config',
      'submodule',
      '__proto__',
      'toString',
    ]) {
      expect((await call(action)).error?.message, action).toContain(`Unknown git action: ${action}`)
    }
    expect((await call('checkout', { branch_name: 'main', force: true })).error?.code).toBe('invalid_input')
  })
})

describe('a hostile repository', () => {
  const touch = (name: string): string => `touch ${join(marks, name)}; cat`
  beforeAll(() => {
    const script = join(box.workspace, '.git', 'evil.sh')
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`)
    writeFileSync(script, `#!/bin/sh\ntouch ${join(marks, 'script')}\ncat\n`)
    chmodSync(script, 0o755)
    writeFileSync(join(box.workspace, '.git', 'included'), `[core]\n\tfsmonitor = ${script}\n`)
    writeFileSync(join(box.home, '.netrc'), 'TOPSECRET=1\n')
    const config = `
[core]
	fsmonitor = ${script}
	hooksPath = .git/own-hooks
	pager = ${touch('pager')}
	editor = ${script}
	sshCommand = ${script}
	gitProxy = ${script}
	askPass = ${script}
	attributesFile = .git/attributes
	alternateRefsCommand = ${script}
[include]
	path = included
[diff]
	external = ${script}
	orderFile = .git/order
[diff "evil"]
	command = ${script}
	textconv = ${script}
[filter "evil"]
	clean = ${touch('clean')}
	smudge = ${touch('smudge')}
	process = ${script}
	required = true
[filter "Evil.Dotted"]
	clean = ${touch('dotted')}
	required = true
[merge "evil"]
	driver = ${script}
[alias]
	status = !${script}
	log = !${script}
[pager]
	log = ${script}
	diff = ${script}
[gpg]
	program = ${script}
[log]
	showSignature = true
[credential]
	helper = !${script}
[protocol "ext"]
	allow = always
[remote "origin"]
	url = ext::${script}
	promisor = true
	partialclonefilter = blob:none
[extensions]
	partialClone = origin
[blame]
	ignoreRevsFile = ${join(box.home, '.netrc')}
[interactive]
	diffFilter = ${script}
[sequence]
	editor = ${script}
[uploadpack]
	packObjectsHook = ${script}
[format]
	pretty = "%G? %GK"
[submodule]
	recurse = true
[status]
	submoduleSummary = true
[color]
	ui = always
[trace2]
	eventTarget = ${join(marks, 'trace')}
`
    const path = join(box.workspace, '.git', 'config')
    writeFileSync(path, readFileSync(path, 'utf8') + config)
    box.write('.gitattributes', '*.txt filter=evil diff=evil merge=evil\n*.md filter=Evil.Dotted\n')
    box.write('b.md', 'x\n')
    writeFileSync(join(box.workspace, '.git', 'attributes'), '* filter=evil diff=evil\n')
    mkdirSync(join(box.workspace, '.git', 'own-hooks'))
    for (const folder of ['hooks', 'own-hooks']) {
      mkdirSync(join(box.workspace, '.git', folder), { recursive: true })
      for (const hook of [
        'post-index-change',
        'fsmonitor-watchman',
        'post-checkout',
        'reference-transaction',
        'pre-auto-gc',
      ]) {
        writeFileSync(join(box.workspace, '.git', folder, hook), `#!/bin/sh\ntouch ${join(marks, hook)}\n`, {
          mode: 0o755,
        })
      }
    }
    const inner = join(box.workspace, 'sub')
    mkdirSync(inner)
    execFileSync('git', ['init', '-q'], { cwd: inner })
    writeFileSync(
      join(inner, '.git', 'config'),
      `[core]\n\tfsmonitor = ${script}\n[diff]\n\texternal = ${script}\n`,
    )
    writeFileSync(join(inner, 'file'), 'x\n')
    box.write(
      '.gitmodules',
      `[submodule "sub"]\n\tpath = sub\n\turl = ext::${script}\n\tupdate = !${script}\n\tignore = none\n`,
    )
    for (const name of ['--output=x', '$(touch marks/pwned)', 'a\nb.txt', '-rf', '\u001b[2Jclear'])
      box.write(name, 'x\n')
    for (const mark of readdirSync(marks))
      if (mark !== '.keep') throw new Error(`set up by an attack: ${mark}`)
  })

  test.each(['status', 'diff', 'log', 'show', 'branch_list', 'stash_list', 'blame'])(
    '%s starts nothing and writes nothing at any level that allows it',
    async action => {
      for (const run of ['read-only', 'read-write']) {
        const before = snapshot()
        for (const args of [
          {},
          { paths: ['a.txt'] },
          { ref: 'HEAD~1', paths: ['a.txt'] },
          { staged: true },
        ]) {
          const result = await call(action, args, run)
          if (action !== 'blame') expect(result, result.text).toMatchObject({ ok: true })
          expect(result.text).not.toContain('TOPSECRET')
          expect(result.text).not.toContain('hunter2')
          expect(result.text).not.toContain('\u001b')
        }
        expect(snapshot()).toEqual(before)
      }
    },
  )

  test('what it says is right all the same', async () => {
    const { data } = await call('status')
    const { files } = data as { files: { path: string; worktree: string }[] }
    expect(files).toContainEqual({ path: 'a.txt', index: ' ', worktree: 'M' })
    expect(files.map(({ path }) => path)).toContain('a\nb.txt')
    const diff = await call('diff', { paths: ['a.txt'] })
    expect(diff.data).toMatchObject({
      files: [{ path: 'a.txt', additions: 1, deletions: 1, hunks: [{ old_start: 1, new_start: 1 }] }],
    })
  })

  test.each([
    'git status',
    'git diff',
    'git log -3',
    'git show --stat',
    'git blame a.txt',
    'git stash list',
    'git branch -a',
  ])('`%s` below ReadWrite starts nothing and writes nothing', async line => {
    const before = snapshot()
    // A line that could start filters asks; nobody may be asked in this run.
    const { id } = await box.runtime.openRun({ authority: { git: 'read-only', mode: 'auto' } })
    await command(line, id)
    expect(snapshot()).toEqual(before)
  })

  test('a work tree or a repository elsewhere is not followed', async () => {
    const secret = join(box.home, 'secret')
    mkdirSync(secret)
    writeFileSync(join(secret, 'a.txt'), 'OUTSIDE\n')
    git('-c', 'core.fsmonitor=false', 'config', 'core.worktree', secret)
    const result = await call('diff')
    expect(result.text).not.toContain('OUTSIDE')
    git('-c', 'core.fsmonitor=false', 'config', '--unset', 'core.worktree')
  })
})

describe('the level of the run', () => {
  test('disabled: nothing of git, by either way', async () => {
    for (const action of ['status', 'log']) {
      expect((await call(action, {}, 'disabled')).error).toMatchObject({
        code: 'forbidden',
        message: 'Git operations are disabled.',
      })
    }
    for (const line of [
      'git status',
      'git --version',
      '/usr/bin/git log',
      'env git status',
      'echo a; git status',
      'true && (git log)',
    ]) {
      expect((await command(line, 'disabled')).error?.message, line).toBe('Git operations are disabled.')
    }
  })

  test('read-only: actions that write are refused with their name', async () => {
    const before = snapshot()
    for (const [action, args] of [
      ['add', { files: ['a.txt'] }],
      ['commit', { message: 'x' }],
      ['branch_create', { branch_name: 'x' }],
      ['checkout', { branch_name: 'main' }],
    ] as const) {
      const result = await call(action, args, 'read-only')
      expect(result.error?.code).toBe('forbidden')
      expect(result.error?.message).toMatch(
        /^Git write action '\w+' requires ReadWrite permission. Current: ReadOnly$/,
      )
    }
    expect(snapshot()).toEqual(before)
  })

  test.each([
    'git commit -am x',
    'git push',
    'git -C . push',
    'git --no-pager push origin main',
    'git -c a.b=c commit -m x',
    '/usr/bin/git add a.txt',
    'command git add a.txt',
    'env A=b git stash',
    'nice git checkout main',
    'bash -c "git add a.txt"',
    "sh -c 'git reset --hard'",
    'echo a.txt | xargs git add',
    'find . -maxdepth 1 -name a.txt -exec git add {} +',
    'true; git tag v1',
    '(git branch x)',
    'git log --output=marks/pwned',
    'git diff --ext-diff',
    'git config user.name x',
    'git gc',
    '/usr/lib/git-core/git-commit -m x',
    'timeout 5 git update-ref refs/heads/x HEAD',
    'g=git; git update-index --refresh',
  ])('read-only: `%s` is refused whoever would approve it', async line => {
    const before = snapshot()
    const result = await command(line, 'read-only')
    expect(result.error?.code, result.text).toBe('forbidden')
    expect(result.error?.message).toContain('requires ReadWrite permission')
    expect(snapshot()).toEqual(before)
  })

  test.each([
    "python3 -c \"import subprocess; subprocess.run(['git','-c','core.fsmonitor=false','-c','core.hooksPath=/dev/null','tag','hidden'])\"",
    'x=gi; "$x"t -c core.fsmonitor=false -c core.hooksPath=/dev/null tag hidden',
    'echo "git -c core.fsmonitor=false -c core.hooksPath=/dev/null tag hidden" > marks/../s.sh; sh s.sh',
  ])('read-only: git that the words do not show changes no repository: `%s`', async line => {
    const tags = readdirSync(join(box.workspace, '.git', 'refs', 'tags'))
    await command(line, 'read-only')
    expect(readdirSync(join(box.workspace, '.git', 'refs', 'tags'))).toEqual(tags)
  })

  test('an agent has read-only unless it is set, a person read-write', async () => {
    await box.runtime.openRun({ id: 'agent', authority: { agent: 'helper', tools: 'all' } })
    expect((await call('commit', { message: 'x' }, 'agent')).error?.code).toBe('forbidden')
    const judged = await box.runtime.explain({
      tool: 'git_ops',
      input: { action: 'commit', args: { message: 'x' } },
    })
    expect(judged.decision).toBe('ask')
  })

  test('read-write: a push asks as dangerous each time, whatever rules and grants say', async () => {
    const allowing = await openTestRuntime(
      '[[permissions.rules]]\ndecision = "allow"\ncommand = ["git", "**"]\n',
    )
    for (const line of ['git push', 'git push --force origin main', 'git -C . push', 'true && git push']) {
      const { decision } = await allowing.runtime.explain({ tool: 'run_command', input: { command: line } })
      expect(decision, line).toBe('ask')
    }
    const { decision } = await allowing.runtime.explain({
      tool: 'run_command',
      input: { command: 'git commit -m x' },
    })
    expect(decision).toBe('allow')
    await allowing.close()
  })
})

test('a repository through a link to one that may not be read stays closed', async () => {
  const other = await openTestRuntime('[[permissions.rules]]\ndecision = "deny"\npath = ["~/private/**"]\n')
  mkdirSync(join(other.home, 'private'))
  execFileSync('git', ['init', '-q', join(other.home, 'private')])
  symlinkSync(join(other.home, 'private', '.git'), join(other.workspace, '.git'))
  expect((await other.runtime.call({ tool: 'git_ops', input: { action: 'log' } })).error?.code).toBe(
    'forbidden',
  )
  expect(existsSync(join(other.workspace, '.git'))).toBe(true)
  await other.close()
})

test('a further working tree of a repository elsewhere is looked at', async () => {
  const other = await openTestRuntime()
  const main = join(other.home, 'main')
  const run = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=K', '-c', 'user.email=k@site.test', ...args], { encoding: 'utf8' })
  run('init', '-q', main)
  run('-C', main, 'commit', '-q', '--allow-empty', '-m', 'first')
  run('-C', main, 'worktree', 'add', '-q', join(other.workspace, 'tree'))
  const result = await other.runtime.call({ tool: 'git_ops', input: { action: 'log' }, cwd: 'tree' })
  expect(result.text).toContain('first')
  await other.close()
})

// Behind walls nothing can leave a mark, so what a program prints is the mark.
describe('a program that shows itself by what it prints', () => {
  const config = (): string => join(box.workspace, '.git', 'config')
  let before: string
  beforeAll(() => {
    before = readFileSync(config(), 'utf8')
    const script = join(box.workspace, '.git', 'shout.sh')
    writeFileSync(script, '#!/bin/sh\necho CONVERTED\n', { mode: 0o755 })
    box.write('.gitattributes', '*.txt diff=shout filter=last\n')
    writeFileSync(config(), `[user]\n\tname = Kim\n[diff "shout"]\n\ttextconv = ${script}\n`)
  })
  afterAll(() => writeFileSync(config(), before))

  test.each(['diff', 'log', 'show', 'blame'])('%s shows files as they are', async action => {
    const result = await call(action, { paths: ['a.txt'] })
    expect([result.error?.message, result.text]).toEqual([
      undefined,
      expect.not.stringContaining('CONVERTED'),
    ])
  })

  test('settings that are too many to be looked at are no way to hide a filter behind', async () => {
    const many = `[pad]\n${Array.from({ length: 3_000 }, (_, i) => `\tk${i}${'x'.repeat(400)} = 1\n`).join('')}`
    writeFileSync(config(), `${many}[filter "last"]\n\tclean = echo CONVERTED\n`)
    for (const action of ['status', 'diff']) {
      const result = await call(action)
      expect([action, result.ok, result.text]).toEqual([
        action,
        false,
        expect.not.stringContaining('CONVERTED'),
      ])
    }
  })
})
