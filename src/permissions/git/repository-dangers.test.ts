import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Access } from '../../core/access.ts'
import type { Judgement, Mode } from '../../core/decision.ts'
import { analyzeCommand } from '../commands/analyze.ts'
import { createTestEngine, type TestEngine } from '../testing.ts'

// What a repository of the clone, or the settings of the person's own, make git run or print.

const ALLOW_GIT = { decision: 'allow' as const, command: ['git', ['add', 'commit'], '**'] }

function openEngine(mode: Mode = 'ask'): TestEngine & { git(...args: string[]): void } {
  const made = createTestEngine([ALLOW_GIT], { mode })
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: made.workspace })
  git('init', '-q')
  return { ...made, git }
}

function judge({ engine, request }: TestEngine, tool: string, access: Access): Judgement {
  const judgement = engine.judge(request(tool, access))
  if (judgement instanceof Promise) throw new Error('judging is synchronous')
  return judgement
}

const line = (box: TestEngine, command: string): Judgement =>
  judge(box, 'run_command', { kind: 'execute', command })
const write = (box: TestEngine, path: string): string =>
  judge(box, 'write_file', { kind: 'file_write', path }).decision.outcome

function file(box: TestEngine, path: string, text = ''): void {
  mkdirSync(dirname(join(box.workspace, path)), { recursive: true })
  writeFileSync(join(box.workspace, path), text)
}

describe('a rule that allows git', () => {
  test('covers an ordinary line in an ordinary repository', () => {
    const box = openEngine()
    for (const command of ['git add f', "git commit -m 'Explain .env'", 'git add . && git commit -m x'])
      expect(line(box, command).decision.outcome, command).toBe('allow')
  })

  test.each([
    ['core.fsmonitor', './mon.sh'],
    ['core.hooksPath', 'hooks'],
    ['filter.x.clean', './x'],
    ['include.path', '../more'],
    ['gpg.program', './gpg'],
    ['gc.recentObjectsHook', './x'],
  ])('does not cover what a repository inside the workspace starts by %s', (key, value) => {
    const box = openEngine()
    box.git('init', '-q', 'vendor/x')
    file(box, 'vendor/more')
    expect(line(box, 'cd vendor/x && git add f').decision.outcome).toBe('allow')
    box.git('-C', 'vendor/x', 'config', key, value)
    for (const command of ['cd vendor/x && git add f', 'cd vendor && cd x && git commit -m x']) {
      const { decision } = line(box, command)
      expect(decision.outcome, command).toBe('ask')
      expect(decision.reason).toContain(`vendor/x has \`${key.toLowerCase()}\``)
    }
    expect(line(box, 'git add f').decision.outcome).toBe('allow')
  })

  test('does not cover a folder that only a link leads to', () => {
    const box = openEngine()
    box.git('init', '-q', 'vendor/x')
    box.git('-C', 'vendor/x', 'config', 'core.fsmonitor', './mon.sh')
    file(box, 'vendor/x/deep/er/f')
    symlinkSync('vendor/x/deep/er', join(box.workspace, 'link'))
    for (const command of [
      'cd -P link/.. && git add f',
      'cd -LP link/.. && git add f',
      'cd -P link && cd .. && git add f',
      'cd link && cd -P -- .. && git add f',
    ])
      expect(line(box, command).decision.outcome, command).toBe('ask')
    // Without `-P` a shell goes back to where it came from; git never does.
    expect(line(box, 'cd link/.. && git add f').decision.outcome).toBe('allow')
    for (const command of ['git -C link/.. log -p', 'git -C link -C .. show', 'cd $X && git -C x status']) {
      const { plan, unresolved } = analyzeCommand(command, { ...box, cwd: box.workspace, home: '/home/kim' })
      expect([command, plan, unresolved]).toEqual([command, null, true])
    }
    expect(line(box, 'git -C .. status').permit.command?.plan).not.toBeNull()
    expect(line(box, 'git -C vendor -C x status').permit.command?.plan).not.toBeNull()
  })

  test('does not cover hooks, unless they were approved once', async () => {
    const box = openEngine()
    file(box, '.git/hooks/pre-commit', '#!/bin/sh\n')
    const request = box.request('run_command', { kind: 'execute', command: 'git commit -m x' })
    const asked = await box.engine.judge(request)
    expect(asked.decision.outcome).toBe('ask')
    const wide = asked.preview?.grants.at(-1)
    await box.engine.settle(request, asked, { kind: 'permanent', user: 'kim', grant: wide?.id ?? '' })
    expect(line(box, "git commit -m 'Another one'").decision.outcome).toBe('allow')
  })

  test('does not cover a folder that merely looks like a repository, and git is told so too', () => {
    const box = openEngine()
    for (const path of ['docs/HEAD', 'docs/objects/x', 'docs/refs/x'])
      file(box, path, 'ref: refs/heads/main\n')
    expect(line(box, 'cd docs && git add f').decision.outcome).toBe('ask')
    expect(line(box, 'git add f').permit.command?.unasked).toBe(true)
  })

  test.each([
    'git commit -F .env',
    'git commit -F.env',
    'git commit -aF .env',
    'git commit --file=.env',
    'git commit --fil .env',
    'git commit --pathspec-from-file=.env',
    'git commit --pathspec-from .env',
    'git commit -t .env',
    'git commit --template=sub/.env.local',
    "git commit -F 'my server.key'",
    'git commit .env',
    'git commit -m x -- .env',
    'git add --pathspec-from-file=.env',
    'git add .env',
  ])('does not cover the secrets that git would print or take in: %s', command => {
    expect(line(openEngine(), command).decision.outcome).toBe('ask')
  })
})

