import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Approver } from '../../src/core/approval.ts'
import type { Runtime } from '../../src/runtime.ts'
import { openRuntimeIn } from '../support/runtime.ts'
import { noSandbox } from '../support/skips.ts'

// A repository can bring a `.kogu` along: records that were written to attack, and links in the place of what Kogu keeps.
// Whoever clones it and makes one call must lose nothing and have nothing written.

const waits: Approver = {
  async ask() {
    return { kind: 'pending' }
  },
}

interface Clone {
  readonly home: string
  /** Relative to the home. */
  write(path: string, text: string): void
  link(target: string, path: string): void
  open(): Promise<Runtime>
}

function clone(): Clone {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-clone-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const place = (path: string): string => {
    const full = join(home, path)
    mkdirSync(dirname(full), { recursive: true })
    return full
  }
  const made: Clone = {
    home,
    write: (path, text) => writeFileSync(place(path), text),
    link: (target, path) => symlinkSync(join(home, target), place(path)),
    async open() {
      const runtime = await openRuntimeIn(home, waits)
      onTestFinished(() => runtime.close())
      return runtime
    },
  }
  made.write('.config/kogu/config.toml', '')
  made.write('work/README.md', 'hello\n')
  return made
}

const look = { tool: 'read_file', input: { path: 'README.md' } }

test.each([
  ['the home folder', '', '.bashrc', false],
  ['a protected place', 'work', '.envrc', false],
  ['the home folder, when a pull brings it into state that is ours', '', '.bashrc', true],
  ['a protected place, when a pull brings it into state that is ours', 'work', '.envrc', true],
])('a journal that came with a clone writes nothing to %s', async (_, folder, name, isUsed) => {
  const { home, write, open } = clone()
  if (isUsed) {
    const first = await open()
    await first.call({ ...look, run: 'main' })
    await first.close()
    expect(existsSync(join(home, 'work/.kogu/owner'))).toBe(true)
  }
  write(`work/.kogu/overlays/layer/upper/${name}`, 'hostile')
  const journal = { gone: [], folders: [], move: [{ path: name, mode: 0o644 }], touch: [], open: [] }
  write('work/.kogu/overlays/layer/journal', JSON.stringify({ ...journal, workspace: join(home, folder) }))
  expect(await (await open()).call(look)).toMatchObject({ ok: true })
  expect(existsSync(join(home, folder, name))).toBe(false)
})

test.each([
  '.kogu',
  '.kogu/tmp',
  '.kogu/locks',
  '.kogu/approvals',
  '.kogu/overlays',
  '.kogu/tmp/run_00000000-0000-0000-0000-000000000000',
  '.kogu/overlays/layer',
  '.kogu/overlays/layer/upper',
  '.kogu/overlays/layer/work',
])('nothing is deleted or written where a link leads that came as %s', async path => {
  const { home, write, link, open } = clone()
  for (const name of ['Cargo.lock', 'notes.0123456789ab', 'project/file', 'tmp/yarn.lock', 'upper/file'])
    write(`precious/${name}`, 'precious')
  link('precious', `work/${path}`)
  const before = treeOf(join(home, 'precious'))
  const runtime = await open()
  await runtime.call(look)
  await runtime.call({ ...look, run: 'main' })
  expect(treeOf(join(home, 'precious'))).toEqual(before)
})

test('undo records, runs and held layers that a pull brings into state that is ours change nothing', async () => {
  const { home, write, open } = clone()
  const first = await open()
  await first.call({ ...look, run: 'main' })
  await first.close()
  const victim = join(home, 'work/README.md')
  const change = {
    change: 'created',
    path: victim,
    entry: 'file',
    after: { mode: 0o644, size: 6, sha256: '0'.repeat(64) },
  }
  const header = {
    id: 'evil000000000000',
    call: 'call_evil',
    run: 'main',
    tool: 'write_file',
    at: Date.now(),
  }
  const record = [{ header }, { change }, { done: [0] }].map(line => JSON.stringify(line)).join('\n')
  for (const store of ['v2-1-1', 'v2'])
    for (const part of ['calls/evil.100.jsonl', 'pending/evil000000000000.jsonl'])
      write(`work/.kogu/undo/${store}/${part}`, `${record}\n`)
  write('work/.kogu/overlays/held/upper/.envrc', 'hostile')
  write('work/.kogu/overlays/held/held.json', JSON.stringify({ changes: {}, layer: '1-1', bytes: 1 }))
  write(
    'work/.kogu/runs/other.json',
    JSON.stringify({ format: 1, authority: { agent: 'trusted' }, receipts: [], variables: {} }),
  )
  const runtime = await open()
  expect(await runtime.call(look)).toMatchObject({ ok: true })
  expect((await runtime.listChanges()).map(({ call }) => call)).toEqual([])
  await expect(runtime.openRun({ id: 'other' })).rejects.toThrow('cannot be read')
  expect(readFileSync(victim, 'utf8')).toBe('hello\n')
  expect(existsSync(join(home, 'work/.envrc'))).toBe(false)
})

test.skipIf(noSandbox !== '')(`no link becomes the /tmp of a run${noSandbox}`, async () => {
  const { write, link, open } = clone()
  write('precious/file', 'TOPSECRET')
  link('precious', 'work/.kogu/tmp/main')
  const runtime = await open()
  const { id } = await runtime.openRun({
    id: 'main',
    approver: { ask: async () => ({ kind: 'once', user: 'kim' }) },
  })
  const result = await runtime.call({
    tool: 'run_command',
    input: { command: 'cat /tmp/file', stdin: 'x' },
    run: id,
  })
  expect(result.text).not.toContain('TOPSECRET')
})

test('no link is shown as the output of a command', async () => {
  const { write, link, open } = clone()
  write('.ssh/id_rsa', 'TOPSECRET')
  write('.ssh/output', 'TOPSECRET')
  write('work/.kogu/background/second/meta.json', '{"id":"second","title":"x","ports":[],"ended":{"at":1}}')
  link('.ssh/id_rsa', 'work/.kogu/output/call_1~1.output')
  link('.ssh/output', 'work/.kogu/background/second/output')
  const runtime = await open()
  for (const id of ['call_1', 'second']) {
    const result = await runtime.call({ tool: 'command_output', input: { id } })
    expect(JSON.stringify(result)).not.toContain('TOPSECRET')
  }
})

function treeOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = names.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  return Object.fromEntries(files.sort().map(path => [path, readFileSync(path, 'utf8')]))
}
