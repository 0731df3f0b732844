import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { toAiSdkTools } from '../src/agents/ai-sdk-tools.ts'
import { createAiSdkModel } from '../src/agents/models/ai-sdk-model.ts'
import { runAgent } from '../src/agents/run-agent.ts'
import { type MockVendor, startMockVendor } from '../test/support/mock-vendor.ts'
import { interleave } from './measure.ts'
import { buildWhenOutdated } from './start.ts'
import { type Row, showTime, toPlainRow, toRow, verdict } from './table.ts'
import { openTemporaryRuntime } from './temporary-runtime.ts'

const PROGRAM = join(dirname(import.meta.dirname), 'dist/kogu.js')
const STEPS = 20
const ROUNDS = 30
/** Turns of a run on the database; each has two steps. */
const TURNS = 60

/** The loop beside the AI SDK's, durable steps, and the time to the first request of a model. */
export async function measureAgents(): Promise<Row[]> {
  buildWhenOutdated()
  return [await measureLoop(), ...(await measureProgram())]
}

/** Some minutes of killing, so it is a section of its own. */
export async function measureKills(): Promise<Row[]> {
  buildWhenOutdated()
  const machine = await createMachine()
  try {
    return [await countEffects(machine)]
  } finally {
    await machine.close()
  }
}

/** The same model and the same tool, through the same pipeline; only the loop around them differs. */
async function measureLoop(): Promise<Row> {
  const { runtime, workspace, close } = await openTemporaryRuntime()
  writeFileSync(join(workspace, 'a.txt'), 'one\n')
  const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 }
  const usage = { inputTokens: none, outputTokens: none }
  let asked = 0
  const next = () => {
    asked += 1
    const done = asked % STEPS === 0
    const call = {
      type: 'tool-call' as const,
      toolCallId: `c${asked}`,
      toolName: 'list_directory',
      input: `{"path":".","limit":${asked}}`,
    }
    return {
      content: done ? [{ type: 'text' as const, text: 'done' }] : [call],
      finishReason: { unified: done ? ('stop' as const) : ('tool-calls' as const), raw: undefined },
    }
  }
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({ ...next(), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = next()
      const parts: LanguageModelV4StreamPart[] = content.flatMap((part): LanguageModelV4StreamPart[] =>
        part.type === 'text'
          ? [
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: part.text },
              { type: 'text-end', id: '1' },
            ]
          : [part],
      )
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.enqueue({ type: 'finish' as const, finishReason, usage })
          controller.close()
        },
      })
      return { stream }
    },
  })
  const ours = createAiSdkModel({
    id: 'bench/model',
    provider: 'bench',
    capabilities: { context: undefined, maxOutput: undefined, tools: true, images: true, temperature: true },
    price: null,
    load: async () => ({ model, secret: '' }),
  })
  const run = await runtime.openRun({ authority: { tools: ['list_directory'] } })
  try {
    const samples = await interleave(ROUNDS, {
      kogu: {
        run: async () => {
          const limits = { maxTurns: STEPS + 1 }
          const result = await runAgent({
            runtime,
            task: 'go',
            model: ours,
            tools: ['list_directory'],
            limits,
          })
          if (result.turns !== STEPS || result.error !== null)
            throw new Error(`${result.turns}: ${result.error}`)
        },
      },
      sdk: {
        run: async () => {
          const tools = toAiSdkTools(runtime, run)
          const { steps } = await generateText({
            model,
            tools,
            prompt: 'go',
            stopWhen: stepCountIs(STEPS + 1),
          })
          if (steps.length !== STEPS) throw new Error(`${steps.length} steps`)
        },
      },
    })
    return toRow({
      name: `a run of ${STEPS} steps in memory, each with a call`,
      kogu: samples.kogu,
      peer: { name: 'generateText', samples: samples.sdk },
      target: { ratio: 1 },
    })
  } finally {
    await close()
  }
}

interface Machine {
  readonly vendor: MockVendor
  readonly workspace: string
  start(args: readonly string[]): ChildProcess
  close(): Promise<void>
}

