import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noSandbox } from '../../../test/support/skips.ts'
import type { CommandPermit } from '../../core/command.ts'
import type { Permit } from '../../core/permit.ts'
import { DEFAULT_SANDBOX_LIMITS } from '../../core/sandbox.ts'
import { type Background, createBackground } from '../../sandbox/background/background.ts'
import { createProcesses } from '../../sandbox/processes/processes.ts'
import { createSandbox } from '../../sandbox/walls/sandbox.ts'
import { findSandboxSystem } from '../../sandbox/walls/system.ts'
import { createPathLocks } from '../../workspace/files/path-locks.ts'
import { testPermit } from '../../workspace/testing.ts'
import { createToolBench, type ToolBench } from '../testing.ts'
import { backgroundTools } from './background-tools.ts'
import { explainReadOnly, foldersToWrite } from './background-write.ts'
import type { CommandParts } from './parts.ts'
import { runCommandTool } from './run-command.ts'

const system = findSandboxSystem()
const state: { bench: ToolBench } = { bench: createToolBench() }

beforeEach(async () => {
  await state.bench.close()
  state.bench = createToolBench()
})
afterEach(() => state.bench.close())

function open(backgroundWrite: string[], permit: Partial<Permit> = {}): string[] {
  const { root } = state.bench
  return foldersToWrite({ workspace: root, backgroundWrite }, { ...testPermit(root, []), ...permit })
}

describe('folders that background commands may write', () => {
  test('are made when they are missing, and one inside another is the other', () => {
    const { at } = state.bench
    expect(open(['dist', 'node_modules/.vite', 'dist/assets', 'dist'])).toEqual([
      at('dist'),
      at('node_modules/.vite'),
    ])
    expect(existsSync(at('node_modules/.vite'))).toBe(true)
    expect(existsSync(at('dist/assets'))).toBe(false)
  })

  test.each(['.git', '.git/hooks', 'a/.git/b', '.kogu', '.kogu/undo'])('are never in %s', folder => {
    expect(() => open([folder])).toThrow(/protected/)
    expect(existsSync(state.bench.at('.git'))).toBe(false)
  })

  test('are not the workspace or outside it, whatever the configuration let through', () => {
    for (const folder of ['.', '', '..', '../other', '/etc/../..']) {
      expect(() => open([folder])).toThrow(/inside the workspace/)
    }
  })

  test('hold nothing protected', () => {
    mkdirSync(state.bench.at('packages/deep/er/.git'), { recursive: true })
    expect(() => open(['packages'])).toThrow(/holds .*packages\/deep\/er\/\.git/)
  })

  test('are not opened against a rule, for themselves or for what is in them', () => {
    mkdirSync(state.bench.at('dist'))
    writeFileSync(state.bench.at('dist/kept.txt'), '')
    const { command } = approved({
      deniesChange: (kind, path) =>
        kind === 'file_delete' && path.endsWith('kept.txt') ? 'rule no-kept' : null,
    })
    expect(() => open(['dist'], { command })).toThrow(/no-kept/)
    expect(open(['other'], { command })).toHaveLength(1)
  })

  test('are not reached through links, dangling ones neither', () => {
    const { at } = state.bench
    mkdirSync(at('.git/hooks'), { recursive: true })
    mkdirSync(at('real'))
    symlinkSync('.git/hooks', at('dist'))
    symlinkSync('../nowhere', at('dangling'))
    symlinkSync('real', at('near'))
    writeFileSync(at('file'), '')
    for (const folder of ['dist', 'dist/x', 'dangling', 'dangling/x', 'near', 'near/x']) {
      expect(() => open([folder])).toThrow(/is a link/)
    }
    expect(() => open(['file'])).toThrow(/is no folder/)
    expect(existsSync(at('../nowhere'))).toBe(false)
    expect(existsSync(at('real/x'))).toBe(false)
  })
})

test.each([
  ["Error: EROFS: read-only file system, open '/w/dist/a'", '/w/dist/a', true],
  ["Error: ENOENT: no such file or directory, mkdir '/w/.vite/deps'", '/w/.vite/deps', true],
  ['mkdir: cannot create directory ‘dist’: Read-only file system', '/w/app/dist', true],
  ["touch: cannot touch '/etc/x': Read-only file system", '/etc/x', false],
  ["EROFS: read-only file system, open '/w/.git/config'", '/w/.git/config', false],
])('%s names the setting where it helps', (line, target, helps) => {
  const parts = { workspace: '/w', limits: DEFAULT_SANDBOX_LIMITS }
  const found = explainReadOnly(['first', line], parts, '/w/app', path => path.includes('/.git'))
  expect(found).toMatchObject({ kind: 'write', target })
  expect(found?.message.includes('background_write')).toBe(helps)
  expect(explainReadOnly(['all is well'], parts, '/w', () => false)).toBeNull()
})

