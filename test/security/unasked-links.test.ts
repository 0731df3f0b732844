import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { folderOutsideTmp } from '../support/outside-tmp.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'
import { noSandbox } from '../support/skips.ts'

// Secrets outside the workspace, reached by lines that run unasked: through links, through git, by folders that are not
// what their words say. Whatever a line is judged to read, the wall shows it no more than may be read unasked.

const SECRET = 'SECRET-OUTSIDE'

const temporary = process.env.TMPDIR
const here = mkdtempSync(join(folderOutsideTmp(), 'kogu-test-'))
beforeAll(() => {
  process.env.TMPDIR = here
})
afterAll(() => {
  if (temporary === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = temporary
  rmSync(here, { recursive: true, force: true })
})

let box: TestRuntime
let outside: string
beforeEach(async () => {
  box = await openTestRuntime()
  outside = mkdtempSync(join(here, 'outside-'))
  put('.env', `${SECRET}\n`)
  put('notes.txt', 'plain words\n')
  put('deep/.env.local', `${SECRET}\n`)
  box.write('main.txt', 'plain words\n')
})
afterEach(() => box.close())

function put(path: string, text: string): void {
  mkdirSync(dirname(join(outside, path)), { recursive: true })
  writeFileSync(join(outside, path), text)
}

function link(name: string, target: string): void {
  symlinkSync(target, join(box.workspace, name))
}

function git(cwd: string, ...args: string[]): void {
  const env = { PATH: process.env.PATH, HOME: box.home, GIT_CONFIG_NOSYSTEM: '1' }
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main']
  const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd, env })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}

function repositoryOutside(): void {
  git(outside, 'init', '-q')
  git(outside, 'add', '-f', '.')
  git(outside, 'commit', '-q', '-m', 'one')
}

interface Ran {
  text: string
  asked: boolean
}

async function run(command: string, more: Record<string, unknown> = {}): Promise<Ran> {
  const { text, error, decision } = await box.runtime.call({
    tool: 'run_command',
    input: { command, ...more },
  })
  return { text: `${text}${error?.message ?? ''}`, asked: decision.outcome !== 'allow' }
}

describe.skipIf(noSandbox !== '')(`through a link in the workspace${noSandbox}`, () => {
  test.each([
    'grep -r . docs/',
    'grep -rh . docs',
    'grep -R . .',
    'grep -Rn SECRET',
    'find docs/ -type f -exec cat {} +',
    'find -L . -type f -exec cat {} +',
    'find docs/ -exec cat {} +',
    'cat docs/* docs/.*',
    'head -n 5 docs/deep/.e*',
    'cat main.txt docs/.env',
    'sort < docs/.env',
    'diff -r docs docs/deep',
    'wc -c docs/.env',
    'git diff --no-index main.txt docs',
    'git grep --no-index SECRET docs',
  ])('%s', async line => {
    link('docs', outside)
    expect((await run(line)).text).not.toContain(SECRET)
  })

  test('what is not secret there is read as ever', async () => {
    link('docs', outside)
    expect(await run('grep -rh words docs/')).toEqual({
      text: expect.stringContaining('plain words'),
      asked: false,
    })
    expect(await run(`cat ${join(outside, 'notes.txt')}`)).toEqual({
      text: expect.stringContaining('plain words'),
      asked: false,
    })
    expect((await run(`ls -a ${outside}`)).text).toContain('.env')
  })

  test('a link to a file of another name', async () => {
    link('readme.txt', join(outside, '.env'))
    for (const line of ['cat readme.txt', 'cat *', 'grep . *.txt', 'grep -R . .', 'tail -n 1 readme.txt']) {
      expect((await run(line)).text, line).not.toContain(SECRET)
    }
  })

  test('the working folder of the call', async () => {
    link('docs', outside)
    for (const command of ['grep -r .', 'cat .env', 'cat *', 'git grep --no-index SECRET']) {
      const { text, asked } = await run(command, { working_dir: 'docs' })
      expect(text, command).not.toContain(SECRET)
      expect(text, command).toMatch(/inside the workspace/)
      expect(asked).toBe(true)
    }
  })

  test('a chain of links, and a link within what is named', async () => {
    symlinkSync(outside, join(box.home, 'hop'))
    link('docs', '../hop')
    mkdirSync(join(box.home, 'shared'))
    writeFileSync(join(box.home, 'shared/a.txt'), 'plain words\n')
    symlinkSync(outside, join(box.home, 'shared/more'))
    for (const line of ['grep -r . docs/', 'grep -R . ../shared', 'cd .. && grep -R . shared']) {
      expect((await run(line)).text, line).not.toContain(SECRET)
    }
  })
})

