import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'
import { noSandbox } from '../support/skips.ts'

// Whatever was ever added to a repository lies in its store, without a name that a rule on paths would meet.

const SECRET = 'hunter2-in-the-store'
const DENY = `
[[permissions.rules]]
decision = "deny"
tool = "read_file"
path = ["secrets/**"]
`

let box: TestRuntime
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Kim', '-c', 'user.email=kim@site.test', ...args], {
    cwd: box.workspace,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: box.home },
  }).trim()
const run = (command: string) => box.runtime.call({ tool: 'run_command', input: { command } })
const read = (path: string) => box.runtime.call({ tool: 'read_file', input: { path } })

function commit(...paths: string[]): void {
  git('add', '-f', ...paths)
  git('commit', '-qm', 'x')
}

beforeEach(async () => {
  box = await openTestRuntime(DENY)
  git('init', '-q', '-b', 'main')
  box.write('a.txt', 'one\n')
  commit('a.txt')
})
afterEach(() => box.close())

/** Every way that a denied file may have come into the store and be in no file any more. */
const WAYS: Record<string, () => void> = {
  'an earlier commit': () => {
    commit('secrets/k.txt')
    git('rm', '-q', '--cached', 'secrets/k.txt')
    git('commit', '-qm', 'y')
  },
  'another branch': () => {
    git('switch', '-qc', 'topic')
    commit('secrets/k.txt')
    git('switch', '-q', 'main')
  },
  'a stash': () => void git('stash', '-q', '-u'),
  'a dropped stash': () => {
    git('stash', '-q', '-u')
    git('stash', 'drop', '-q')
  },
  'a reflog': () => {
    commit('secrets/k.txt')
    git('reset', '-q', '--hard', 'HEAD~1')
  },
  'a pack': () => {
    commit('secrets/k.txt')
    for (let i = 0; i < 40; i += 1) {
      box.write(`src/${i}.txt`, `${i}\n`.repeat(50))
      commit(`src/${i}.txt`)
    }
    git('rm', '-qr', '--cached', 'secrets')
    git('commit', '-qm', 'y')
    git('gc', '-q')
  },
}

describe.skipIf(noSandbox !== '').each(Object.entries(WAYS))(`a denied file in %s${noSandbox}`, (_, hide) => {
  test('is printed by no line that nobody is asked about', async () => {
    box.write('secrets/k.txt', `${SECRET}\n`)
    hide()
    rmSync(join(box.workspace, 'secrets'), { recursive: true, force: true })
    const blob = execFileSync('git', ['hash-object', '--stdin'], {
      input: `${SECRET}\n`,
      encoding: 'utf8',
    }).trim()
    for (const line of [
      'git log -p --all',
      'git log -p --reflog',
      'git stash show -p -u',
      `git show ${blob}`,
      `git show ${blob.slice(0, 7)}`,
      `git show --stat v1-1-g${blob.slice(0, 8)}`,
      `git show -s HEAD v1-1-g${blob}`,
      `git cat-file -p ${blob}`,
      'git cat-file --batch-all-objects --batch',
      'git cat-file -p topic:secrets/k.txt',
      'git cat-file -p stash^3:secrets/k.txt',
      'git grep hunter2 $(git rev-list --all --reflog)',
      'git log | head -1; grep -rac . .git',
      'git status && grep -rac . .',
      'grep -rac . .',
      'grep -rac . .git',
      `python3 -c "import subprocess; print(subprocess.run(['git','cat-file','-p','${blob}'],capture_output=True).stdout)"`,
    ]) {
      const result = await run(line)
      expect(result.text, line).not.toContain(SECRET)
      expect(result.text, line).not.toContain('hunter2-')
      expect(result.text, line).not.toMatch(/objects\/(pack\/pack|..\/[0-9a-f]{38}:)/)
    }
    // Lines that print nothing of it are as they were.
    for (const line of [
      'git status',
      'git log',
      'git diff',
      'git log -p -- a.txt',
      'git show HEAD --stat',
      'git status; grep -rn one a.txt',
      'git status; git diff; grep -n one a.txt',
      'git log --oneline | head -3; cat a.txt',
      'echo hello > b.txt; cat b.txt; rm b.txt',
    ])
      expect((await run(line)).ok, line).toBe(true)
  })
})

test.skipIf(noSandbox !== '')(
  `a repository without secrets shows its history unasked, contained lines too${noSandbox}`,
  async () => {
    box.write('a.txt', 'two\n')
    commit('a.txt')
    for (const line of [
      'git log -p',
      'git show HEAD',
      `git show ${git('rev-parse', '--short', 'HEAD')}`,
      'git diff HEAD~1',
      'git cat-file -p HEAD:a.txt',
    ])
      expect((await run(line)).text, line).toContain('two')
  },
)

