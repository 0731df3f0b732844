import { execFileSync } from 'node:child_process'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { visibleNode } from '../../../test/support/outside-tmp.ts'
import { noSandbox } from '../../../test/support/skips.ts'
import { DEFAULT_SANDBOX_LIMITS } from '../../core/sandbox.ts'
import { createProcesses } from '../processes/processes.ts'
import { createSandbox } from '../walls/sandbox.ts'
import { findSandboxSystem } from '../walls/system.ts'
import { runOnOverlay } from './overlay.ts'
import { commitOverlay } from './overlay-commit.ts'

// What a command leaves in the workspace is what it would have left without a layer, whatever it deletes, rebuilds, moves
// and unpacks. Each run of the sandbox tries many lines at once, each in a folder of its own. Starting programs takes
// most of the time, so bash tries dozens and one program of Node a thousand.

const BASH_LINES = 60
const NODE_RUNS = 2
const NODE_LINES = 600

const system = findSandboxSystem()
const processes = createProcesses()
afterAll(() => processes.close())

const KNOWN = [
  'rm -rf a && mkdir -p a/b && echo n > a/b/new',
  'rm -rf a && cp -r b a',
  'rm -rf a && mv b a',
  'tar cf t.tar b && rm -rf a && mkdir a && tar xf t.tar -C a && rm t.tar',
  'rm -rf a/b && mkdir -p a/b/a && echo n > a/b/a/c',
  'rm -rf a && mkdir a && rm -rf a && mkdir -p a/b/b',
  'mv a c && mkdir -p a/b && mv c/b/a a/b/a',
  'rm a/c && mkfifo a/c && rm a/c && mkdir a/c && mv b a/c/b',
  'rm -rf a && ln -s b a',
  'mv -T b/a a/b/a',
]

test.skipIf(noSandbox !== '')(`bash leaves on a layer what it leaves without one${noSandbox}`, async () => {
  const random = mulberry32(1)
  const made = Array.from({ length: BASH_LINES }, () =>
    randomLine(random)
      .map(step => toBash(...step))
      .join('; '),
  )
  const lines = [...KNOWN, ...made]
  const script = lines.map((line, index) => `(cd ${index} && { ${line}; }) 2> /dev/null`).join('\n')
  await compare(lines, ['/bin/bash', '--norc', '--noprofile', '-c', `umask 022\n${script}\ntrue`])
})

test.skipIf(noSandbox !== '')(
  `a thousand random lines leave what they leave without a layer${noSandbox}`,
  async () => {
    for (let run = 0; run < NODE_RUNS; run += 1) {
      const random = mulberry32(run + 2)
      const lines = Array.from({ length: NODE_LINES }, () => randomLine(random))
      const script = `process.umask(0o022);(${steps})(${JSON.stringify(lines)})`
      await compare(
        lines.map(line => JSON.stringify(line)),
        [visibleNode(), '--input-type=commonjs', '-e', script],
      )
    }
  },
)

async function compare(lines: readonly string[], command: readonly string[]): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const workspace = join(root, 'work')
  const plain = join(root, 'plain')
  for (const index of lines.keys()) makeTree(join(workspace, String(index)))
  cpSync(workspace, plain, { recursive: true, preserveTimestamps: true })
  mkdirSync(join(workspace, '.kogu'))
  const [file = '', ...words] = command
  execFileSync(file, words, { cwd: plain, env: ENVIRONMENT })
  await runCommitted(workspace, file, words)
  for (const [index, line] of lines.entries()) {
    const got = describe(join(workspace, String(index)))
    expect({ line, tree: got }).toEqual({ line, tree: describe(join(plain, String(index))) })
  }
}

const ENVIRONMENT = { PATH: '/usr/bin:/bin' }

async function runCommitted(workspace: string, file: string, args: readonly string[]): Promise<void> {
  if (typeof system === 'string') throw new Error(system)
  const sandbox = createSandbox({ processes, system })
  try {
    const { changes, result } = await runOnOverlay(sandbox, processes, {
      workspace,
      folder: join(workspace, '.kogu/layer'),
      profile: {
        writable: [workspace],
        readable: [],
        hidden: [],
        protected: [join(workspace, '.kogu')],
        network: 'none',
        unixSockets: false,
        env: ENVIRONMENT,
        cwd: workspace,
        limits: DEFAULT_SANDBOX_LIMITS,
      },
      command: {
        file,
        args,
        timeoutMs: 60_000,
        signal: new AbortController().signal,
      },
    })
    expect(result.exitCode).toBe(0)
    await commitOverlay(changes, { refusal: () => null, keep: async () => {}, committed: async () => {} })
  } finally {
    sandbox.close()
  }
}

/** `a` and `b` each hold a folder of folders with files whose content is their path. */
function makeTree(root: string): void {
  for (const path of ['a/b/a/x', 'a/b/x', 'a/c', 'b/a/b/y', 'b/a/x', 'b/c']) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), path)
  }
}

