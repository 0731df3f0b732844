import { type ChildProcess, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '../src/store/database/database.ts'
import { placesFor } from '../src/store/places.ts'
import { countRuns, enqueueRun } from '../src/store/tables/run-queue.ts'
import { workspaceId } from '../src/store/workspace-id.ts'
import { buildWhenOutdated } from './start.ts'
import { type Row, toPlainRow, verdict } from './table.ts'

// A server and workers on one queue and one embedded PostgreSQL. All of them are killed with SIGKILL or frozen with SIGSTOP
// at random moments, and started again; the runs go on by themselves. Every turn of a run appends lines by a file tool and by
// commands: each line once, or shown as unknown.

const PROGRAM = join(dirname(import.meta.dirname), 'dist/kogu.js')
const KILLS = 150
const WORKERS = 3
const TURNS = 5
const LINES = TURNS * 3
/** Runs that are not done, while there is killing. */
const OPEN = 8
/** On a busy machine there are fewer kills; the row says how many there were. */
const MOST_MS = 420_000
/** After the last kill. */
const SETTLE_MS = 180_000

interface Place {
  readonly workspace: string
  readonly workspaceId: string
  readonly user: string
}

export async function measureClusterKills(): Promise<Row[]> {
  buildWhenOutdated()
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-bench-cluster-')))
  const workspace = join(home, 'work')
  mkdirSync(join(workspace, '.kogu'), { recursive: true })
  writeFileSync(join(workspace, 'lines.toml'), script())
  mkdirSync(join(home, '.config/kogu'), { recursive: true })
  writeFileSync(join(home, '.config/kogu/config.toml'), 'mode = "accept-edits"\n', { mode: 0o600 })
  const env = { PATH: process.env.PATH, HOME: home }
  const start = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [PROGRAM, ...args], { cwd: workspace, env, stdio: 'ignore' })
  const folder = join(home, '.local/share/kogu')
  const database = await openDatabase({ folder, cache: join(home, '.cache/kogu') })
  const place = {
    workspace,
    workspaceId: await workspaceId(placesFor(workspace, join(home, '.local/state/kogu'))),
    user: 'bench',
  }
  const roles = [SERVE, ...Array.from({ length: WORKERS }, () => WORK)]
  const processes = roles.map(args => ({ args, child: start(args) }))
  try {
    const killed = await killAround({ processes, start, folder, database, place })
    return [await judge(database, place, killed)]
  } finally {
    for (const { child } of processes) child.kill('SIGKILL')
    await database.close()
    rmSync(home, { recursive: true, force: true })
  }
}

const SERVE = ['serve', '--port', '0', '-c', 'server.max_runs=3']
const WORK = ['worker', '-c', 'server.max_runs=3']

interface Cluster {
  readonly processes: { readonly args: readonly string[]; child: ChildProcess }[]
  readonly folder: string
  readonly database: Database
  readonly place: Place
  start(args: readonly string[]): ChildProcess
}

interface Killed {
  readonly runs: readonly string[]
  readonly kills: Readonly<Record<string, number>>
}

async function killAround(cluster: Cluster): Promise<Killed> {
  const { database, place } = cluster
  const runs: string[] = []
  const kills: Record<string, number> = {}
  const until = performance.now() + MOST_MS
  const sum = (): number => Object.values(kills).reduce((all, each) => all + each, 0)
  while (sum() < KILLS && performance.now() < until) {
    const { completed = 0, failed = 0 } = await countRuns(database, place)
    for (let open = runs.length - completed - failed; open < OPEN; open += 1) {
      const task = `log-${runs.length}.txt`
      const model = `rehearsal:${join(place.workspace, 'lines.toml')}`
      const spec = {
        task,
        model,
        authority: { mode: 'accept-edits' as const },
        limits: { maxTurns: TURNS + 2 },
      }
      runs.push((await enqueueRun(database, { ...place, spec })).id)
    }
    await sleep(Math.random() * 1_200)
    const what = await strike(cluster)
    kills[what] = (kills[what] ?? 0) + 1
  }
  return { runs, kills }
}

/** Kills or freezes something, and says what. */
async function strike({ processes, start, folder }: Cluster): Promise<string> {
  const chosen = processes[Math.floor(Math.random() * processes.length)]
  const kind = Math.random()
  if (kind < 0.15) {
    for (const pid of postgres(folder).slice(0, 1)) signal(pid, 'SIGKILL')
    return 'PostgreSQL killed'
  }
  if (kind < 0.25) {
    await freeze(postgres(folder))
    return 'PostgreSQL frozen'
  }
  if (chosen === undefined) throw new Error('There are processes.')
  const role = chosen.args === SERVE ? 'server' : 'worker'
  if (kind < 0.4) {
    await freeze([chosen.child.pid ?? 0])
    return `${role} frozen`
  }
  chosen.child.kill('SIGKILL')
  chosen.child = start(chosen.args)
  return `${role} killed`
}

