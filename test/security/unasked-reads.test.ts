import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isInside } from '../../src/core/real-path.ts'
import { analyzePath, hiddenSecrets, SENSITIVE_TO_READ } from '../../src/permissions/paths/paths.ts'
import { folderOutsideTmp } from '../support/outside-tmp.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'

// Lines that run unasked, whose programs read or start more than their words say. Whatever the way: what a rule denies
// and what would be asked about does not come out.

const DENIED = 'DENIED-BY-RULE'
const SENSITIVE = 'NEEDS-A-QUESTION'
const OUTSIDE = 'DENIED-OUTSIDE'
// What is decided before a line runs; contained lines are judged by what they changed.
const CONFIG = `
[permissions]
commands = "ask"

[[permissions.rules]]
id = "no-plans"
decision = "deny"
tool = "read_file"
path = ["plans/**", "~/vault/**"]
`

// Commands have a /tmp of their own: a home folder there would be out of their sight anyway.
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
beforeEach(async () => {
  box = await openTestRuntime(CONFIG)
  box.write('plans/q4.md', `${DENIED}\n`)
  box.write('.env', `${SENSITIVE}\n`)
  box.write('main.txt', 'plain\n')
  mkdirSync(join(box.home, 'vault'))
  writeFileSync(join(box.home, 'vault/key.txt'), `${OUTSIDE}\n`)
})
afterEach(() => box.close())

async function run(command: string): Promise<{ text: string; asked: boolean }> {
  const { text, error, decision } = await box.runtime.call({ tool: 'run_command', input: { command } })
  return { text: `${text}${error?.message ?? ''}`, asked: decision.outcome !== 'allow' }
}

async function expectNoLeak(command: string): Promise<void> {
  const { text } = await run(command)
  expect(text, command).not.toMatch(/DENIED-|NEEDS-A/)
}

function git(...args: string[]): void {
  const env = {
    PATH: process.env.PATH,
    HOME: box.home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: 'file',
  }
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main']
  const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd: box.workspace, env })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}

