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
const CALLS = 2_000
const IN_FLIGHT = 16

/** One `tools/call` of a file of 4 KB, and a start, side by side with the reference server. */
export async function measureMcp(): Promise<Row[]> {
  buildWhenOutdated()
  const home = mkdtempSync(join(tmpdir(), 'kogu-bench-mcp-'))
  const workspace = join(home, 'project')
  mkdirSync(join(workspace, '.git'), { recursive: true })
  const path = join(workspace, 'a.txt')
  writeFileSync(path, 'a line of the file that is read\n'.repeat(128))
  const options = { cwd: workspace, env: { HOME: home, PATH: '/usr/bin:/bin' } }
  const startKogu = () => startMcpServer(PROGRAM, ['mcp'], options)
  const startPeer = () => startMcpServer(PEER, [workspace], options)
  const kogu = await startKogu()
  const peer = await startPeer()
  try {
    const read = (server: McpServer, tool: string) => () => server.call(tool, { path })
    const times = { kogu: [] as number[], peer: [] as number[] }
    const timed = (side: keyof typeof times, call: () => Promise<string>) => async (): Promise<string> => {
      const started = performance.now()
      const text = await call()
      times[side].push(performance.now() - started)
      return text
    }
    const many = (call: () => Promise<string>) => () =>
      Promise.all(Array.from({ length: IN_FLIGHT }, () => call()))
    const ours = timed('kogu', read(kogu, 'read_file'))
    const theirs = timed('peer', read(peer, 'read_text_file'))
    const one = await interleave(CALLS, { kogu: { run: ours }, peer: { run: theirs } })
    const slowestOfOne = slowest('read 4 KB, 1 in flight, p99', times)
    times.kogu = []
    times.peer = []
    const burst = await interleave(CALLS / IN_FLIGHT, {
      kogu: { run: many(ours) },
      peer: { run: many(theirs) },
    })
    const slowestOfMany = slowest(`read 4 KB, ${IN_FLIGHT} in flight, p99 of each`, times)
    const first = async (start: () => Promise<McpServer>, tool: string): Promise<void> => {
      const server = await start()
      await read(server, tool)()
      await server.close()
    }
    const starts = await interleave(15, {
      kogu: { run: () => first(startKogu, 'read_file') },
      peer: { run: () => first(startPeer, 'read_text_file') },
    })
    const memory = { kogu: residentMegabytes(kogu.pid), peer: residentMegabytes(peer.pid) }
    const name = 'server-filesystem'
    return [
      toRow({
        name: 'read 4 KB, 1 in flight',
        kogu: one.kogu,
        peer: { name, samples: one.peer },
        target: { ratio: 0.5 },
      }),
      slowestOfOne,
      toRow({
        name: `read 4 KB, ${IN_FLIGHT} in flight`,
        kogu: burst.kogu,
        peer: { name, samples: burst.peer },
        target: { ratio: 0.5 },
      }),
      slowestOfMany,
      toRow({
        name: 'start to first answer',
        kogu: starts.kogu,
        peer: { name, samples: starts.peer },
        target: { ratio: 0.6 },
      }),
      toPlainRow({
        name: 'resident memory, 5 s afterwards',
        kogu: `${memory.kogu.toFixed(0)} MB`,
        peer: `${name} ${memory.peer.toFixed(0)} MB`,
        ratio: `${(memory.kogu / memory.peer).toFixed(2)}×`,
        target: '≤ 1×',
        verdict: verdict(memory.kogu <= memory.peer),
      }),
    ]
  } finally {
    await kogu.close()
    await peer.close()
    rmSync(home, { recursive: true, force: true })
  }
}

/** The slowest hundredth, side by side. */
function slowest(name: string, times: Readonly<Record<'kogu' | 'peer', readonly number[]>>): Row {
  const [kogu, peer] = [times.kogu, times.peer].map(each => spreadOf(Float64Array.from(each)).p99)
  const ratio = (kogu ?? Number.NaN) / (peer ?? Number.NaN)
  return toPlainRow({
    name,
    kogu: showTime(kogu ?? Number.NaN),
    peer: `server-filesystem ${showTime(peer ?? Number.NaN)}`,
    ratio: `${ratio.toFixed(2)}×`,
    target: '≤ 1×',
    verdict: verdict(ratio <= 1),
  })
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
