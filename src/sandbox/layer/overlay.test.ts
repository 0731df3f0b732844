import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noSandbox } from '../../../test/support/skips.ts'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../../core/sandbox.ts'
import { createProcesses } from '../processes/processes.ts'
import { createSandbox } from '../walls/sandbox.ts'
import { findSandboxSystem } from '../walls/system.ts'
import type { DiskLimits } from './disk-watch.ts'
import { overlayProblem, runOnOverlay } from './overlay.ts'
import { commitOverlay, isDecided, type OverlayTarget, recoverOverlays } from './overlay-commit.ts'

const system = findSandboxSystem()
const processes = createProcesses()
const state = { root: '', workspace: '' }

beforeEach(() => {
  state.root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-test-')))
  // A name that would be taken apart as mount options.
  state.workspace = join(state.root, 'work, space: 1')
  writeFiles({ 'src/a': 'a', 'src/deep/b': 'b', 'docs/readme': 'read me', '.kogu/x': '' })
})
afterEach(() => rmSync(state.root, { recursive: true, force: true }))
afterAll(() => processes.close())

const accept: OverlayTarget = { refusal: () => null, keep: async () => {}, committed: async () => {} }

describe.skipIf(noSandbox !== '')(`a command on a layer${noSandbox}`, () => {
  async function run(
    script: string,
    profile: Partial<SandboxProfile> = {},
    bubblewrap?: string,
    { limits, onOutput }: { limits?: DiskLimits; onOutput?: () => void } = {},
  ) {
    if (typeof system === 'string') throw new Error(system)
    const sandbox = createSandbox({
      processes,
      system: bubblewrap === undefined ? system : { ...system, bubblewrap },
    })
    const { workspace } = state
    mkdirSync(join(workspace, '.kogu/overlay'), { recursive: true })
    const output: string[] = []
    try {
      const outcome = await runOnOverlay(sandbox, processes, {
        workspace,
        folder: join(workspace, '.kogu/overlay', 'one'),
        ...(limits === undefined ? {} : { limits }),
        profile: {
          writable: [workspace],
          readable: [],
          hidden: [],
          protected: [join(workspace, '.kogu')],
          network: 'none',
          unixSockets: true,
          env: { PATH: '/usr/bin:/bin' },
          cwd: workspace,
          limits: DEFAULT_SANDBOX_LIMITS,
          ...profile,
        },
        command: {
          file: '/bin/bash',
          args: ['--norc', '--noprofile', '-ec', script],
          timeoutMs: 20_000,
          signal: new AbortController().signal,
          onStdout: chunk => {
            output.push(Buffer.from(chunk).toString())
            onOutput?.()
          },
          onStderr: chunk => void output.push(Buffer.from(chunk).toString()),
        },
      })
      return { ...outcome, output: output.join('') }
    } finally {
      sandbox.close()
    }
  }

  function summary(changes: readonly { change: string; path: string }[]): string[] {
    return changes.map(({ change, path }) => `${change} ${path}`)
  }

  test('leaves the workspace as it was until its changes are brought over', async () => {
    const { changes, result, discard } = await run(
      'echo new > src/a; rm docs/readme; mkdir made; echo x > made/x',
    )
    expect(result.exitCode).toBe(0)
    expect(summary(changes.changes)).toEqual([
      'deleted docs/readme',
      'created made',
      'created made/x',
      'changed src/a',
    ])
    expect(tree()).toEqual({ 'src/a': 'a', 'src/deep/b': 'b', 'docs/readme': 'read me' })
    discard()
    expect(readdirSync(join(state.workspace, '.kogu/overlay'))).toEqual([])
  })

  test('that makes more files than it may is ended, and nothing of them is left', async () => {
    // A million where the bench says so.
    const files = Number(process.env.KOGU_SMALL_FILES ?? 20_000)
    const script = `python3 -c 'import os
for i in range(${files}):
    if i % 1000 == 0: os.mkdir(f"d{i}")
    os.close(os.open(f"d{i - i % 1000}/{i}", os.O_CREAT | os.O_WRONLY))'`
    const limits = { bytes: 1024 ** 3, entries: files / 5 }
    await expect(run(script, {}, undefined, { limits })).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('none of its changes were kept'),
    })
    expect(tree()).toEqual({ 'src/a': 'a', 'src/deep/b': 'b', 'docs/readme': 'read me' })
    expect(readdirSync(join(state.workspace, '.kogu/overlay'))).toEqual([])
  }, 120_000)

  test.each([
    ['rm -rf src', { 'docs/readme': 'read me' }],
    ['rm -rf src; mkdir src; echo c > src/c', { 'docs/readme': 'read me', 'src/c': 'c\n' }],
    ['rm -rf src; echo file > src', { 'docs/readme': 'read me', src: 'file\n' }],
    ['rm docs/readme; mkdir docs/readme; echo x > docs/readme/x', { 'docs/readme/x': 'x\n', ...SOURCES() }],
    ['mv src moved', { 'docs/readme': 'read me', 'moved/a': 'a', 'moved/deep/b': 'b' }],
    [
      'mv src/deep up; mkdir -p src/deep; echo n > src/deep/n',
      { 'src/a': 'a', 'src/deep/n': 'n\n', 'up/b': 'b', ...DOCS() },
    ],
    ['sed -i s/a/A/ src/a', { 'src/a': 'A', 'src/deep/b': 'b', ...DOCS() }],
    [
      'ln -s ../docs/readme src/link; ln src/a src/hard',
      { 'src/link': '-> ../docs/readme', 'src/hard': 'a', ...SOURCES(), ...DOCS() },
    ],
    ['rm -rf src && mkdir -p src/deep && echo b2 > src/deep/b', { 'src/deep/b': 'b2\n', ...DOCS() }],
    [
      'mkdir -p "odd name/-x" && echo o > "odd name/-x/$(printf "a\\nb")"',
      { 'odd name/-x/a\nb': 'o\n', ...SOURCES(), ...DOCS() },
    ],
    ['mkdir ro && echo r > ro/r && chmod 555 ro', { 'ro/r': 'r\n', ...SOURCES(), ...DOCS() }],
  ])('brings over exactly what it did: %s', async (script, expected) => {
    const { changes, result, output } = await run(script)
    expect(output).toBe('')
    expect(result.exitCode).toBe(0)
    await commitOverlay(changes, accept)
    expect(tree()).toEqual(expected)
    expect(readdirSync(join(state.workspace, '.kogu/overlay'))).toEqual([])
  })

  test('may write no more to other folders of the disk than to its layer', async () => {
    const source = join(state.workspace, '.kogu/state')
    mkdirSync(source, { recursive: true })
    const given = { replaced: [{ path: '/run/kogu-state', source }] }
    const limits = { bytes: 8 * 1024 ** 2, entries: 100 }
    const fill = (path: string): string => `head -c 5000000 /dev/urandom > ${path}`
    await run(fill('/run/kogu-state/a'), given, undefined, { limits }).then(({ discard }) => discard())
    const script = `${fill('/run/kogu-state/b')}; ${fill('here')}`
    await expect(run(script, given, undefined, { limits })).rejects.toMatchObject({
      message: expect.stringContaining('wrote too much to the disk'),
    })
    expect(tree()).toEqual({ 'src/a': 'a', 'src/deep/b': 'b', 'docs/readme': 'read me' })
  })

  test.each(['here', '/run/kogu-state/b'])(
    'may keep no more open that has no name any more: %s',
    async path => {
      const source = join(state.workspace, '.kogu/state')
      mkdirSync(source, { recursive: true })
      const given = { replaced: [{ path: '/run/kogu-state', source }] }
      const limits = { bytes: 8 * 1024 ** 2, entries: 100 }
      // It waits until it is stopped, in a process that a thread has started.
      const script = `python3 -c "
import os, subprocess, sys, threading
code = 'import os, time; f = open(\\"${path}\\", \\"wb\\", 0); os.unlink(f.name); f.write(os.urandom(40000000)); time.sleep(60)'
thread = threading.Thread(target=lambda: subprocess.run([sys.executable, '-c', code]))
thread.start(); thread.join()"`
      await expect(run(script, given, undefined, { limits })).rejects.toMatchObject({
        message: expect.stringContaining('wrote too much to the disk'),
      })
    },
  )

  test('keeps modes and times, drops pipes and set-user-id bits, and says so', async () => {
    const { changes } = await run(
      'chmod 640 src/a; cp /bin/true own; chmod 4755 own; mkfifo pipe; touch -d 2001-02-03 docs/readme; echo x >> src/deep/b; touch -d 2002-02-03 src/deep/b',
    )
    expect(changes.dropped.map(({ path }) => path)).toEqual(['own', 'pipe'])
    expect(changes.touched.map(({ path }) => path)).toEqual(['docs/readme'])
    await commitOverlay(changes, accept)
    const at = (path: string) => statSync(join(state.workspace, path))
    expect(at('src/a').mode & 0o7777).toBe(0o640)
    expect(at('own').mode & 0o7777).toBe(0o755)
    expect(at('docs/readme').mtime.getFullYear()).toBe(2001)
    expect(at('src/deep/b').mtime.getFullYear()).toBe(2002)
    expect(existsSync(join(state.workspace, 'pipe'))).toBe(false)
  })

  test('a file that was only opened for writing is no change', async () => {
    const { changes } = await run('exec 9<>src/a')
    expect(changes.changes).toEqual([])
    expect(changes.touched).toEqual([])
  })

  test('a change that hides behind the old size and time is found', async () => {
    const { changes } = await run('touch -r src/a /tmp/time; printf A > src/a; touch -r /tmp/time src/a')
    expect(changes.changes).toMatchObject([{ change: 'changed', path: 'src/a' }])
    await commitOverlay(changes, accept)
    expect(tree()).toEqual({ 'src/a': 'A', 'src/deep/b': 'b', ...DOCS() })
  })

  test.each([
    ['made', "rm src/a; echo x > $'bad\\xff'"],
    [
      'made in a new folder',
      "rm src/a; mkdir -p $'new/bad\\xff'; echo x > $'new/bad\\xff/x'; chmod 0 new/bad*",
    ],
    ['deleted', "rm src/a odd/$'bad\\xff'"],
    ['deleted with its folder', 'rm -r src/a odd'],
    ['replaced with its folder', 'rm -r src/a odd; mkdir odd'],
  ])('nothing is kept when a name that is not UTF-8 is %s', async (_what, script) => {
    mkdirSync(join(state.workspace, 'odd'))
    const odd = Buffer.concat([Buffer.from(join(state.workspace, 'odd/bad')), Buffer.from([0xff])])
    writeFileSync(odd, 'kept')
    await expect(run(script)).rejects.toThrow('not UTF-8')
    expect(readFileSync(odd, 'utf8')).toBe('kept')
    expect(readFileSync(join(state.workspace, 'src/a'), 'utf8')).toBe('a')
    expect(readdirSync(join(state.workspace, '.kogu/overlay'))).toEqual([])
  })

  test('a name that is not UTF-8 is no obstacle where nothing is done to it', async () => {
    mkdirSync(join(state.workspace, 'odd'))
    writeFileSync(Buffer.concat([Buffer.from(join(state.workspace, 'odd/bad')), Buffer.from([0xff])]), 'kept')
    const { changes } = await run('echo x > odd/x')
    await commitOverlay(changes, accept)
    expect(readdirSync(join(state.workspace, 'odd'))).toHaveLength(2)
  })

  test('pipes that are deleted are told before anything is brought over', async () => {
    mkdirSync(join(state.workspace, 'pipes'))
    execFileSync('mkfifo', [join(state.workspace, 'alone'), join(state.workspace, 'pipes/one')])
    const { changes } = await run('rm -r alone pipes')
    expect(changes.dropped).toMatchObject([
      { path: 'alone', why: expect.stringContaining('not deleted') },
      { path: 'pipes/one', why: expect.stringContaining('undo does not bring it back') },
    ])
    await commitOverlay(changes, accept)
    expect(existsSync(join(state.workspace, 'alone'))).toBe(true)
    expect(existsSync(join(state.workspace, 'pipes'))).toBe(false)
    rmSync(join(state.workspace, 'alone'))
  })

  test('a hard link to a file outside does not carry the change there', async () => {
    writeFileSync(join(state.root, 'outside'), 'outside')
    linkSync(join(state.root, 'outside'), join(state.workspace, 'inside'))
    const { changes } = await run('echo changed > inside')
    await commitOverlay(changes, accept)
    expect(readFileSync(join(state.root, 'outside'), 'utf8')).toBe('outside')
    expect(readFileSync(join(state.workspace, 'inside'), 'utf8')).toBe('changed\n')
  })

  test('a refused path keeps all changes out', async () => {
    const { changes, discard } = await run(
      'git init -q sub; echo x > sub/.git/hooks/pre-commit; echo new > src/a',
    )
    const target: OverlayTarget = {
      ...accept,
      refusal: ({ path }) => (path.includes('.git/hooks/') ? 'runs code' : null),
    }
    await expect(commitOverlay(changes, target)).rejects.toMatchObject({ code: 'forbidden' })
    expect(tree()).toEqual({ ...SOURCES(), ...DOCS() })
    discard()
  })

  test.each([
    ['changed', 'echo new > src/a'],
    ['deleted', 'rm -rf src'],
    ['replaced', 'rm -rf src; mkdir src'],
  ])(
    'a file that a person edits while the command runs is not overwritten when it is %s',
    async (_name, script) => {
      // When the command says that it has begun.
      const onOutput = (): void => writeFileSync(join(state.workspace, 'src/a'), 'by hand')
      const { changes, discard } = await run(`echo begun; ${script}`, {}, undefined, { onOutput })
      await expect(commitOverlay(changes, accept)).rejects.toMatchObject({ code: 'conflict' })
      expect(tree()).toEqual({ 'src/a': 'by hand', 'src/deep/b': 'b', ...DOCS() })
      discard()
    },
  )

  test.each([
    ['changed', 'echo new > src/a', 'src/a'],
    ['made', 'echo new > z', 'z'],
    ['deleted', 'rm -rf src', 'src/deep/b'],
    ['new in a folder that is deleted', 'rm -rf src', 'src/deep/NEW'],
  ])(
    'nor is one that a person writes while the old content is kept, when it is %s',
    async (_name, script, path) => {
      const { changes, discard } = await run(script)
      const slow: OverlayTarget = {
        ...accept,
        keep: async () => writeFileSync(join(state.workspace, path), 'by hand'),
      }
      await expect(commitOverlay(changes, slow)).rejects.toMatchObject({ code: 'conflict' })
      expect(tree()).toEqual({ ...SOURCES(), ...DOCS(), [path]: 'by hand' })
      discard()
    },
  )

  test('what a person writes after the decision keeps its content under another name', async () => {
    const { changes } = await run('echo new > src/a; echo new > z')
    const killed: OverlayTarget = { ...accept, committed: () => Promise.reject(new Error('killed')) }
    await expect(commitOverlay(changes, killed)).rejects.toThrow()
    // As if it had been killed before either file was moved.
    const upper = join(state.workspace, '.kogu/overlay/one/upper')
    for (const path of ['src/a', 'z']) {
      renameSync(join(state.workspace, path), join(upper, path))
      writeFileSync(join(state.workspace, path), `${path} by hand`)
    }
    const [settled] = await recoverOverlays(join(state.workspace, '.kogu/overlay'))
    expect(settled).toMatchObject({ outcome: 'finished', displaced: [{ path: 'src/a' }, { path: 'z' }] })
    const found = tree()
    for (const { path, keptAs } of settled?.displaced ?? []) {
      expect([found[path], found[keptAs]]).toEqual(['new\n', `${path} by hand`])
    }
  })

  describe('what a person writes into a folder after the decision to delete it', () => {
    const overlays = (): string => join(state.workspace, '.kogu/overlay')
    /** As if it had been killed before anything was deleted. */
    const decide = async (script: string) => {
      const { changes } = await run(script)
      const closed = lstatSync(join(state.workspace, 'src')).mode & 0o7777
      const stopped: OverlayTarget = {
        ...accept,
        keep: async () => writeFileSync(join(overlays(), 'one/removed'), 'no list'),
      }
      await expect(commitOverlay(changes, stopped)).rejects.toMatchObject({ code: 'failed' })
      expect(lstatSync(join(state.workspace, 'src')).mode & 0o7777).toBe(closed)
      rmSync(join(overlays(), 'one/removed'))
    }

    test('stays, with the folders around it, and is named', async () => {
      writeFiles({ 'src/other/c': 'c' })
      execFileSync('mkfifo', [join(state.workspace, 'src/other/pipe')])
      await decide('rm -rf src')
      writeFileSync(join(state.workspace, 'src/deep/NEW'), 'new')
      writeFileSync(join(state.workspace, 'draft'), 'saved')
      renameSync(join(state.workspace, 'draft'), join(state.workspace, 'src/a'))
      const stayed = ['src/deep/NEW', 'src/a'].map(path => ({ path, keptAs: path }))
      expect(await recoverOverlays(overlays())).toMatchObject([{ outcome: 'finished', displaced: stayed }])
      expect(tree()).toEqual({ 'src/deep/NEW': 'new', 'src/a': 'saved', ...DOCS() })
      expect(existsSync(join(state.workspace, 'src/other'))).toBe(false)
    })

    test('stays also while the others are being deleted, and counts as not deleted', async () => {
      writeFiles(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`src/many/${index}`, ''])))
      const { changes } = await run('rm -rf src')
      const left: string[] = []
      const busy: OverlayTarget = {
        ...accept,
        // Comes to its turn when the first two hundred are gone.
        keep: async () => void setImmediate(() => writeFileSync(join(state.workspace, 'src/NEW'), 'new')),
        committed: async (_changes, paths) => void left.push(...paths),
      }
      expect(await commitOverlay(changes, busy)).toEqual([{ path: 'src/NEW', keptAs: 'src/NEW' }])
      expect([left, tree()]).toEqual([['src/NEW'], { 'src/NEW': 'new', ...DOCS() }])
    })

    test('makes way for a file of the same name', async () => {
      await decide('rm -rf src; echo file > src')
      writeFileSync(join(state.workspace, 'src/deep/NEW'), 'new')
      const [settled] = await recoverOverlays(overlays())
      const keptAs = settled?.displaced[0]?.keptAs ?? ''
      expect(settled?.displaced).toEqual([{ path: 'src', keptAs }])
      expect(tree()).toEqual({ src: 'file\n', [`${keptAs}/deep/NEW`]: 'new', ...DOCS() })
    })

    test('stays also when the folder became a link, behind which nothing is deleted', async () => {
      await decide('rm -rf src')
      renameSync(join(state.workspace, 'src/deep'), join(state.root, 'elsewhere'))
      symlinkSync(join(state.root, 'elsewhere'), join(state.workspace, 'src/deep'))
      await recoverOverlays(overlays())
      expect(readdirSync(join(state.root, 'elsewhere'))).toEqual(['b'])
      expect(readdirSync(join(state.workspace, 'src'))).toEqual(['deep'])
    })
  })

  test('folders nested so deeply that no path leads to the innermost are refused, and nothing is left of them', async () => {
    const name = 'd'.repeat(200)
    const nest = `for i in $(seq 30); do mkdir ${name} && cd -P ${name} || exit 1; done`
    await expect(run(nest)).rejects.toThrow('nested too deeply')
    expect(readdirSync(join(state.workspace, '.kogu/overlay'))).toEqual([])
  })

  test('is tried again when something to be covered went meanwhile', async () => {
    if (typeof system === 'string') throw new Error(system)
    const unlucky = join(state.root, 'bwrap')
    const first = join(state.root, 'first')
    const script = `#!/bin/sh
if mkdir '${first}' 2>/dev/null; then echo "bwrap: Can't find source path /gone" >&2; exit 1; fi
exec ${system.bubblewrap} "$@"
`
    writeFileSync(unlucky, script, { mode: 0o755 })
    const { changes } = await run('echo new > z', {}, unlucky)
    expect(existsSync(first)).toBe(true)
    await commitOverlay(changes, accept)
    expect(tree()).toEqual({ ...SOURCES(), ...DOCS(), z: 'new\n' })
  })

  test('a forged mark does not delete what the command did not', async () => {
    const forge = `python3 -c 'import os; os.setxattr("docs", "user.overlay.opaque", b"y")' || true`
    const { changes } = await run(`${forge}; echo n > docs/n`)
    await commitOverlay(changes, accept)
    expect(tree()).toEqual({ ...SOURCES(), ...DOCS(), 'docs/n': 'n\n' })
  })

  test('files and folders that their owner may not read are brought over with their modes', async () => {
    const { changes } = await run('mkdir d; echo x > d/x; echo y > y; chmod 000 d/x y d src/deep')
    await commitOverlay(changes, accept)
    const modeOf = (path: string): number => lstatSync(join(state.workspace, path)).mode & 0o777
    expect([modeOf('d'), modeOf('y'), modeOf('src/deep')]).toEqual([0, 0, 0])
    for (const path of ['d', 'src/deep']) chmodSync(join(state.workspace, path), 0o700)
    expect(modeOf('d/x')).toBe(0)
    for (const path of ['d/x', 'y']) chmodSync(join(state.workspace, path), 0o600)
    expect(tree()).toEqual({ ...SOURCES(), ...DOCS(), 'd/x': 'x\n', y: 'y\n' })
  })

  test('a layer that cannot be settled does not keep the others, or Kogu, from starting', async () => {
    const overlays = join(state.workspace, '.kogu/overlay')
    mkdirSync(join(overlays, 'broken'), { recursive: true })
    writeFileSync(join(overlays, 'broken/journal'), 'no journal')
    mkdirSync(join(overlays, 'left/upper'), { recursive: true })
    expect(await recoverOverlays(overlays)).toMatchObject([
      { outcome: 'unfinished', folder: join(overlays, 'broken') },
      { outcome: 'discarded', folder: join(overlays, 'left') },
    ])
  })

  test('nothing is changed when what is replaced cannot be kept', async () => {
    const { changes, discard } = await run('rm -rf src')
    const failing: OverlayTarget = { ...accept, keep: () => Promise.reject(new Error('disk full')) }
    await expect(commitOverlay(changes, failing)).rejects.toThrow('disk full')
    expect(tree()).toEqual({ ...SOURCES(), ...DOCS() })
    discard()
  })

  test('a folder swapped for a link before the changes come leads nowhere', async () => {
    const { changes, discard } = await run('echo new > src/deep/c')
    mkdirSync(join(state.root, 'elsewhere'))
    rmSync(join(state.workspace, 'src/deep'), { recursive: true })
    symlinkSync(join(state.root, 'elsewhere'), join(state.workspace, 'src/deep'))
    await expect(commitOverlay(changes, accept)).rejects.toThrow()
    expect(readdirSync(join(state.root, 'elsewhere'))).toEqual([])
    discard()
  })

  describe('a failure half-way', () => {
    /** Something comes in the way after everything was checked. */
    const obstructed: OverlayTarget = {
      ...accept,
      async keep() {
        rmSync(join(state.workspace, 'src/deep'), { recursive: true })
        writeFileSync(join(state.workspace, 'src/deep'), 'in the way')
      },
    }
    const overlays = (): string => join(state.workspace, '.kogu/overlay')
    const fail = async () => {
      const { changes } = await run('rm docs/readme; echo new > src/deep/c; echo z > z')
      await expect(commitOverlay(changes, obstructed)).rejects.toMatchObject({ code: 'failed' })
      expect(isDecided(changes)).toBe(true)
      expect(existsSync(join(state.workspace, 'docs/readme'))).toBe(false)
    }

    test('is finished by the next start', async () => {
      await fail()
      rmSync(join(state.workspace, 'src/deep'))
      mkdirSync(join(state.workspace, 'src/deep'))
      expect(await recoverOverlays(overlays())).toMatchObject([{ outcome: 'finished' }])
      expect(tree()).toEqual({ 'src/a': 'a', 'src/deep/c': 'new\n', z: 'z\n' })
      expect(readdirSync(overlays())).toEqual([])
    })

    test('that cannot be finished keeps what the command made, and is not tried for ever', async () => {
      await fail()
      expect(await recoverOverlays(overlays())).toMatchObject([{ outcome: 'unfinished' }])
      expect(await recoverOverlays(overlays())).toEqual([])
      expect(readFileSync(join(overlays(), 'one/upper/src/deep/c'), 'utf8')).toBe('new\n')
    })

    test('to say that all is done leaves the layer to the next start', async () => {
      const { changes } = await run('echo new > src/a')
      const failing: OverlayTarget = { ...accept, committed: () => Promise.reject(new Error('disk full')) }
      await expect(commitOverlay(changes, failing)).rejects.toMatchObject({ code: 'failed' })
      expect(isDecided(changes)).toBe(true)
      expect(await recoverOverlays(overlays())).toMatchObject([{ outcome: 'finished' }])
      expect(tree()).toEqual({ 'src/a': 'new\n', 'src/deep/b': 'b', ...DOCS() })
    })
  })

  test('the layer of a living owner is not settled by another start', async () => {
    const { discard } = await run('echo new > src/a')
    expect(await recoverOverlays(join(state.workspace, '.kogu/overlay'))).toEqual([])
    discard()
  })

  test('a file system mounted inside the workspace is a reason not to use a layer', () => {
    expect(overlayProblem(state.workspace)).toBeNull()
    expect(overlayProblem('/dev')).toContain('another file system')
  })

  test('ten thousand files are brought over, and deleted again', async () => {
    const { changes } = await run(
      'mkdir many; cd many; for d in $(seq 100); do mkdir $d; (cd $d; touch $(seq 100)); done',
    )
    await commitOverlay(changes, accept)
    expect(changes.changes).toHaveLength(10_101)
    expect(readdirSync(join(state.workspace, 'many', '77'))).toHaveLength(100)
    const removal = await run('rm -rf many')
    await commitOverlay(removal.changes, accept)
    expect(existsSync(join(state.workspace, 'many'))).toBe(false)
  })
})

function SOURCES(): Record<string, string> {
  return { 'src/a': 'a', 'src/deep/b': 'b' }
}

function DOCS(): Record<string, string> {
  return { 'docs/readme': 'read me' }
}

function writeFiles(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(state.workspace, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    chmodSync(path, 0o644)
    utimesSync(path, new Date(2020, 1, 1), new Date(2020, 1, 1))
  }
}

/** Every file and link of the workspace, without Kogu's own folder. */
function tree(folder = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(state.workspace, folder))) {
    const path = join(folder, name)
    const absolute = join(state.workspace, path)
    const stat = lstatSync(absolute)
    if (path === '.kogu') continue
    if (stat.isDirectory()) Object.assign(found, tree(path))
    else found[path] = stat.isSymbolicLink() ? `-> ${readlinkSync(absolute)}` : readFileSync(absolute, 'utf8')
  }
  return found
}