function program(path: string, ...lines: string[]): string {
  const full = join(box.workspace, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(full, 0o755)
  return full
}

const TELLS_ALL = 'cat "$HOME/work/plans/q4.md" "$HOME/work/.env" "$HOME/vault/key.txt" >&2'

describe('programs that the repository chooses', () => {
  test.each(['git status', 'git status --short', 'git diff --stat', 'git describe --dirty --always'])(
    'clean filters do not run: %s',
    async line => {
      git('init', '-q')
      box.write('.gitattributes', '*.txt filter=x\n')
      git('add', '.gitattributes', 'main.txt')
      git('commit', '-q', '-m', 'one')
      git('config', 'filter.x.clean', `${program('filter.sh', TELLS_ALL, 'cat')}`)
      box.write('main.txt', 'changed\n')
      await expectNoLeak(line)
      expect((await run(line)).asked).toBe(true)
    },
  )

  test('nor those of a file that the configuration includes', async () => {
    git('init', '-q')
    box.write('.gitattributes', '*.txt filter=x\n')
    git('add', '.gitattributes', 'main.txt')
    git('commit', '-q', '-m', 'one')
    box.write('extra.config', `[filter "x"]\n\tclean = ${program('filter.sh', TELLS_ALL, 'cat')}\n`)
    git('config', 'include.path', '../extra.config')
    box.write('main.txt', 'changed\n')
    await expectNoLeak('git status')
    expect((await run('git status')).asked).toBe(true)
  })

  test('nor those of a repository inside it, with or without a .gitmodules', async () => {
    git('init', '-q')
    git('init', '-q', 'lib')
    box.write('lib/a.txt', 'one\n')
    box.write('lib/.gitattributes', '*.txt filter=x\n')
    git('-C', 'lib', 'add', '.')
    git('-C', 'lib', 'commit', '-q', '-m', 'one')
    git('-c', 'advice.addEmbeddedRepo=false', 'add', 'lib')
    git('-C', 'lib', 'config', 'filter.x.clean', program('filter.sh', TELLS_ALL, 'cat'))
    box.write('lib/a.txt', 'two\n')
    for (const line of ['git status', 'git -C lib status', 'cd lib && git status', 'git diff --stat']) {
      await expectNoLeak(line)
      expect((await run(line)).asked, line).toBe(true)
    }
  })

  test('files of a working tree elsewhere are not taken for files of the workspace', async () => {
    git('init', '-q')
    box.write('key.txt', 'old\n')
    git('add', 'key.txt')
    git('commit', '-q', '-m', 'one')
    git('config', 'core.worktree', join(box.home, 'vault'))
    await expectNoLeak('git diff')
    expect((await run('git diff')).asked).toBe(true)
  })

  test('objects that are missing are not fetched by a program', async () => {
    git('init', '-q')
    git('add', 'main.txt')
    git('commit', '-q', '-m', 'one')
    git('config', 'remote.origin.url', `ext::${program('fetch.sh', TELLS_ALL)}`)
    git('config', 'remote.origin.promisor', 'true')
    git('config', 'protocol.ext.allow', 'always')
    git('config', 'extensions.partialClone', 'origin')
    const { text } = await run('git cat-file -e 1111111111111111111111111111111111111111')
    expect(text).not.toMatch(/DENIED-|NEEDS-A|fetch\.sh/)
  })

  test('the diff program of a submodule does not run', async () => {
    git('init', '-q')
    git('init', '-q', 'lib')
    box.write('lib/a.txt', 'one\n')
    git('-C', 'lib', 'add', 'a.txt')
    git('-C', 'lib', 'commit', '-q', '-m', 'one')
    git('submodule', 'add', '-q', './lib', 'lib')
    git('commit', '-q', '-m', 'sub')
    box.write('lib/a.txt', 'two\n')
    git('-C', 'lib', 'config', 'diff.external', program('show.sh', TELLS_ALL))
    await expectNoLeak('git diff --submodule=diff')
    git('config', 'diff.submodule', 'diff')
    await expectNoLeak('git diff')
    await expectNoLeak('git diff --stat --submodule=diff')
  })

  test.each(['cargo --version', 'rustc --version', 'cargo version', 'rustfmt --version'])(
    'a toolchain of the workspace does not run: %s',
    async line => {
      for (const name of ['cargo', 'rustc', 'rustfmt']) program(`tools/bin/${name}`, 'echo CHOSEN', TELLS_ALL)
      box.write('rust-toolchain.toml', '[toolchain]\npath = "tools"\n')
      expect((await run(line)).text).not.toMatch(/DENIED-|NEEDS-A|CHOSEN/)
    },
  )
})

describe('what a program prints beside the files that its words name', () => {
  test.skipIf(spawnSync('gcc', ['--version']).status !== 0)('objdump prints no sources', async () => {
    box.write('plans/a.c', `int main(void) { return 0; } /* ${DENIED} */\n`)
    const built = spawnSync('gcc', ['-g', '-o', 'a.out', 'plans/a.c'], { cwd: box.workspace })
    expect(built.status).toBe(0)
    for (const line of ['objdump -S a.out', 'objdump -d --source a.out', 'objdump -dl a.out']) {
      await expectNoLeak(line)
      expect((await run(line)).asked, line).toBe(true)
    }
  })

  test('checksum lists confirm no guesses about files that may not be read', async () => {
    const sums = spawnSync('sha256sum', ['plans/q4.md', '.env'], { cwd: box.workspace })
    box.write('sums.txt', String(sums.stdout))
    const { text, asked } = await run('sha256sum -c sums.txt')
    expect(text).toContain('FAILED')
    expect(text).not.toContain(': OK')
    expect(asked).toBe(false)
  })

  test.each(['git status -v', 'git status -vv', 'git status --verbose', 'git status -sbv'])(
    '%s is asked about where it could print a tracked file',
    async line => {
      git('init', '-q')
      git('add', '-f', 'plans/q4.md', '.env', 'main.txt')
      const { text, asked } = await run(line)
      expect(text).not.toMatch(/DENIED-|NEEDS-A/)
      expect(asked).toBe(true)
    },
  )
})

describe('behind every line that runs unasked', () => {
  // Names, but no contents: a size is the least that a program could find out.
  const SIZES = 'find . -name "*.md" -size +0 -o -name ".env" -size +0'

  test('nothing is in the files that may not be read', async () => {
    expect((await run(SIZES)).text).not.toMatch(/q4|env/)
    expect((await run('find .. -name key.txt -size +0')).text).not.toContain('key.txt')
  })

  test('a file that appears later is hidden as well, once folders are known', async () => {
    await run(SIZES)
    box.write('deep/down/.env', SENSITIVE)
    expect((await run(SIZES)).text).not.toContain('env')
  })

  test('what was asked about by its name is there', async () => {
    const { runtime, home, workspace } = await approving(CONFIG)
    writeFileSync(join(workspace, '.env'), SENSITIVE)
    const { text } = await runtime.call({ tool: 'run_command', input: { command: 'cat .env' } })
    expect(text).toContain(SENSITIVE)
    await runtime.close()
    rmSync(home, { recursive: true, force: true })
  })

  test.each([
    `git --version; grep -rn ${SENSITIVE.slice(0, 4)} .`,
    `git grep -h ${SENSITIVE.slice(0, 4)}`,
    `git grep --no-index -h ${SENSITIVE.slice(0, 4)}`,
    'git diff --no-index main.txt .env',
  ])('a word of git in the line shows no tracked file: %s', async line => {
    git('init', '-q')
    git('add', '-f', '.env', 'main.txt')
    git('commit', '-q', '-m', 'one')
    await expectNoLeak(line)
  })

  test('git takes tracked files for unchanged although they would be asked about', async () => {
    git('init', '-q')
    git('add', '-f', '.env', 'main.txt')
    git('commit', '-q', '-m', 'one')
    expect(await run('git status --short -uno')).toEqual({
      text: expect.stringContaining('no output'),
      asked: false,
    })
  })

  test('lists of rules in order count, too', async () => {
    await box.close()
    box = await openTestRuntime(
      '[permissions]\ndefault_action = "ask"\n[[permissions.rule]]\ntool = "read_file"\npattern = "plans/*"\naction = "deny"\n',
    )
    box.write('plans/q4.md', `${DENIED}\n`)
    expect((await run(SIZES)).text).not.toContain('q4')
  })
})

describe('an approved command', () => {
  test.each([
    '.npmrc',
    '.pypirc',
    '.config/git/credentials',
    '.git-credentials',
    '.cargo/credentials.toml',
    '.mozilla/firefox/x/logins.json',
    '.config/google-chrome/Default/Login Data',
    '.config/BraveSoftware/x',
    '.claude/.credentials.json',
    '.codex/auth.json',
    '.gemini/oauth_creds.json',
    '.config/gh/hosts.yml',
    '.config/glab-cli/config.yml',
    '.config/rclone/rclone.conf',
    '.gem/credentials',
    '.m2/settings.xml',
    '.gradle/gradle.properties',
    '.env.production',
    'id_backup',
    'server.pem',
    'server.key',
    '.vault-token',
    '.bash_history',
    '.password-store/a.gpg',
    '.local/share/keyrings/login.keyring',
    '.config/1Password/x',
    '.config/Bitwarden/data.json',
    '.terraform.d/credentials.tfrc.json',
    '.kube/cache/x',
    '.azure/x',
    '.config/gcloud/x',
    '.docker/config.json',
    '.netrc',
    '.pgpass',
    '.my.cnf',
  ])('asks for ~/%s in read_file, as no command sees it', path => {
    const context = { home: box.home, workspace: box.workspace }
    const full = join(box.home, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, 'x')
    expect(analyzePath(full, context).sensitivity).toBeGreaterThanOrEqual(SENSITIVE_TO_READ)
    expect(hiddenSecrets(context).some(place => isInside(full, place))).toBe(true)
  })

  test('sees neither keys in the home folder nor those of the machine, unless it names them', async () => {
    const { runtime, home, workspace } = await approving(CONFIG)
    writeFileSync(join(home, '.npmrc'), SENSITIVE)
    writeFileSync(
      join(workspace, 'show.py'),
      `for path in (${JSON.stringify(join(home, '.npmrc'))}, '/etc/shadow'):
    try: print(path, len(open(path).read()))
    except OSError as error: print(path, error.strerror)
`,
    )
    const call = async (command: string) =>
      (await runtime.call({ tool: 'run_command', input: { command } })).text
    expect(await call('python3 show.py')).not.toMatch(/ [1-9]/)
    expect(await call('python3 show.py ~/.npmrc')).toContain(`npmrc ${SENSITIVE.length}`)
    await runtime.close()
    rmSync(home, { recursive: true, force: true })
  })
})

const approving = (config: string) =>
  openTestRuntime(config, { ask: async () => ({ kind: 'once', user: 'test' }) })

describe('package stores, which a contained line sees', () => {
  beforeEach(async () => {
    await box.close()
    box = await openTestRuntime('')
    // A repository of its own, instead of the one that these tests belong to.
    git('init', '-q')
  })
  const inHome = (path: string, content = SENSITIVE): void => {
    mkdirSync(dirname(join(box.home, path)), { recursive: true })
    writeFileSync(join(box.home, path), content)
  }
  const readAll = (paths: readonly string[]) => {
    box.write('list.txt', paths.join('\n'))
    box.write('show.sh', 'while read f || [ -n "$f" ]; do echo "$f: $(cat "$HOME/$f")"; done < list.txt\n')
    return run('sh show.sh')
  }

  test('hold none of the files that are hidden everywhere else', async () => {
    const paths = [
      '.local/share/uv/credentials/credentials.toml',
      'go/pkg/mod/example.org/m@v1/server.key',
      'go/pkg/mod/example.org/m@v1/testdata/x/server.pem',
      '.cargo/registry/src/x/.env',
      '.cargo/credentials.toml',
      '.local/lib/python3.12/site-packages/m/.env~',
      '.pyenv/id_rsa',
    ]
    for (const path of paths) inHome(path)
    const { text, asked } = await readAll(paths)
    expect(asked).toBe(false)
    expect(text).toContain('server.key: ')
    expect(text).not.toContain(SENSITIVE)
  })

  test('show code and public certificates whatever they are called', async () => {
    const paths = [
      '.pyenv/versions/3.12.1/lib/python3.12/secrets.py',
      '.local/lib/python3.12/site-packages/docker/credentials/__init__.py',
      '.local/lib/python3.12/site-packages/certifi/cacert.pem',
      'go/pkg/mod/example.org/m@v1/main.go',
    ]
    for (const path of paths) inHome(path, 'PUBLIC')
    const { text } = await readAll(paths)
    expect(text.split('PUBLIC')).toHaveLength(paths.length + 1)
  })

  test('are not there at all with more secrets in them than can be hidden', async () => {
    for (let number = 0; number < 201; number += 1) inHome(`go/pkg/mod/m${number}/server.key`)
    inHome('.deno/a.txt', 'PUBLIC')
    const { text } = await readAll(['go/pkg/mod/m1/server.key', '.deno/a.txt'])
    expect(text).not.toContain(SENSITIVE)
    expect(text).toContain('.deno/a.txt: PUBLIC')
  })
})

test("Kogu's own state is read by no tool but command_output", async () => {
  const { text } = await box.runtime.call({ tool: 'run_command', input: { command: 'seq 20000' } })
  expect(text).toBeDefined()
  for (const path of ['.kogu/output', '.kogu/output/x.output', '.kogu/audit', '.kogu/anything-new/x']) {
    const explained = await box.runtime.explain({ tool: 'read_file', input: { path } })
    expect([path, explained.decision]).toEqual([path, 'deny'])
  }
  const found = await box.runtime.call({ tool: 'grep_search', input: { pattern: '19999', path: '.' } })
  expect(found.text).not.toContain('19999')
})

test("Kogu's state folder outside the workspace is read by no tool either", async () => {
  const state = join(box.home, '.local/state/kogu')
  mkdirSync(state, { recursive: true })
  writeFileSync(join(state, 'tokens.json'), SENSITIVE)
  for (const path of [state, join(state, 'tokens.json')]) {
    expect(await box.runtime.explain({ tool: 'read_file', input: { path } })).toMatchObject({
      decision: 'deny',
    })
  }
  const found = await box.runtime.call({ tool: 'glob_search', input: { pattern: '../**/*.json' } })
  expect(found.text).not.toContain('tokens.json')
})

test('a pattern that leads out of the folder starts the program on the files that were judged', async () => {
  // As long as the way to `sub/`, so that cutting that off leaves /etc/passwd.
  box.write('abcd/etc/passwd', 'decoy\n')
  box.write('sub/x', '')
  const call = { command: 'cat ../abcd/etc/pass*', working_dir: 'sub' }
  expect((await box.runtime.call({ tool: 'run_command', input: call })).text).toBe('decoy')
  expect((await run('cd sub && echo ../*.txt ../abcd/e*/')).text).toBe('../main.txt ../abcd/etc/')
})
