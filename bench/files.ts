import { spawnSync } from 'node:child_process'
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { type McpServer, startMcpServer } from './mcp-server.ts'
import { interleave, type Side } from './measure.ts'
import { type Row, showTime, type Target, toPlainRow, toRow, verdict } from './table.ts'
import { openTemporaryRuntime, type TemporaryRuntime } from './temporary-runtime.ts'

// Ours in process through the whole runtime: decided, audited, undoable, synced to the disk. Theirs over their own
// protocol on standard input and output, in the folder beside ours.

const LINE = 'const value = compute(alpha, beta, gamma) // 0123456789\n'
const PEER = 'server-filesystem'

export async function measureFiles(): Promise<Row[]> {
  const kogu = await openTemporaryRuntime()
  const theirs = join(dirname(kogu.workspace), 'theirs')
  mkdirSync(theirs)
  const server = await startMcpServer(serverScript(), [theirs])
  const sides: Sides = { kogu, server, theirs }
  try {
    return [
      await readSmall(sides),
      await editLarge(sides),
      await overwrite(sides, SMALL),
      await create(sides, SMALL),
      await bareSequence(sides),
      await overwrite(sides, LARGE),
      await create(sides, LARGE),
      ...(await readTail(sides)),
    ]
  } finally {
    await server.close()
    await kogu.close()
  }
}

interface Amount {
  readonly size: string
  readonly text: (number: number) => string
  readonly rounds: number
  /** Several in a row: one at a time, either side would start each with the caches the other one left. */
  readonly batch: number
}

const SMALL: Amount = { size: '4 KB', text: smallText, rounds: 50, batch: 5 }
const LARGE: Amount = { size: '1 MB', text: largeText, rounds: 20, batch: 1 }

interface Sides {
  readonly kogu: TemporaryRuntime
  readonly server: McpServer
  /** The folder that the server may use. */
  readonly theirs: string
}

function serverScript(): string {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve('@modelcontextprotocol/server-filesystem/package.json')
  return join(dirname(manifest), 'dist/index.js')
}

async function readSmall({ kogu, server, theirs }: Sides): Promise<Row> {
  const text = LINE.repeat(Math.round(4096 / LINE.length))
  writeFileSync(join(kogu.workspace, 'small.ts'), text)
  writeFileSync(join(theirs, 'small.ts'), text)
  const batch = 20 // See Amount.
  return compare('read 4 KB', 150, { ratio: 0.5 }, [
    { run: () => kogu.call('read_file', { path: 'small.ts' }), batch },
    { run: () => server.call('read_text_file', { path: join(theirs, 'small.ts') }), batch },
  ])
}

async function editLarge({ kogu, server, theirs }: Sides): Promise<Row> {
  const half = LINE.repeat(Math.round(512 * 1024) / LINE.length)
  for (const folder of [kogu.workspace, theirs]) {
    writeFileSync(join(folder, 'large.ts'), `${half}const marker = 0\n${half}`)
  }
  const next = (): ((number: number) => { from: string; to: string }) => number => ({
    from: `const marker = ${number}\n`,
    to: `const marker = ${number + 1}\n`,
  })
  const [ours, others] = [counted(next()), counted(next())]
  return compare('edit a 1 MB file', 30, { ratio: 1 }, [
    {
      run: () => {
        const { from, to } = ours()
        return kogu.call('edit_file', { path: 'large.ts', old_string: from, new_string: to })
      },
    },
    {
      run: () => {
        const { from, to } = others()
        const edits = [{ oldText: from, newText: to }]
        return server.call('edit_file', { path: join(theirs, 'large.ts'), edits })
      },
    },
  ])
}

async function overwrite({ kogu, server, theirs }: Sides, amount: Amount): Promise<Row> {
  const { size, text, rounds, batch } = amount
  const [ours, others] = [counted(text), counted(text)]
  const name = `same ${size}.ts`
  // An overwrite needs to know what it replaces: the run has written the file itself before.
  await kogu.call('write_file', { path: name, content: text(-1) })
  return compare(`write ${size} over a file`, rounds, { ratio: 1 }, [
    { run: () => kogu.call('write_file', { path: name, content: ours() }), batch },
    { run: () => server.call('write_file', { path: join(theirs, name), content: others() }), batch },
  ])
}