async function freeze(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signal(pid, 'SIGSTOP')
  await sleep(500 + Math.random() * 2_500)
  for (const pid of pids) signal(pid, 'SIGCONT')
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    if (pid > 1) process.kill(pid, name)
  } catch {
    // It has just ended.
  }
}

/** The server and its children, the server first. Of this folder only. */
function postgres(folder: string): number[] {
  const file = join(folder, 'pg/postmaster.pid')
  if (!existsSync(file)) return []
  const server = Number(readFileSync(file, 'utf8').split('\n')[0])
  const children = readdirSync('/proc').filter(pid => /^\d+$/.test(pid) && parentOf(pid) === server)
  return parentOf(String(server)) === undefined ? [] : [server, ...children.map(Number)]
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    )
  } catch {
    // It has just ended.
    return undefined
  }
}

async function judge(database: Database, place: Place, { runs, kills }: Killed): Promise<Row> {
  const until = performance.now() + SETTLE_MS
  let completed = 0
  while (completed < runs.length && performance.now() < until) {
    await sleep(500)
    completed = (await countRuns(database, place)).completed ?? 0
  }
  const counts = { twice: 0, lost: 0, unknown: 0 }
  for (const [index, run] of runs.entries()) {
    const [row] = await database.query<{ unknown: number; left: string | null }>(
      `SELECT count(*) FILTER (WHERE t.is_ambiguous)::int AS unknown,
         min(r.status || ' ' || coalesce(r.stop_reason, '') || ' ' || coalesce(r.error_message, '')) AS left
       FROM workflow_runs r JOIN agent_executions e ON e.workflow_run_id = r.id
         LEFT JOIN tool_executions t ON t.execution_id = e.id WHERE r.id = $1`,
      [run],
    )
    const lines = linesOf(join(place.workspace, `log-${index}.txt`))
    const { unknown = 0, left = '' } = row ?? {}
    counts.unknown += unknown
    counts.twice += lines.length - new Set(lines).size
    const lost = Math.max(0, LINES - new Set(lines).size - unknown)
    if (left?.startsWith('completed') !== true) console.log(`  not completed: ${run} ${left}`)
    else if (lost > 0) await tellLost(database, run, lines)
    if (left?.startsWith('completed') === true) counts.lost += lost
  }
  const stuck = runs.length - completed
  const all = Object.values(kills).reduce((sum, each) => sum + each, 0)
  const by = Object.entries(kills)
    .map(([what, count]) => `${count} × ${what}`)
    .join(', ')
  return toPlainRow({
    name: `${all} kills under ${runs.length} runs of a server and ${WORKERS} workers (${by})`,
    kogu: `${counts.twice} effects twice, ${counts.lost} lost, ${stuck} runs stuck, ${counts.unknown} of ${runs.length * LINES} shown as unknown`,
    target: `none twice, lost or stuck, of ${KILLS} kills`,
    verdict: verdict(counts.twice + counts.lost + stuck === 0 && all >= KILLS),
  })
}

/** Which lines of a run are not in its file, and what its calls said. */
async function tellLost(database: Database, run: string, lines: readonly string[]): Promise<void> {
  const calls = await database.query<{ call_id: string; input: unknown; output: string; effects: unknown }>(
    `SELECT t.call_id, t.input, t.output, t.effects FROM tool_executions t JOIN agent_executions e ON e.id = t.execution_id
     WHERE e.workflow_run_id = $1 ORDER BY t.created_at`,
    [run],
  )
  console.log(`  lost in ${run}; there are ${lines.join(', ')}`)
  for (const call of calls) console.log(`    ${JSON.stringify(call).slice(0, 900)}`)
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
}

/** The task is the name of the file. Three calls a turn. */
function script(): string {
  const command = (line: number): string =>
    `[[answer.call]]\ntool = "run_command"\ninput = { command = "echo line ${line} >> {{task}}" }\n`
  const write = (line: number): string =>
    `[[answer.call]]\ntool = "write_file"\ninput = { path = "{{task}}", content = "line ${line}\\n", mode = "append" }\n`
  const turn = (first: number): string =>
    `[[answer]]\ndelay_ms = 50\n${command(first)}${write(first + 1)}${command(first + 2)}`
  const turns = Array.from({ length: TURNS }, (_, index) => turn(index * 3 + 1))
  return `${turns.join('')}[[answer]]\ntext = "done"\n`
}
