import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../src/store/database/database.ts'
import { placesFor } from '../src/store/places.ts'
import { countRuns, enqueueRun } from '../src/store/tables/run-queue.ts'
import { workspaceId } from '../src/store/workspace-id.ts'
import { createTestDatabase } from '../test/support/database.ts'
import { buildWhenOutdated } from './start.ts'
import { type Row, showTime, toPlainRow, verdict } from './table.ts'

const PROGRAM = join(dirname(import.meta.dirname), 'dist/kogu.js')
const RUNS = 48
const TARGETS: Readonly<Record<number, number>> = { 2: 1.8, 4: 3.2 }

/** Worker processes on one queue, each with one run of three 250 ms steps at a time. */
export async function measureWorkers(): Promise<Row[]> {
  await buildWhenOutdated()
  const rows: Row[] = []
  let alone = 0
  for (const count of [1, 2, 4]) {
    const { ms } = await workThrough(count, 0)
    if (count === 1) alone = ms
    const factor = alone / ms
    const target = TARGETS[count]
    rows.push(
      toPlainRow({
        name: `${RUNS} runs of 250 ms steps, ${count} worker${count === 1 ? '' : 's'}`,
        kogu: `${showTime(ms)} (${factor.toFixed(2)}×)`,
        ...(target === undefined ? {} : { target: `≥ ${target}×`, verdict: verdict(factor >= target) }),
      }),
    )
  }
  const { completed, kills } = await workThrough(4, 6)
  rows.push(
    toPlainRow({
      name: `the same with 4 workers, ${kills} of them killed`,
      kogu: `${completed} of ${RUNS} completed`,
      target: 'all',
      verdict: verdict(completed === RUNS),
    }),
  )
  return rows
}

async function workThrough(count: number, wantedKills: number) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-bench-workers-')))
  const workspace = join(home, 'work')
  mkdirSync(join(workspace, '.kogu'), { recursive: true })
  const step =
    '[[answer]]\ndelay_ms = 250\n[[answer.call]]\ntool = "read_file"\ninput = { path = "r.toml" }\n'
  writeFileSync(join(workspace, 'r.toml'), `${step}${step}[[answer]]\ntext = "Done."\ndelay_ms = 250\n`)
  const server = await createTestDatabase()
  const database = await openDatabase({ folder: home, cache: home, url: server.url })
  const start = (): ChildProcess =>
    spawn(process.execPath, [PROGRAM, 'worker', '-c', 'server.max_runs=1'], {
      cwd: workspace,
      env: { PATH: process.env.PATH, HOME: home, DATABASE_URL: server.url },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const workers = Array.from({ length: count }, start)
  // Ready before there is work: what is measured is the work. Each says so on standard error.
  await Promise.all(workers.map(({ stderr }) => new Promise(resolve => stderr?.once('data', resolve))))
  const place = {
    workspace,
    workspaceId: await workspaceId(placesFor(workspace, join(home, '.local/state/kogu'))),
    user: 'bench',
  }
  const spec = {
    task: 'Go.',
    model: `rehearsal:${join(workspace, 'r.toml')}`,
    authority: {},
    limits: { maxTurns: 5 },
  }
  const started = performance.now()
  for (let index = 0; index < RUNS; index += 1) await enqueueRun(database, { ...place, spec })
  let kills = 0
  let completed = 0
  while (completed < RUNS && performance.now() - started < 300_000) {
    await sleep(50)
    completed = (await countRuns(database, place)).completed ?? 0
    if (kills < wantedKills && Math.random() < 0.1) {
      const index = Math.floor(Math.random() * count)
      workers[index]?.kill('SIGKILL')
      workers[index] = start()
      kills += 1
    }
  }
  const ms = performance.now() - started
  for (const worker of workers) worker.kill('SIGKILL')
  await database.close()
  await server.close()
  rmSync(home, { recursive: true, force: true })
  return { ms, completed, kills }
}
