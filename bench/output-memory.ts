import { createOutputKeeper } from '../src/sandbox/processes/output.ts'
import type { SandboxProcesses } from '../src/sandbox/processes/processes.ts'
import { type Row, toPlainRow, verdict } from './table.ts'

const MEGABYTE = 1024 ** 2

/** What output costs while it passes through, and while it is kept. */
export async function measureOutputMemory(processes: SandboxProcesses): Promise<Row[]> {
  const passing = await growth(async () => {
    await processes.run({
      ...{ file: '/usr/bin/head', args: ['-c', '500M', '/dev/zero'], cwd: '/', env: {}, timeoutMs: 60_000 },
      signal: new AbortController().signal,
      onStdout: () => undefined,
    })
  })
  const kept = await growth(async () => {
    const keeper = createOutputKeeper()
    const chunk = Buffer.alloc(65_536, 'x')
    for (let index = 0; index < 16_384; index += 1) keeper.write(chunk)
    keeper.read()
  })
  return [
    row('memory while a program writes 500 MB', passing, 150),
    row('memory to keep 1 GB of output', kept, 30),
  ]
}

async function growth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss()
  await work()
  return (process.memoryUsage.rss() - before) / MEGABYTE
}

function row(name: string, megabytes: number, most: number): Row {
  return toPlainRow({
    name,
    kogu: `${Math.max(0, Math.round(megabytes))} MB`,
    target: `< ${most} MB`,
    verdict: verdict(megabytes < most),
  })
}
