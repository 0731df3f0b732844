import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createSandboxed, PROGRAM, type Ran, type Sandboxed } from './kogu.ts'
import type { VendorAnswer, VendorRequest } from './mock-vendor.ts'
import { noPytest } from './skips.ts'

// Small repositories, and agents that change them by a script: wrong at first, right when they know what failed.

type Calls = NonNullable<VendorAnswer['calls']>

export interface BuildCase {
  readonly files: Readonly<Record<string, string>>
  readonly goal: string
  /** What the coder does, one call in each turn. */
  readonly coder: Calls
  readonly fixer: Calls
  /** What the branch then says. */
  readonly result: Readonly<Record<string, string>>
  /** The file that is wrong at first, and the lines that a person sees about it: the wrong one, and the right one. */
  readonly mended: { readonly path: string; readonly lines: readonly [string, string] }
}

const write = (path: string, content: string): Calls[number] => ({
  name: 'write_file',
  input: { path, content },
})
const read = (path: string): Calls[number] => ({ name: 'read_file', input: { path } })
const edit = (path: string, old_string: string, new_string: string): Calls[number] => ({
  name: 'edit_file',
  input: { path, old_string, new_string },
})

const TWICE = (by: number): string =>
  `const { twice } = require('numbers')\nexports.double = n => twice(n) + ${by}\n`
const TWICE_TEST = `const { test } = require('node:test')
const assert = require('node:assert')
const { double } = require('../src/double.js')
test('doubles', () => assert.strictEqual(double(21), 42))
`

export const CASES = {
  /** Build output in an ignored folder, and an installed package that git ignores. */
  node: {
    files: {
      'package.json': JSON.stringify({
        name: 'demo',
        scripts: { build: 'node build.js', test: 'node --test' },
      }),
      'build.js':
        "const fs = require('node:fs')\nfs.rmSync('dist', { recursive: true, force: true })\nfs.mkdirSync('dist')\nfs.writeFileSync('dist/out.js', fs.readFileSync('src/list.js'))\n",
      'src/list.js': 'exports.list = () => []\n',
      '.gitignore': 'dist/\nnode_modules/\n',
      'node_modules/numbers/index.js': 'exports.twice = n => n * 2\n',
      'dist/old.js': 'old\n',
    },
    goal: 'add a function that doubles',
    coder: [
      read('src/list.js'),
      edit('src/list.js', '[]', "['double']"),
      write('src/double.js', TWICE(1)),
      write('test/double.test.js', TWICE_TEST),
    ],
    fixer: [read('src/double.js'), edit('src/double.js', '+ 1', '+ 0')],
    result: { 'src/double.js': TWICE(0), 'src/list.js': "exports.list = () => ['double']\n" },
    mended: {
      path: 'src/double.js',
      lines: ['+exports.double = n => twice(n) + 1', '+exports.double = n => twice(n) + 0'],
    },
  },
  python: {
    files: {
      'pyproject.toml':
        '[project]\nname = "prices"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
      '.gitignore': '__pycache__/\n.pytest_cache/\n',
      'prices/__init__.py': '',
      'prices/total.py': 'def total(items):\n    return sum(items)\n',
      'tests/test_total.py':
        'from prices.total import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n',
    },
    goal: 'add a discount in percent to total',
    coder: [
      read('prices/total.py'),
      write('prices/total.py', 'def total(items, discount=0):\n    return sum(items) * discount\n'),
    ],
    fixer: [read('prices/total.py'), edit('prices/total.py', '* discount', '* (100 - discount) // 100')],
    result: {
      'prices/total.py': 'def total(items, discount=0):\n    return sum(items) * (100 - discount) // 100\n',
    },
    mended: {
      path: 'prices/total.py',
      lines: ['+    return sum(items) * discount', '+    return sum(items) * (100 - discount) // 100'],
    },
  },
  failing: {
    files: {
      Makefile: 'test:\n\t@grep -qx "tea 120" prices.txt && echo "1 passed in 0.1s"\n',
      'prices.txt': 'tea 12\n',
    },
    goal: 'fix the failing test',
    coder: [read('prices.txt'), edit('prices.txt', '12', '210')],
    fixer: [read('prices.txt'), edit('prices.txt', '210', '120')],
    result: { 'prices.txt': 'tea 120\n' },
    mended: { path: 'prices.txt', lines: ['+tea 210', '+tea 120'] },
  },
} as const satisfies Record<string, BuildCase>

/** All of them, by names that say what this machine lacks. */
export const eachCase: readonly { name: string; of: BuildCase; lacks: boolean }[] = Object.entries(CASES).map(
  ([name, of]) => {
    const lack = name === 'python' ? noPytest : ''
    return { name: name + lack, of, lacks: lack !== '' }
  },
)