describe.skipIf(noSandbox !== '')(`a background command${noSandbox}`, () => {
  test('writes the folders that are opened, directly, and nothing else', async () => {
    const { bench } = state
    const parts = toParts(bench.root, ['dist'])
    const command =
      'echo built > dist/out; echo x > plain; ln -s ../.git/hooks dist/hooks; echo x > dist/hooks/a'
    mkdirSync(bench.at('.git/hooks'), { recursive: true })
    try {
      const started = await bench.call(
        runCommandTool(parts, []),
        { command, background: true },
        { permit: approved() },
      )
      expect(started.text).toContain(
        'It may write dist: what it changes there is not recorded and cannot be undone.',
      )
      expect(started.data.unrecorded_folders).toEqual([bench.at('dist')])
      const { id } = started.data
      const output = backgroundTools(parts).find(tool => tool.name === 'command_output')
      if (output === undefined) throw new Error('it is there')
      await expect.poll(async () => (await parts.background().state(id)).running).toBe(false)
      const said = await bench.call(output, { id })
      expect(said.text).toContain('[sandbox: The command could not write')
      expect(said.text).toContain('background_write')
      expect(said.data.denial).toMatchObject({ kind: 'write' })
      expect(readFileSync(bench.at('dist/out'), 'utf8')).toBe('built\n')
      expect(existsSync(bench.at('plain'))).toBe(false)
      expect(existsSync(bench.at('.git/hooks/a'))).toBe(false)
    } finally {
      await endAll(parts.background(), bench.root)
    }
  })

  test("never sees Kogu's state, also what comes later", async () => {
    const { bench } = state
    const parts = toParts(bench.root, [])
    const command = 'read go; ls -A .kogu; cat .kogu/undo/kept; echo done'
    try {
      const { data } = await bench.call(
        runCommandTool(parts, []),
        { command, background: true },
        { permit: approved() },
      )
      mkdirSync(bench.at('.kogu/undo'), { recursive: true })
      writeFileSync(bench.at('.kogu/undo/kept'), 'SECRET')
      await parts.background().input(data.id, Buffer.from('go\n'), false)
      const said = () =>
        parts
          .background()
          .outputFiles(data.id)
          .map(path => readFileSync(path, 'utf8'))
          .join('')
      await expect.poll(said, { timeout: 9000 }).toContain('done')
      expect(said()).not.toMatch(/SECRET|background\n|undo\n/)
    } finally {
      await endAll(parts.background(), bench.root)
    }
  })

  test('that runs unasked writes nothing', async () => {
    const parts = toParts(state.bench.root, ['dist'])
    const permit = approved({ plan: { steps: [] } })
    try {
      await state.bench.call(runCommandTool(parts, []), { command: 'true', background: true }, { permit })
      expect(existsSync(state.bench.at('dist'))).toBe(false)
    } finally {
      await endAll(parts.background(), state.bench.root)
    }
  })
})

test('the person who is asked is told what is written and opened', async () => {
  const parts = toParts(state.bench.root, ['dist'])
  const { input, access, preview } = runCommandTool(parts, [])
  const parsed = input.parse({ command: 'npm run dev', background: true, ports: [3000, 3001] })
  if (!parsed.ok) throw new Error('it parses')
  const { root, workspace } = state.bench
  const context = { cwd: root, workspace: root, receipts: workspace.receipts }
  const details =
    'It keeps running in the background, can be reached at http://127.0.0.1:3000, http://127.0.0.1:3001, may write dist unrecorded: npm run dev'
  expect(await access(parsed.value, context)).toContainEqual({ kind: 'custom', name: 'background', details })
  expect(preview?.(parsed.value, context)).toBe(details)
})

test.each([
  [{ ports: [3000] }, 'Only a background command can open ports'],
  [{ background: true, ports: [80] }, 'must be a port from 1024 to 65535'],
  [{ background: true, ports: [65536] }, 'must be a port from 1024 to 65535'],
  [{ background: true, ports: [3000.5] }, 'must be a port from 1024 to 65535'],
  [{ background: true, ports: [3000, 3000] }, 'names a port twice'],
  [{ background: true, ports: [3128] }, 'is taken in every sandbox that has a network'],
  [{ background: true, ports: [1, 2, 3, 4, 5, 6, 7, 8, 9].map(n => n + 3000) }, 'names more than 8 ports'],
])('run_command refuses %j', async (more, message) => {
  const tool = runCommandTool(toParts(state.bench.root, []), [])
  await expect(state.bench.call(tool, { command: 'true', ...more })).rejects.toThrow(message)
})

function approved(more: Partial<CommandPermit> = {}): { command: CommandPermit } {
  const { root } = state.bench
  return {
    command: {
      cwd: root,
      plan: null,
      hidden: {
        places: () => [],
        searched: [],
        hides: () => false,
        mayHide: Object.assign(() => false, { rules: '' }),
        shown: null,
      },
      git: { subcommands: [] },
      exports: [],
      ...more,
    },
  }
}

function toParts(workspace: string, backgroundWrite: string[]): CommandParts {
  const processes = createProcesses({ spawner: 'direct' })
  const own = join(workspace, '.kogu')
  const background = createBackground(join(own, 'background'))
  mkdirSync(own, { recursive: true })
  return {
    workspace,
    home: '/nonexistent',
    processes,
    sandbox: typeof system === 'string' ? null : createSandbox({ processes, system }),
    noSandboxReason: '',
    sandboxRequired: true,
    overlayProblem: () => 'not needed here',
    undo: () => state.bench.workspace.undo,
    locks: () => createPathLocks(join(own, 'locks')),
    background: () => background,
    places: {
      overlays: own,
      output: join(own, 'output'),
      temporary: join(own, 'tmp'),
      caches: join(own, 'caches'),
      own: [],
    },
    variables: {},
    path: ['/usr/bin', '/bin'],
    caches: [],
    buildOutput: 'ask',
    backgroundWrite,
    socketFolders: [],
    limits: DEFAULT_SANDBOX_LIMITS,
    redact: text => text,
  }
}

async function endAll(background: Background, root: string): Promise<void> {
  for (const { id } of await background.list()) await background.stop(id)
  const lock = readFileSync(join(root, '.kogu/background/supervisor.lock'), 'utf8')
  process.kill(Number(lock.split(' ')[0]), 'SIGKILL')
}