describe.skipIf(noSandbox !== '')(`through git${noSandbox}`, () => {
  test.each(['git diff ../a ../b', 'git diff --stat -p ../a ../b', 'git diff -- ../a ../b', 'git diff .. .'])(
    'folders outside are compared as they may be read: %s',
    async line => {
      for (const [name, text] of [
        ['a', 'one'],
        ['b', SECRET],
      ] as const) {
        mkdirSync(join(box.home, name))
        writeFileSync(join(box.home, name, '.env'), `${text}\n`)
      }
      expect((await run(line)).text).not.toContain(SECRET)
      git(box.workspace, 'init', '-q')
      expect((await run(line)).text).not.toContain(SECRET)
    },
  )

  test.each(['git -C docs log -p', 'git -C docs/deep show HEAD', 'git -C docs grep -h SECRET HEAD'])(
    'a folder that is a link leads to the repository that is really there: %s',
    async line => {
      repositoryOutside()
      link('docs', outside)
      git(box.workspace, 'init', '-q')
      expect((await run(line)).text).not.toContain(SECRET)
      await box.close()
      box = await openTestRuntime()
      link('docs', join(outside, 'deep'))
      expect((await run('git -C docs log -p')).text).not.toContain(SECRET)
    },
  )

  test.each([
    'git log -p',
    'git show',
    'git show HEAD:.env',
    'git grep -h SECRET HEAD',
    'git cat-file -p HEAD:.env',
  ])('.git as a link, and as a file that leads elsewhere: %s', async line => {
    repositoryOutside()
    link('.git', join(outside, '.git'))
    expect((await run(line)).text).not.toContain(SECRET)
    rmSync(join(box.workspace, '.git'))
    box.write('.git', `gitdir: ${join(outside, '.git')}\n`)
    expect((await run(line)).text).not.toContain(SECRET)
    rmSync(join(box.workspace, '.git'))
    mkdirSync(join(box.workspace, 'sub'))
    symlinkSync(join(outside, '.git'), join(box.workspace, 'sub/.git'))
    expect((await run(`cd sub && ${line}`)).text).not.toContain(SECRET)
  })

  test('objects that are borrowed from another repository', async () => {
    repositoryOutside()
    const tree = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: outside }).stdout.toString().trim()
    git(box.workspace, 'init', '-q')
    box.write('.git/objects/info/alternates', `${join(outside, '.git/objects')}\n`)
    for (const line of [`git show ${tree}`, `git cat-file -p ${tree}:.env`, `git log -p ${tree}`]) {
      expect((await run(line)).text, line).not.toContain(SECRET)
    }
  })

  test('a working tree of a repository elsewhere goes on working', async () => {
    git(box.home, 'init', '-q', 'repo')
    writeFileSync(join(box.home, 'repo/a.txt'), 'one\n')
    git(join(box.home, 'repo'), 'add', '.')
    git(join(box.home, 'repo'), 'commit', '-q', '-m', 'first words')
    rmSync(box.workspace, { recursive: true })
    git(join(box.home, 'repo'), 'worktree', 'add', '-q', box.workspace)
    expect(await run('git log -p')).toEqual({ text: expect.stringContaining('first words'), asked: false })
    expect(await run('git status --short')).toEqual({
      text: expect.stringContaining('no output'),
      asked: false,
    })
  })
})

describe.skipIf(noSandbox !== '')(`the undo store of another workspace${noSandbox}`, () => {
  test.each([
    'ls -R ../other/.kogu',
    'find ../other',
    'find ../other -name "*.blob"',
    'ls -aR ..',
    'du -a ../other',
  ])('is not listed: %s', async line => {
    mkdirSync(join(box.home, 'other/.kogu/undo'), { recursive: true })
    writeFileSync(join(box.home, 'other/.kogu/undo/0123.blob'), SECRET)
    expect((await run(line)).text).not.toContain('0123')
  })
})