/** A home on which Kogu was never started. */
async function createMachine(): Promise<Machine> {
  const vendor = await startMockVendor()
  const home = mkdtempSync(join(tmpdir(), 'kogu-bench-agents-'))
  const workspace = join(home, 'project')
  mkdirSync(join(workspace, '.git'), { recursive: true })
  mkdirSync(join(home, '.config/kogu'), { recursive: true })
  const rule =
    '[[permissions.rules]]\nid = "asked"\ndecision = "ask"\ntool = "write_file"\npath = "asked-*"\n'
  const config = `[providers.anthropic]\nbase_url = "${vendor.url}/v1"\n${rule}`
  writeFileSync(join(home, '.config/kogu/config.toml'), config, { mode: 0o600 })
  writeFileSync(join(workspace, 'steps.toml'), script(TURNS))
  writeFileSync(join(workspace, 'lines.toml'), linesScript())
  const env = { HOME: home, PATH: '/usr/bin:/bin', ANTHROPIC_API_KEY: 'sk-bench-0123456789' }
  return {
    vendor,
    workspace,
    start: args => spawn(process.execPath, [PROGRAM, ...args], { cwd: workspace, env }),
    async close() {
      await vendor.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise(resolve => child.on('close', () => resolve()))
}

async function measureProgram(): Promise<Row[]> {
  const machine = await createMachine()
  const { vendor, workspace, start } = machine
  const untilAsked = async (): Promise<number> => {
    const started = performance.now()
    const asked = new Promise<number>(resolve => {
      vendor.play(() => {
        resolve(performance.now() - started)
        return { text: 'Hello.' }
      })
    })
    const child = start(['run', 'hello', '--model', 'claude-sonnet-4-5'])
    const ms = await asked
    await ended(child)
    return ms
  }
  try {
    const first = await untilAsked()
    const later: number[] = []
    for (let round = 0; round < 10; round += 1) later.push(await untilAsked())
    const steps: number[] = []
    for (let round = 0; round < 3; round += 1) steps.push(await durableStep(start, workspace))
    return [
      atMost('first kogu run on a new machine, to the first request', first, 4_000),
      atMost('a later one', median(later), 800),
      atMost('a durable step (an answer, or the calls of a turn)', median(steps), 8),
    ]
  } finally {
    await machine.close()
  }
}

/** Of a long run, from its first event to its last: what each of its steps took, the tool itself included. */
async function durableStep(start: Machine['start'], workspace: string): Promise<number> {
  const file = join(workspace, 'events.ndjson')
  const child = start(['run', 'steps', '--model', 'rehearsal:steps.toml', '--ndjson', '--max-turns', '100'])
  const chunks: Buffer[] = []
  child.stdout?.on('data', chunk => chunks.push(chunk))
  await new Promise(resolve => child.on('close', resolve))
  writeFileSync(file, Buffer.concat(chunks))
  const events = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const times = events.map(event => Date.parse(event.at))
  const tools = events.reduce((sum, event) => sum + (event.type === 'call.finished' ? event.ms : 0), 0)
  return ((times.at(-1) ?? 0) - (times[0] ?? 0) - tools) / (TURNS * 2)
}

const KILLS = 200
/** Runs at the same time, each in processes of its own. */
const LANES = 3
/** On a busy machine there are fewer kills; the row says how many there were. */
const MOST_MS = 400_000
const LINES = 12
/** Every third line goes into a file that the rules ask about. */
const ASKED = 3
const KILLS_A_RUN = 7

interface RecordedCall {
  readonly call: string
  readonly isAmbiguous: boolean
}

/**
 * Runs that append lines, some of them after a person's yes, killed with SIGKILL at random moments, approvals included, and
 * resumed: each line once, or shown as unknown, and what was recorded stays as it was.
 */
async function countEffects({ start }: Machine): Promise<Row> {
  const counts = { kills: 0, runs: 0, approved: 0, twice: 0, lost: 0, unknown: 0, changed: 0 }
  const until = performance.now() + MOST_MS
  const recorded = async (id: string): Promise<RecordedCall[]> =>
    JSON.parse(await output(start(['runs', 'show', id, '--json']))).calls
  const linesOf = async (file: string): Promise<string[]> =>
    (await output(start(['call', 'read_file', JSON.stringify({ path: file })]))).match(/line \d+/g) ?? []
  const lane = async (): Promise<void> => {
    while (counts.kills < KILLS && performance.now() < until) {
      counts.runs += 1
      const file = `log-${counts.runs}.txt`
      const { id, midway } = await killAndResume(start, { file, recorded, counts })
      const calls = await recorded(id)
      const unknown = calls.filter(call => call.isAmbiguous).length
      const lines = [...(await linesOf(file)), ...(await linesOf(`asked-${file}`))]
      const now = new Map(calls.map(each => [each.call, JSON.stringify(each)]))
      counts.changed += midway.filter(each => now.get(each.call) !== JSON.stringify(each)).length
      counts.unknown += unknown
      counts.twice += lines.length - new Set(lines).size
      counts.lost += Math.max(0, LINES - new Set(lines).size - unknown)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const { kills, runs, approved, twice, lost, unknown, changed } = counts
  return toPlainRow({
    name: `${kills} kills over ${runs} runs with ${approved} approvals`,
    kogu: `${twice} effects twice, ${lost} lost, ${changed} records changed, ${unknown} shown as unknown`,
    target: `none twice, lost or changed, of ${KILLS} kills`,
    verdict: verdict(twice === 0 && lost === 0 && changed === 0 && kills >= KILLS),
  })
}

interface KilledRun {
  readonly file: string
  readonly counts: { kills: number; approved: number }
  recorded(id: string): Promise<RecordedCall[]>
}

/** A run that was killed some times and then ended, with what was recorded of it half way. */
async function killAndResume(
  start: Machine['start'],
  { file, counts, recorded }: KilledRun,
): Promise<{ id: string; midway: RecordedCall[] }> {
  const how = ['--ndjson', '--mode', 'accept-edits']
  let child = start(['run', file, '--model', 'rehearsal:lines.toml', '--max-turns', '100', ...how])
  let id = ''
  let midway: RecordedCall[] = []
  for (let attempt = 1; ; attempt += 1) {
    let said = ''
    // Before anything is waited for: one that has ended already does not say so again.
    const over = ended(child)
    const begun = new Promise<void>(resolve => {
      child.stdout?.on('data', chunk => {
        said += chunk
        if (said.includes('step.started')) resolve()
      })
      child.on('close', () => resolve())
    })
    await begun
    id = /"run":"([^"]+)"/.exec(said)?.[1] ?? id
    if (attempt <= KILLS_A_RUN) {
      await sleep(Math.random() * 120)
      if (child.exitCode === null && child.kill('SIGKILL')) counts.kills += 1
    }
    await over
    if (child.exitCode === 0 || child.exitCode === 6) return { id, midway }
    if (attempt === 4) midway = (await recorded(id)).filter(call => !call.isAmbiguous)
    if (child.exitCode === 7) await approveSome(start, id, counts)
    child = start(['runs', 'resume', id, ...how])
  }
}

/** Says yes to what the run waits for. Every other time the command that says so is killed as well. */
async function approveSome(start: Machine['start'], run: string, counts: KilledRun['counts']): Promise<void> {
  const waiting: { id: string; runId: string; answer: unknown }[] = JSON.parse(
    await output(start(['approvals', 'list', '--json'])),
  )
  for (const { id } of waiting.filter(({ runId, answer }) => runId === run && answer === null)) {
    const child = start(['approvals', 'approve', id, '--confirm', 'write_file'])
    const over = ended(child)
    if (Math.random() < 0.5) {
      await sleep(Math.random() * 400)
      if (child.exitCode === null && child.kill('SIGKILL')) counts.kills += 1
    }
    await over
    if (child.exitCode === 0) counts.approved += 1
  }
}

async function output(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.on('data', chunk => {
    text += chunk
  })
  await new Promise(resolve => child.on('close', resolve))
  return text
}

function atMost(name: string, ms: number, limit: number): Row {
  return toPlainRow({
    name,
    kogu: showTime(ms),
    target: `≤ ${showTime(limit)}`,
    verdict: verdict(ms <= limit),
  })
}

function script(steps: number): string {
  const answer = (step: number): string =>
    `[[answer]]\ntext = "step ${step}"\n[[answer.call]]\ntool = "list_directory"\ninput = { path = ".", limit = ${step} }\n`
  return `${Array.from({ length: steps }, (_, step) => answer(step + 1)).join('')}[[answer]]\ntext = "done"\n`
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** The task is the name of the file. Three calls a turn: a file tool, a command, and one that a person is asked about. */
function linesScript(): string {
  const call = (line: number): string => {
    if (line % 3 === 2)
      return `[[answer.call]]\ntool = "run_command"\ninput = { command = "echo line ${line} >> {{task}}" }\n`
    const file = line % ASKED === 0 ? 'asked-{{task}}' : '{{task}}'
    return `[[answer.call]]\ntool = "write_file"\ninput = { path = "${file}", content = "line ${line}\\n", mode = "append" }\n`
  }
  const answer = (turn: number): string =>
    `[[answer]]\n${[1, 2, 3].map(each => call(turn * 3 + each)).join('')}`
  return `${Array.from({ length: LINES / 3 }, (_, turn) => answer(turn)).join('')}[[answer]]\ntext = "done"\n`
}