describe.skipIf(noSandbox !== '')(`a content without a name${noSandbox}`, () => {
  /** Of a file that was added, and is something else by now, or gone. */
  const leave = (): string => {
    box.write('secrets/k.txt', `${SECRET}\n`)
    const blob = git('hash-object', '-w', 'secrets/k.txt')
    box.write('secrets/k.txt', 'another one\n')
    return blob
  }
  const ways = (blob: string, folder = '.'): string[] => [
    `git -C ${folder} show ${blob}`,
    `git -C ${folder} show ${blob.slice(0, 6).toUpperCase()} --stat`,
    `git -C ${folder} diff ${blob}..HEAD:a.txt`,
    `git -C ${folder} show v1-1-g${blob.slice(0, 8)}`,
    `cd ${folder} && git show ${blob.slice(0, 7)}? --`,
    `git -C ${folder} cat-file -p ${blob}`,
    `cd ${folder} && git cat-file --batch-all-objects --batch`,
    `cd ${folder} && echo ${blob} | git cat-file --batch`,
    `sh -c 'cd ${folder}; git cat-file blob ${blob}'`,
    `python3 -c "
import glob, zlib
for f in glob.glob('${folder}/.git/objects/??/*'):
    try: print(zlib.decompress(open(f, 'rb').read()))
    except Exception: pass"`,
  ]
  const expectClosed = async (lines: readonly string[]): Promise<void> => {
    for (const line of lines) expect((await run(line)).text, line).not.toContain(SECRET)
  }

  test('is printed by no line that nobody is asked about, and what is staged still is', async () => {
    const blob = leave()
    box.write('b.txt', 'staged\n')
    git('add', 'b.txt')
    box.write('b.txt', 'changed\n')
    await expectClosed(ways(blob))
    for (const line of ['git diff', 'git diff --cached', "sh -c 'git show :b.txt'"])
      expect((await run(line)).text, line).toContain('staged')
    for (const line of ['git status', 'git show $(git rev-parse HEAD)', "sh -c 'git log -p'"])
      expect((await run(line)).ok, line).toBe(true)
  })

  test('nor of a repository further down', async () => {
    execFileSync('git', ['clone', '-q', '.', 'vendor/x'], { cwd: box.workspace })
    const inner = join(box.workspace, 'vendor/x')
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: inner, input: `${SECRET}\n` })
    await expectClosed(ways(String(blob).trim(), 'vendor/x'))
  })

  test('nor where a tag leads to it, in a file of its own or in a pack', async () => {
    const blob = leave()
    git('tag', 'key', blob)
    git('tag', '-am', 'x', 'signed', blob)
    git('symbolic-ref', 'refs/heads/led', 'refs/tags/key')
    git('update-ref', 'refs/remotes/there/HEAD', blob)
    // Its name becomes a word where a pattern matches it.
    box.write(blob.slice(0, 8), '')
    for (const round of ['loose', 'packed']) {
      if (round === 'packed') git('gc', '-q')
      await expectClosed([
        ...ways(blob),
        'git show key',
        'git show signed',
        'git show refs/tags/key',
        'git show signed^{}',
        'git show led',
        'git show --stat there',
        'git show --tags',
        'git show --all',
        'git diff key HEAD:a.txt',
        'git cat-file -p key',
        "git for-each-ref --format='%(raw)'",
      ])
    }
    for (const line of ['git log', 'git show HEAD', 'git status'])
      expect((await run(line)).ok, line).toBe(true)
    writeFileSync(join(box.workspace, '.git/FETCH_HEAD'), `${blob}\tnot-for-merge\ttag 'key' of there\n`)
    await expectClosed(['git show --stat FETCH_HEAD'])
  })

  test('nor by the number of the folder that it was in, in which no rule knows it', async () => {
    box.write('secrets/k.txt', `${SECRET}\n`)
    commit('secrets/k.txt')
    const tree = git('rev-parse', 'HEAD:secrets')
    git('tag', 'folder', tree)
    for (const word of [tree, tree.slice(0, 7), 'folder'])
      await expectClosed([`git show ${word}:k.txt`, `git diff HEAD ${word} -- k.txt`])
    expect((await run('git show HEAD:a.txt')).ok).toBe(true)
  })

  test('nor in a repository whose numbers are longer', async () => {
    rmSync(join(box.workspace, '.git'), { recursive: true })
    git('init', '-q', '--object-format=sha256')
    const blob = leave()
    git('tag', 'key', blob)
    for (const pack of [() => undefined, () => git('gc', '-q')]) {
      pack()
      await expectClosed([blob, blob.slice(0, 7), 'key'].map(word => `git show -s ${word}`))
    }
  })

  test('nor where git has put it into a pack of what nothing refers to', async () => {
    const blob = leave()
    git('repack', '-qd', '--cruft')
    await expectClosed(ways(blob))
    for (const line of ['git log', "sh -c 'git log -p'"]) expect((await run(line)).ok, line).toBe(true)
  })
})

test('file tools read no raw object, whatever it holds', async () => {
  const [folder = ''] = readdirSync(join(box.workspace, '.git/objects')).filter(name => name.length === 2)
  const [name = ''] = readdirSync(join(box.workspace, '.git/objects', folder))
  expect(inflateSync(readFileSync(join(box.workspace, '.git/objects', folder, name))).length).toBeGreaterThan(
    0,
  )
  for (const path of [`.git/objects/${folder}/${name}`, `.git/objects/${folder}`, '.git/objects/pack/x.pack'])
    expect((await read(path)).error?.code, path).toBe('forbidden')
  for (const tool of ['list_directory', 'grep_search'])
    expect((await box.runtime.call({ tool, input: { path: '.git/objects', pattern: '.' } })).ok).toBe(false)
  writeFileSync(join(box.workspace, 'objects'), 'an ordinary file\n')
  expect((await read('objects')).ok).toBe(true)
})
