import { describe, expect, test } from 'vitest'
import { analyzeCommand } from './commands/analyze.ts'
import { isGuarded } from './guarded-files.ts'
import { analyzePath, SENSITIVE_TO_WRITE } from './paths.ts'

const context = { home: '/home/kim', workspace: '/home/kim/shop' }
const analysisOf = (line: string) => analyzeCommand(line, { cwd: context.workspace, ...context })
const guards = (line: string, path: string) =>
  isGuarded(`${context.workspace}/${path}`, context, analysisOf(line))

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
  expect(guards('npm test', path)).toBe(true)
})

test.each([
  'package.json',
  '.github/workflows/ci.yml',
  'Makefile',
  'eslint.config.js',
  'promise.toml',
  'src/husky/x',
  'node_modules/x/.husky/pre-commit',
  '.yarnrc.yml',
  '.gitmodules',
])('%s is the business of whoever runs it', path => {
  expect(guards('npm test', path)).toBe(false)
})

describe('git brings such files along when the line shows that it is git', () => {
  test.each([
    'git pull',
    'git clone https://example.com/a.git',
    'git -C sub checkout main',
    'git switch -c topic && git status',
    'git stash pop; git rebase main',
    'git submodule update --init',
  ])('%s', line => {
    expect(guards(line, '.husky/pre-commit')).toBe(false)
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
  ])('not in %s', line => {
    expect(guards(line, '.husky/pre-commit')).toBe(true)
  })
})
