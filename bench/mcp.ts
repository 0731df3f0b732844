import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type McpServer, startMcpServer } from './mcp-server.ts'
import { interleave, spreadOf } from './measure.ts'
import { buildWhenOutdated } from './start.ts'
import { type Row, showTime, toPlainRow, toRow, verdict } from './table.ts'

const ROOT = dirname(import.meta.dirname)
const PROGRAM = join(ROOT, 'dist/kogu.js')
const PEER = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
/** Answers at once: what the client and the pipes cost, whatever the server does. */
const FLOOR = join(import.meta.dirname, 'mcp-floor.mjs')
/** Does what is promised about a read, and decides nothing. */
const LEAST = join(import.meta.dirname, 'mcp-least.mjs')
const CALLS = 2_000
const IN_FLIGHT = 16

type Side = 'kogu' | 'peer' | 'least' | 'floor'
type Times = Readonly<Record<Side, Float64Array>>

/** One `tools/call` of a file of 4 KB, and a start, side by side with the reference server. */
export async function measureMcp(): Promise<Row[]> {
  buildWhenOutdated()
  const home = mkdtempSync(join(tmpdir(), 'kogu-bench-mcp-'))
  const workspace = join(home, 'project')
  mkdirSync(join(workspace, '.git'), { recursive: true })
  const path = join(workspace, 'a.txt')
  writeFileSync(path, 'a line of the file that is read\n'.repeat(128))
  const options = { cwd: workspace, env: { HOME: home, PATH: '/usr/bin:/bin' } }
  const start: Readonly<Record<Side, () => Promise<McpServer>>> = {
    kogu: () => startMcpServer(PROGRAM, ['mcp'], options),
    peer: () => startMcpServer(PEER, [workspace], options),
    least: () => startMcpServer(LEAST, [], options),
    floor: () => startMcpServer(FLOOR, [], options),
  }
  const servers = {
    kogu: await start.kogu(),
    peer: await start.peer(),
    least: await start.least(),
    floor: await start.floor(),
  }
  try {
    const read = (side: Side, server = servers[side]) =>
      server.call(side === 'peer' ? 'read_text_file' : 'read_file', { path })
    const one = await measureOne(read)
    const many = await measureMany(read)
    const first = (side: Side) => {
      let server: McpServer | undefined
      return {
        async run() {
          server = await start[side]()
          await read(side, server)
        },
        // How long each takes to end is another matter: ours seals its record.
        after: async () => server?.close(),
      }
    }
    const starts = await interleave(15, {
      kogu: first('kogu'),
      peer: first('peer'),
      least: first('least'),
      floor: first('floor'),
    })
    const memory = {
      kogu: residentMegabytes(servers.kogu.pid),
      peer: residentMegabytes(servers.peer.pid),
    }
    return [
      ...rowsOf('read 4 KB, 1 in flight', one),
      ...rowsOf(`read 4 KB, ${IN_FLIGHT} in flight, each`, many),
      toRow({
        name: 'start to first answer',
        kogu: starts.kogu,
        peer: { name: NAME, samples: starts.peer },
        target: { ratio: 0.6 },
      }),
      partsRow('start to first answer', starts),
      toPlainRow({
        name: 'resident memory, 5 s afterwards',
        kogu: `${memory.kogu.toFixed(0)} MB`,
        peer: `${NAME} ${memory.peer.toFixed(0)} MB`,
        ratio: `${(memory.kogu / memory.peer).toFixed(2)}×`,
        target: '≤ 1×',
        verdict: verdict(memory.kogu <= memory.peer),
      }),
    ]
  } finally {
    for (const server of Object.values(servers)) await server.close()
    rmSync(home, { recursive: true, force: true })
  }
}

const NAME = 'server-filesystem'

/** Twice, and the first time does not count: until then, engines are still compiling both servers. */
async function measureOne(read: (side: Side) => Promise<string>): Promise<Times> {
  const sides = {
    kogu: { run: () => read('kogu') },
    peer: { run: () => read('peer') },
    least: { run: () => read('least') },
    floor: { run: () => read('floor') },
  }
  await interleave(CALLS, sides)
  return interleave(CALLS, sides)
}

/** From when all of a burst are sent until each is answered. */
async function measureMany(read: (side: Side) => Promise<string>): Promise<Times> {
  const bursts = CALLS / IN_FLIGHT
  const times = {
    kogu: new Float64Array(bursts * IN_FLIGHT),
    peer: new Float64Array(bursts * IN_FLIGHT),
    least: new Float64Array(bursts * IN_FLIGHT),
    floor: new Float64Array(bursts * IN_FLIGHT),
  }
  // The last so many are kept: what came before is the warm-up.
  const counts = { kogu: 0, peer: 0, least: 0, floor: 0 }
  const burst = (side: Side) => ({
    run: () =>
      Promise.all(
        Array.from({ length: IN_FLIGHT }, async () => {
          const started = performance.now()
          await read(side)
          times[side][counts[side]++ % times[side].length] = performance.now() - started
        }),
      ),
  })
  await interleave(bursts, {
    kogu: burst('kogu'),
    peer: burst('peer'),
    least: burst('least'),
    floor: burst('floor'),
  })
  return times
}

function rowsOf(name: string, times: Times): Row[] {
  const [kogu, peer] = [spreadOf(times.kogu), spreadOf(times.peer)]
  const row = (share: 'median' | 'p99', target: number): Row => {
    const ratio = kogu[share] / peer[share]
    return toPlainRow({
      name: `${name}, ${share === 'median' ? 'p50' : share}`,
      kogu: showTime(kogu[share]),
      peer: `${NAME} ${showTime(peer[share])}`,
      ratio: `${ratio.toFixed(2)}×`,
      target: `≤ ${target}×`,
      verdict: verdict(ratio <= target),
    })
  }
  return [row('median', 0.5), row('p99', 1), partsRow(name, times)]
}

/** How much of it is the client's and the pipes', and how much is promised whatever is decided. */
function partsRow(name: string, times: Times): Row {
  const [peer, least, floor] = [times.peer, times.least, times.floor].map(each => spreadOf(each).median)
  return toPlainRow({
    name: `${name}: a server that answers at once`,
    kogu: showTime(floor ?? Number.NaN),
    peer: `one that reads and records as promised, decides nothing: ${showTime(least ?? Number.NaN)}`,
    ratio: `${((least ?? Number.NaN) / (peer ?? Number.NaN)).toFixed(2)}×`,
  })
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
