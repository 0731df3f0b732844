import { setTimeout as sleep } from 'node:timers/promises'
import type { Step } from '../agents/pipelines/pipeline.ts'
import type { StepOutcome } from '../agents/pipelines/progress.ts'
import type { PipelineWorkers } from '../agents/pipelines/run-pipeline.ts'
import type { CallResult } from '../core/call.ts'
import { toLine } from '../core/visible.ts'
import type { CommandContext } from './command.ts'
import { confirmed } from './confirm.ts'
import { readRunSpec } from './run-options.ts'
import type { RunSession } from './run-session.ts'

export interface WorkerOptions {
  readonly session: RunSession
  /** The run that all calls of the pipeline belong to, so that one undo takes back all of it. */
  readonly run: string
  /** Steps whose gate was opened on the command line. */
  readonly approved: ReadonlySet<string>
  save: PipelineWorkers['save']
}

/** Tools through the pipeline of calls, panels as durable runs; questions on the terminal, or left for later. */
export function createWorkers(context: CommandContext, options: WorkerOptions): PipelineWorkers {
  const { session, run, approved, save } = options
  const { output, signal } = context
  const call = (tool: string, input: unknown): Promise<CallResult> =>
    session.runtime.call({ tool, input, run, caller: 'pipeline', signal })
  return {
    signal,
    save,
    now: Date.now,
    wait: async until => {
      await sleep(Math.max(0, until - Date.now()), undefined, { signal })
    },
    async runTool(step, input) {
      output.note(`▶ ${step.id}  ${step.tool ?? ''}`)
      const result = await call(step.tool ?? '', input)
      if (result.error?.code === 'needs_approval') {
        output.note(`⧗ ${step.id}  ${toLine(result.error.message)}`)
        return undefined
      }
      return tell(context, step, toOutcome(result))
    },
    async runPanel(step, prompt, vars) {
      output.note(`▶ ${step.id}  panel ${step.panel ?? ''}`)
      const variables = Object.entries(vars).map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      )
      const values = { ...context.values, panel: step.panel, var: variables }
      const spec = await readRunSpec({ ...context, values }, prompt, session)
      const ended = await session.runs.work(await session.runs.create(spec), {
        signal,
        approver: session.approver,
      })
      if (ended.status === 'running' || ended.status === 'pending') {
        output.note(`⧗ ${step.id}  run ${ended.id.slice(0, 8)} waits: ${ended.stopReason ?? 'for an answer'}`)
        return undefined
      }
      const outcome: StepOutcome =
        ended.status === 'completed'
          ? { ok: true, text: ended.output ?? '', data: { run: ended.id, cost_usd: ended.costUsd } }
          : { ok: false, error: ended.error ?? ended.stopReason ?? 'The panel failed.', retryable: true }
      return tell(context, step, outcome)
    },
    async readFolder(step) {
      output.note(`▶ ${step.id}  folder ${step.folder ?? ''}`)
      return tell(context, step, await readFolder(step, call))
    },
    async passGate(step, input) {
      if (approved.has(step.id)) return true
      const question = `Step ${step.id}: ${toLine(JSON.stringify(input)).slice(0, 500)}\nRun it?`
      if (await confirmed(context, question)) return true
      output.note(`⧗ ${step.id}  waits at its gate`)
      return false
    },
  }
}

function tell({ output }: CommandContext, { id }: Step, outcome: StepOutcome): StepOutcome {
  output.note(outcome.ok ? `✓ ${id}` : `✕ ${id}  ${toLine(outcome.error)}`)
  return outcome
}

/** What was refused is not tried again: a second try would only ask again. */
function toOutcome({ ok, text, data, error }: CallResult): StepOutcome {
  if (ok) return { ok: true, text, data }
  const retryable = error?.code === 'failed' || error?.code === 'timeout' || error?.code === 'conflict'
  return { ok: false, error: error?.message ?? text, retryable }
}

const MOST_FILES = 60
const MOST_CHARACTERS = 150_000

/** By the tools, so that what may not be read is not read, and the record says what was. */
async function readFolder(
  { folder }: Step,
  call: (tool: string, input: unknown) => Promise<CallResult>,
): Promise<StepOutcome> {
  const listed = await call('glob_search', {
    pattern: '{*,*/*,*/*/*}',
    base_dir: folder,
    max_results: MOST_FILES,
  })
  if (!listed.ok) return toOutcome(listed)
  const { files } = listed.data as { files: string[] }
  let text = ''
  for (const path of files.toSorted()) {
    const read = await call('read_file', { path })
    // Binary or sensitive files are left out, as a person's summary would.
    if (read.ok) text += `## ${path}\n${read.text}\n\n`
    if (text.length > MOST_CHARACTERS) break
  }
  return { ok: true, text: text.slice(0, MOST_CHARACTERS), data: { files: files.length } }
}