/** Agents with tools, as a vendor of Chat Completions hears them. `never`: the fixer does not know what is wrong. */
export const agentsOf =
  ({ coder, fixer }: Pick<BuildCase, 'coder' | 'fixer'>, never = false) =>
  ({ body }: VendorRequest): VendorAnswer => {
    const said = JSON.stringify(body.messages)
    if (!JSON.stringify(body.tools ?? []).includes('write_file')) return { text: 'As the goal says.' }
    const isFixer = said.includes('Find the cause and repair it')
    if (isFixer && (never || !said.includes(': failed in'))) return { text: 'I do not know what is wrong.' }
    const done = body.messages.filter(({ role }: { role: string }) => role === 'tool').length
    const next = (isFixer ? fixer : coder)[done]
    return next === undefined ? { text: 'Done.' } : { calls: [next] }
  }

export interface BuildBox extends Sandboxed {
  git(...args: string[]): string
  /** Asynchronous, because the vendor lives in the process of the test. */
  kogu(args: readonly string[], env?: Record<string, string>): Promise<Ran>
  /** Of all that the person has checked out, the index and HEAD; without Kogu's own records. */
  digest(): string
}

/** A person's machine with a repository, and a model at this address. */
export function createBuildBox(
  database: string,
  vendor: string,
  files: BuildCase['files'],
  config = '',
): BuildBox {
  const box = createSandboxed()
  box.env.DATABASE_URL = database
  box.env.USER = 'kim'
  box.configure(
    `${config}[defaults]\nmodel = "local/tea"\n[providers.local]\nkind = "openai-compatible"\nbase_url = "${vendor}/v1"\n[providers.local.models.tea]\nprice = { input = 1.0, output = 2.0 }\n`,
  )
  writeFileSync(join(box.home, '.gitconfig'), '[user]\nname = Kim\nemail = kim@example.com\n')
  for (const [path, text] of Object.entries(files)) box.write(path, text)
  const git = (...args: string[]): string => {
    const done = spawnSync('git', args, { cwd: box.workspace, encoding: 'utf8', env: box.env })
    if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`)
    return done.stdout
  }
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'First')
  return {
    ...box,
    git,
    kogu: (args, env = {}) =>
      new Promise(resolve => {
        const child = spawn(process.execPath, [PROGRAM, ...args], {
          cwd: box.workspace,
          env: { ...box.env, ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        let [stdout, stderr] = ['', '']
        child.stdout.on('data', chunk => (stdout += chunk))
        child.stderr.on('data', chunk => (stderr += chunk))
        child.on('close', code => resolve({ code, stdout, stderr }))
      }),
    digest: () => digestOf(box.workspace),
  }
}

function digestOf(workspace: string): string {
  const hash = createHash('sha256')
  const add = (path: string): void => {
    const full = join(workspace, path)
    const stat = lstatSync(full)
    const content = stat.isSymbolicLink() ? readlinkSync(full) : stat.isFile() ? readFileSync(full) : ''
    hash.update(`${path} ${stat.mode} ${stat.mtimeMs} `).update(content).update('\n')
  }
  for (const name of ['.git/index', '.git/HEAD', '.git/config', '.git/refs/heads/main']) add(name)
  const names = readdirSync(workspace, { recursive: true, encoding: 'utf8' })
  for (const name of names.toSorted()) if (!/^\.(git|kogu)(\/|$)/.test(name)) add(name)
  return hash.digest('hex')
}

/** Where files of a case would lie, for a repository that already exists. */
export function writeFiles(folder: string, files: BuildCase['files']): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** The same wrong price, written so that it does not matter whether an interrupted call took effect. */
export const KILLED: BuildCase = {
  ...CASES.failing,
  coder: [read('prices.txt'), write('prices.txt', 'tea 210\n')],
  fixer: [read('prices.txt'), write('prices.txt', 'tea 120\n')],
}

/** Kills the program with SIGKILL so long after a line of standard error; its exit code where that line never came. */
export function killAt(
  box: BuildBox,
  args: readonly string[],
  line: string,
  afterMs = 0,
): Promise<number | null> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: box.workspace,
      env: box.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', chunk => {
      said += chunk
      if (said.includes(line)) setTimeout(() => child.kill('SIGKILL'), afterMs)
    })
    child.on('close', code => resolve(code))
  })
}

/** The id of the one build that was begun here. */
export function buildIn(box: BuildBox): string {
  const [run] = box.json(['pipeline', 'list']).runs
  return run?.id ?? ''
}
