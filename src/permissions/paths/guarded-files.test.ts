import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { analyzeCommand } from '../commands/analyze.ts'
import { isGuarded, isOnlyGit } from './guarded-files.ts'
import { analyzePath, SENSITIVE_TO_WRITE } from './paths.ts'

const context = { home: '/home/kim', workspace: '/home/kim/shop' }
const analysisOf = (line: string) => analyzeCommand(line, { cwd: context.workspace, ...context })
const guards = (path: string) => isGuarded(`${context.workspace}/${path}`, context)
const isGitAlone = (line: string) => isOnlyGit(analysisOf(line), line)

const RUN = [
  '.husky/pre-commit',
  '.husky/_/h',
  '.githooks/pre-push',
  'lefthook.yml',
  '.lefthook-local.toml',
  '.pre-commit-config.yaml',
  '.overcommit.yml',
  '.devcontainer/devcontainer.json',
  '.devcontainer.json',
  'app/shop.code-workspace',
  'shop.sublime-project',
  'mise.toml',
  '.mise.local.toml',
  '.config/mise/config.toml',
  'mcp.json',
  '.HUSKY/pre-commit',
]

test.each(RUN)('a tool runs %s by itself: writing asks, and no program leaves it behind', path => {
  expect(analyzePath(`${context.workspace}/${path}`, context).sensitivity).toBeGreaterThanOrEqual(
    SENSITIVE_TO_WRITE,
  )
  expect(guards(path)).toBe(true)
})

test.each([
  'package.json',
  '.github/workflows/ci.yml',
  'Makefile',
  'eslint.config.js',
  'promise.toml',
  'src/husky/x',
  'node_modules/x/.husky/pre-commit',
  '.gitmodules',
])('%s is the business of whoever runs it', path => {
  expect(guards(path)).toBe(false)
})

describe('git brings such files along when the line shows that it is git', () => {
  test.each([
    'git pull',
    'git clone https://example.com/a.git',
    'git switch topic && git status',
    'git merge --no-ff topic',
    'git reset -q --hard HEAD~1',
  ])('%s', line => {
    expect(isGitAlone(line)).toBe(true)
  })

  test.each([
    'git pull && npm test',
    'git checkout main; bash x.sh',
    'git -c core.fsmonitor=x checkout main',
    'git rebase -x ./x main',
    'git rebase --exec=./x main',
    'git submodule foreach ./x',
    'git clone --upload-pack=./x . y',
    'git clone -u ./x . y',
    'git bisect run ./x',
    'git difftool -x ./x',
    'git filter-branch --tree-filter ./x',
    'git st',
    'git pull $X',
    'git commit -m x',
    'git apply p.patch',
    'git am p.patch',
    'git mv payload.json .mcp.json',
    'git clone --u=./evil ./. d',
    'git cherry-pick --strategy=x/../evil topic',
    'git merge -s x/../evil topic',
    'PATH=./bin:$PATH git pull',
    'GIT_SSH_COMMAND=./bin/git git fetch ssh://x.example/y',
    'git -C sub checkout main',
    'git submodule update --init',
  ])('not in %s', line => {
    expect(isGitAlone(line)).toBe(false)
  })

  test('nor where the repository runs programs of its own on the way', () => {
    const workspace = mkdtempSync(join(tmpdir(), 'kogu-guarded-'))
    const isAlone = (line = 'git pull') =>
      isOnlyGit(analyzeCommand(line, { home: '/home/kim', cwd: workspace, workspace }), line)
    mkdirSync(join(workspace, '.git/hooks'), { recursive: true })
    writeFileSync(join(workspace, '.git/hooks/pre-push.sample'), '')
    writeFileSync(join(workspace, '.git/config'), '[core]\n\tbare = false\n')
    expect(isAlone()).toBe(true)
    for (const path of ['docs/objects', 'docs/refs', 'sub'])
      mkdirSync(join(workspace, path), { recursive: true })
    writeFileSync(join(workspace, 'docs/HEAD'), 'ref: refs/heads/main\n')
    expect(isAlone('cd sub && git pull')).toBe(true)
    expect(isAlone('cd docs && git pull')).toBe(false)
    symlinkSync('../docs', join(workspace, 'sub/.git'))
    expect(isAlone('cd sub && git pull')).toBe(false)
    writeFileSync(join(workspace, '.git/config'), '[core]\n\thooksPath = .husky\n')
    expect(isAlone()).toBe(false)
    writeFileSync(join(workspace, '.git/config'), '[filter "x"]\n\tsmudge = ./x\n')
    expect(isAlone()).toBe(false)
    writeFileSync(join(workspace, '.git/config'), '')
    writeFileSync(join(workspace, '.git/hooks/post-merge'), '')
    expect(isAlone()).toBe(false)
    rmSync(workspace, { recursive: true })
  })
})