type Random = () => number

type Step = readonly [verb: string, one: string, other: string]

const VERBS = [
  'rm',
  'rebuild',
  'mkdir',
  'write',
  'append',
  'mv',
  'cp',
  'link',
  'hardlink',
  'chmod',
  'rmdir',
  'swap',
  'pipe',
]

function randomLine(random: Random): Step[] {
  const count = 2 + Math.floor(random() * 4)
  return Array.from({ length: count }, () => {
    const verb = VERBS[Math.floor(random() * VERBS.length)] ?? ''
    const [one, other] = [randomPath(random), randomPath(random)]
    // What a copy into itself leaves depends on the order in which a folder is read.
    const isInItself = other === one || other.startsWith(`${one}/`) || one.startsWith(`${other}/`)
    return [isInItself && ['mv', 'cp', 'swap'].includes(verb) ? 'rm' : verb, one, other] as const
  })
}

function toBash(verb: string, one: string, other: string): string {
  const lines: Readonly<Record<string, string>> = {
    rm: `rm -rf ${one}`,
    rebuild: `rm -rf ${one} && mkdir -p ${one}/b`,
    mkdir: `mkdir -p ${one}`,
    write: `echo ${one}${other} > ${one}`,
    append: `echo more >> ${one}`,
    mv: `mv ${one} ${other}`,
    cp: `cp -r ${one} ${other}`,
    link: `ln -s nowhere/${other} ${one}`,
    hardlink: `ln ${one} ${other}`,
    chmod: `chmod 700 ${one}`,
    rmdir: `rmdir ${one}`,
    swap: `rm -rf ${one} && mv ${other} ${one}`,
    pipe: `tar cf t.tar ${one} && rm -rf ${other} && mkdir -p ${other} && tar xf t.tar -C ${other}; rm -f t.tar`,
  }
  return lines[verb] ?? 'true'
}

/** As a program of its own, in a sandbox. What fails, fails. */
const steps = (lines: readonly (readonly Step[])[]): void => {
  // The program has no modules of ours.
  const fs = process.getBuiltinModule('node:fs')
  const tried = (step: () => void): void => {
    try {
      step()
    } catch {
      // The same without a layer.
    }
  }
  const remove = (path: string): void => fs.rmSync(path, { recursive: true, force: true })
  const copy = (one: string, other: string): void =>
    fs.cpSync(one, other, { recursive: true, verbatimSymlinks: true })
  // As mv does when the kernel refuses: a layer does not rename folders that lie beneath it.
  const move = (one: string, other: string): void => {
    try {
      fs.renameSync(one, other)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error
      // What the kernel would have refused, mv refuses too.
      if (fs.existsSync(other)) fs.rmdirSync(other)
      moveEach(one, other)
    }
  }
  const moveEach = (one: string, other: string): void => {
    const { mode } = fs.statSync(one)
    fs.mkdirSync(other, { mode })
    for (const name of fs.readdirSync(one)) move(`${one}/${name}`, `${other}/${name}`)
    fs.rmdirSync(one)
  }
  const verbs: Readonly<Record<string, (one: string, other: string) => void>> = {
    rm: remove,
    rebuild: one => {
      remove(one)
      fs.mkdirSync(`${one}/b`, { recursive: true })
    },
    mkdir: one => void fs.mkdirSync(one, { recursive: true }),
    write: (one, other) => fs.writeFileSync(one, one + other),
    append: one => fs.appendFileSync(one, 'more'),
    mv: move,
    cp: copy,
    link: (one, other) => fs.symlinkSync(`nowhere/${other}`, one),
    hardlink: (one, other) => fs.linkSync(one, other),
    chmod: one => fs.chmodSync(one, 0o700),
    rmdir: one => fs.rmdirSync(one),
    swap: (one, other) => {
      remove(one)
      move(other, one)
    },
  }
  const top = process.cwd()
  for (const [index, line] of lines.entries()) {
    process.chdir(`${top}/${index}`)
    for (const [verb, one, other] of line) tried(() => verbs[verb]?.(one, other))
  }
}

function randomPath(random: Random): string {
  const depth = 1 + Math.floor(random() * 3)
  const name = (): string => 'abcx'.charAt(Math.floor(random() * 4))
  return Array.from({ length: depth }, name).join('/')
}

function describe(folder: string, path = ''): string[] {
  const names = readdirSync(join(folder, path)).sort()
  return names.flatMap(name => {
    const place = join(path, name)
    const stat = lstatSync(join(folder, place))
    const mode = (stat.mode & 0o777).toString(8)
    if (stat.isDirectory()) return [`${place}/ ${mode}`, ...describe(folder, place)]
    if (stat.isSymbolicLink()) return [`${place} -> ${readlinkSync(join(folder, place))}`]
    return [`${place} ${mode} ${stat.isFile() ? readFileSync(join(folder, place), 'utf8') : 'special'}`]
  })
}

/** The same numbers for the same seed. */
function mulberry32(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
