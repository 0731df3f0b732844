import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallSummary, laterApprover } from '../src/core/approval.ts'
import { createPipelineRun, workOnPipeline } from '../src/pipelines/pipelines.ts'
import { trustPipeline } from '../src/pipelines/trust.ts'
import type { QuorumMember } from '../src/review/ask-members.ts'
import { createQuorum } from '../src/review/quorum.ts'
import { openRuns } from '../src/runs.ts'
import { openDatabase } from '../src/store/database/database.ts'
import { createTestDatabase } from '../test/support/database.ts'
import { openTestRuntime } from '../test/support/runtime.ts'
import { type Row, showTime, toPlainRow, verdict } from './table.ts'

const SLOWEST_MS = 50
const ROUNDS = 40
const STEPS = 100
const SUB_AGENTS = 1_000

/** What Kogu adds to reviewers, steps and sub-agents; the models are played. */
export async function measureOrchestration(): Promise<Row[]> {
  return [await measureQuorum(), ...(await measureRuns())]
}

/** Five reviewers, the slowest of which takes 50 ms: how much longer the verdict takes. */
async function measureQuorum(): Promise<Row> {
  const members = Array.from(
    { length: 5 },
    (_, index): QuorumMember => ({
      ...{ name: `r${index}`, kind: 'model', timeoutMs: 10_000 },
      async ask() {
        await sleep((SLOWEST_MS * (index + 1)) / 5)
        return { text: '{"verdict":"approve","reasoning":"fine"}', costUsd: 0 }
      },
    }),
  )
  const quorum = createQuorum({
    ...{ members, rule: { kind: 'majority' }, minModels: 3, onError: 'abstain', veto: [], vetoFor: [] },
    ...{ review: 'all', ordinary: 'all', hil: 'interactive', onDeny: 'deny', debate: false },
    ...{ maxTimeMs: 60_000, maxActionRevisions: 2, record: () => undefined },
  })
  const call: CallSummary = {
    ...{ callId: 'c', runId: 'r', runPath: ['r'], cwd: '/w', risk: 'high', reasons: [], isDangerous: false },
    tool: { name: 'write_file', title: 'Write', fingerprint: '' },
    input: { path: 'a.txt', content: 'x'.repeat(20_000) },
    access: [{ kind: 'file_write', path: '/w/a.txt' }],
    effects: [],
    decision: { outcome: 'allow', by: 'mode', ref: null, reason: '' },
    preview: '+x\n'.repeat(5_000),
  }
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now()
    const alone = sleep(SLOWEST_MS).then(() => performance.now())
    await quorum.review(call, new AbortController().signal)
    const ended = performance.now()
    times.push(ended - started - ((await alone) - started))
  }
  const ms = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN
  return toPlainRow({
    name: 'a verdict of five reviewers, beyond the slowest',
    kogu: showTime(Math.max(0, ms)),
    target: '≤ 20 ms',
    verdict: verdict(ms <= 20),
  })
}

async function measureRuns(): Promise<Row[]> {
  const server = await createTestDatabase()
  const box = await openTestRuntime('mode = "accept-edits"\n[agents]\nmax_parallel = 4\n', laterApprover)
  const scratch = mkdtempSync(join(tmpdir(), 'kogu-bench-orchestration-'))
  const database = await openDatabase({ folder: box.home, cache: box.home, url: server.url })
  const { loaded, environment, runtime } = box
  const runs = await openRuns({ loaded, environment, runtime, database })
  const parts = { loaded, environment, runtime, database, runs }
  try {
    const steps = Array.from(
      { length: STEPS },
      (_, index) =>
        `[[step]]\nid = "s${index}"\ntool = "write_file"\nargs = { path = "out/${index}.txt", content = "x" }\n`,
    )
    box.write('.kogu/pipelines/long.toml', `name = "long"\n${steps.join('')}`)
    await trustPipeline({ ...parts, services: async () => parts }, 'long')
    const { id } = await createPipelineRun(parts, 'long')
    const pipelineMs = await time(async () => {
      const { status } = await workOnPipeline(parts, id)
      if (status !== 'completed') throw new Error(`The pipeline has ${status}.`)
    })
    const file = join(scratch, 'many.toml')
    writeFileSync(file, manyAgents())
    const agentsMs = await time(async () => {
      const run = await runs.create({
        ...{ task: 'go', model: `rehearsal:${file}`, authority: {}, orchestration: 'automatic' as const },
        limits: { maxTurns: 2_000 },
      })
      const ended = await runs.work(run)
      if (ended.status !== 'completed') throw new Error(`The run is ${ended.status}: ${ended.error}`)
    })
    return [
      plain(
        `a pipeline of ${STEPS} steps, each a durable write`,
        pipelineMs,
        `${showTime(pipelineMs / STEPS)} a step`,
      ),
      plain(`${SUB_AGENTS} sub-agent runs in one run`, agentsMs, `${showTime(agentsMs / SUB_AGENTS)} each`),
    ]
  } finally {
    await runs.close()
    await database.close()
    await box.close()
    await server.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** One agent that is run again and again, forty times in an answer. */
function manyAgents(): string {
  const call =
    '[[answer.call]]\ntool = "execute_sub_agent"\ninput = { agent_id = "{{results.1.data.agent_id}}", input = "go" }\n'
  const answers = Array.from({ length: SUB_AGENTS / 40 }, () => `[[answer]]\n${call.repeat(40)}`)
  return `[[answer]]
[[answer.call]]
tool = "create_sub_agent"
input = { name = "one", description = "d", system_prompt = "s" }
${answers.join('')}[[answer]]
text = "done"
[[agents.one.answer]]
text = "done"
`
}

async function time(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function plain(name: string, ms: number, each: string): Row {
  return toPlainRow({ name, kogu: `${showTime(ms)} (${each})`, target: '', verdict: '' })
}