test.each([
  'git cat-file -p HEAD:.env',
  'git cat-file -p stash^3:secrets/k.pem',
  'git archive HEAD:.ssh',
  'git merge-file -p a b HEAD:.env',
  'git -C sub cat-file blob main:.env',
  'git checkout main:.env',
])('a path of a revision is a read in every subcommand: %s', command => {
  const { access } = line(openEngine(), command)
  expect(access.filter(({ kind }) => kind === 'file_read')).toContainEqual({
    kind: 'file_read',
    path: expect.stringMatching(/\/(\.env|secrets\/k\.pem|\.ssh)$/),
  })
})

test('a sensitive file of long ago asks once by its name; another one asks again', async () => {
  const box = openEngine()
  const commit = (): void => {
    box.git('add', '-A')
    box.git('-c', 'user.name=Kim', '-c', 'user.email=kim@site.test', 'commit', '-qm', 'x')
  }
  file(box, 'a.txt', 'one\n')
  file(box, '.env', 'KEY=1\n')
  commit()
  rmSync(join(box.workspace, '.env'))
  commit()
  const request = box.request('run_command', { kind: 'execute', command: 'git log -p' })
  const asked = await box.engine.judge(request)
  expect(asked.decision).toMatchObject({ outcome: 'ask' })
  expect(asked.decision.reason).toContain(join(box.workspace, '.env'))
  for (const command of [
    'git diff',
    'git log -p -- a.txt',
    'git log --stat',
    'git show HEAD:a.txt',
    'git status',
  ])
    expect(line(box, command).decision.outcome, command).toBe('allow')
  const wide = asked.preview?.grants.at(-1)
  await box.engine.settle(request, asked, { kind: 'permanent', user: 'kim', grant: wide?.id ?? '' })
  for (const command of ['git log -p', 'git show HEAD', 'git diff HEAD~1'])
    expect(line(box, command).decision.outcome, command).toBe('allow')
  file(box, 'server.key', 'x')
  commit()
  expect(line(box, 'git log -p').decision.outcome).toBe('ask')
})