async function create({ kogu, server, theirs }: Sides, amount: Amount): Promise<Row> {
  const { size, text, rounds, batch } = amount
  const content = text(0)
  const name = counted(number => `new ${size} ${number}.ts`)
  return compare(`write ${size} as a new file`, rounds, { ratio: 1 }, [
    { run: () => kogu.call('write_file', { path: name(), content }), batch },
    { run: () => server.call('write_file', { path: join(theirs, name()), content }), batch },
  ])
}

/** What no atomic and synced write can do without, as a measure of what the rest of ours costs. */
async function bareSequence({ server, theirs }: Sides): Promise<Row> {
  const [ours, others] = [counted(smallText), counted(smallText)]
  const path = join(theirs, 'bare.ts')
  const folder = openSync(theirs, 'r')
  const write = (): void => {
    const descriptor = openSync(`${path}.new`, 'wx')
    writeSync(descriptor, ours())
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(`${path}.new`, path)
    fsyncSync(folder)
  }
  try {
    const { rounds, batch } = SMALL
    return await compare('only create, write, fsync, rename, fsync (no Kogu)', rounds, undefined, [
      { run: write, batch },
      { run: () => server.call('write_file', { path: join(theirs, 'theirs.ts'), content: others() }), batch },
    ])
  } finally {
    closeSync(folder)
  }
}

function smallText(number: number): string {
  return LINE.repeat(Math.round(4096 / LINE.length)).replace('alpha', `alpha${number}`)
}

function largeText(number: number): string {
  return LINE.repeat(Math.round(1024 ** 2 / LINE.length)).replace('alpha', `alpha${number}`)
}

/** Something else in each round. */
function counted<T>(make: (number: number) => T): () => T {
  let number = -1
  return () => {
    number += 1
    return make(number)
  }
}

async function compare(
  name: string,
  rounds: number,
  target: Target | undefined,
  [kogu, peer]: readonly [Side, Side],
): Promise<Row> {
  const samples = await interleave(rounds, { kogu, peer })
  const row = { name, kogu: samples.kogu, peer: { name: PEER, samples: samples.peer } }
  return toRow(target === undefined ? row : { ...row, target })
}

const GIGABYTE = 1024 ** 3
const MOST_EXTRA_MEMORY = 20 * 1024 ** 2
const TAIL_LINES = 20

/** A process of its own for Kogu, because memory that this one has used before could not be told apart. */
async function readTail({ server, theirs }: Sides): Promise<Row[]> {
  const path = join(theirs, 'huge.log')
  const descriptor = openSync(path, 'w')
  writeSync(descriptor, LINE.repeat(10_000))
  // Nothing is written between the two ends, so it takes no room on the disk.
  ftruncateSync(descriptor, 5 * GIGABYTE)
  writeSync(descriptor, LINE.repeat(10_000), 5 * GIGABYTE)
  closeSync(descriptor)

  const started = performance.now()
  await server.call('read_text_file', { path, tail: TAIL_LINES })
  const theirMs = performance.now() - started
  const program = join(import.meta.dirname, 'tail-memory.ts')
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', program, theirs, 'huge.log', String(TAIL_LINES)],
    { encoding: 'utf8' },
  )
  if (stdout === '') throw new Error(`tail-memory.ts failed: ${stderr}`)
  const ours = tailResult.parse(JSON.parse(stdout))
  const name = `last ${TAIL_LINES} lines of a 5 GB file`
  return [
    toPlainRow({
      name: `${name}: time`,
      kogu: showTime(ours.ms),
      peer: `${PEER} ${showTime(theirMs)}`,
      ratio: `${(ours.ms / theirMs).toFixed(2)}×`,
    }),
    toPlainRow({
      name: `${name}: extra memory`,
      kogu: `${(ours.extraBytes / 1024 ** 2).toFixed(1)} MB`,
      target: '< 20 MB',
      verdict: verdict(ours.extraBytes < MOST_EXTRA_MEMORY),
    }),
  ]
}

const tailResult = z.object({ ms: z.number(), extraBytes: z.number() })