describe('files that the settings of git name', () => {
  test.each([
    ['core.hooksPath', 'scripts/hooks', 'scripts/hooks/pre-commit'],
    ['core.hooksPath', './scripts/hooks/', 'scripts/Hooks/commit-msg'],
    ['core.fsmonitor', 'tools/mon.sh', 'tools/mon.sh'],
    ['core.fsmonitor', 'node tools/mon.js --fast', 'tools/mon.js'],
    ['merge.x.driver', '"$(git rev-parse --show-toplevel)/tools/m.sh" %A', 'tools/m.sh'],
    ['filter.x.process', '$PWD/tools/p', 'tools/p'],
    ['include.path', '../shared.gitconfig', 'shared.gitconfig'],
    ['includeIf.gitdir:/x/.path', '../other.gitconfig', 'other.gitconfig'],
    ['filter.x.clean', 'tools/clean %f', 'tools/clean'],
    ['filter.x.process', "sh -c 'exec tools/long'", 'tools/long'],
    ['merge.x.driver', 'tools/merge %A %O', 'tools/merge'],
    ['diff.x.textconv', 'tools/text', 'tools/text'],
    ['diff.external', 'tools/diff', 'tools/diff'],
    ['alias.st', '!tools/st', 'tools/st'],
    ['sequence.editor', 'tools/seq', 'tools/seq'],
    ['gpg.program', 'tools/gpg', 'tools/gpg'],
    ['gpg.ssh.program', 'tools/gpg', 'tools/gpg'],
    ['credential.helper', '!tools/key', 'tools/key'],
    ['core.editor', 'tools/edit', 'tools/edit'],
    ['core.attributesFile', 'tools/attributes', 'tools/attributes'],
    ['init.templateDir', 'tools/template', 'tools/template/hooks/post-checkout'],
    ['a.setting.thatcomeslater', 'tools/later', 'tools/later'],
  ])('%s = %s makes %s one that a person approves', (key, value, path) => {
    const box = openEngine('accept-edits')
    expect(write(box, path)).toBe('allow')
    box.git('config', key, value)
    expect(write(box, path)).toBe('ask')
    expect(write(box, 'src/main.ts')).toBe('allow')
    const guarded = line(box, 'npm test').permit.isGuarded
    expect(guarded?.(join(box.workspace, path))).toBe(true)
    expect(guarded?.(join(box.workspace, 'src/main.ts'))).toBe(false)
  })

  test('count when an included file, a nested repository, a linked hook or the person names them', () => {
    const home = mkdtempSync(join(tmpdir(), 'kogu-home-'))
    const made = createTestEngine([], { mode: 'accept-edits', home })
    const git = (...args: string[]): void => void execFileSync('git', args, { cwd: made.workspace })
    git('init', '-q')
    git('init', '-q', 'lib')
    expect(['a/run', 'lib/run', 'ci/hook.sh', 'mine/pre-push', 'b'].map(path => write(made, path))).toEqual(
      Array(5).fill('allow'),
    )
    file(made, 'more.gitconfig', '[core]\n\tfsmonitor = a/run\n')
    git('config', 'include.path', '../more.gitconfig')
    git('-C', 'lib', 'config', 'core.fsmonitor', './run')
    symlinkSync('../../ci/hook.sh', join(made.workspace, '.git/hooks/pre-commit'))
    writeFileSync(join(home, '.gitconfig'), '[core]\n\thooksPath = mine\n')
    // A context belongs to one call, so that the next one sees what is there now.
    expect(['a/run', 'lib/run', 'ci/hook.sh', 'mine/pre-push', 'b'].map(path => write(made, path))).toEqual([
      'ask',
      'ask',
      'ask',
      'ask',
      'allow',
    ])
  })

  test('settings that run nothing make no file special', () => {
    const box = openEngine('accept-edits')
    for (const [key, value] of [
      ['core.fsmonitor', 'true'],
      ['user.name', 'src'],
      ['remote.origin.url', './src'],
      ['branch.main.remote', 'src'],
    ] as const)
      box.git('config', key, value)
    expect(write(box, 'src/main.ts')).toBe('allow')
    expect(write(box, 'src')).toBe('allow')
  })
})
