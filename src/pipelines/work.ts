import { setTimeout as sleep } from 'node:timers/promises'
import type { RunEvent } from '../agents/events.ts'
import { LONGEST_DELAY_MS, type Step } from '../agents/pipelines/pipeline.ts'
import type { StepOutcome } from '../agents/pipelines/progress.ts'
import type { PipelineWorkers } from '../agents/pipelines/run-pipeline.ts'
import type { StepValue } from '../agents/pipelines/values.ts'
import type { CallResult } from '../core/call.ts'
import { addLabel, type Run } from '../core/run.ts'
import { describeObjection } from '../run-review.ts'
import type { CallRequest } from '../runtime.ts'
import { callOutcome } from './call-outcome.ts'
import { fillArgs } from './command-lines.ts'
import { readFolder } from './folders.ts'
import { type PanelParts, panelContent, runPanel, summarize } from './panels.ts'
import { callIdOf } from './settle.ts'

/** What happens in a run of a pipeline, for whoever watches. */
export type PipelineEvent =
  | { readonly type: 'step.started'; readonly step: string; readonly what: string }
  | {
      readonly type: 'step.finished'
      readonly step: string
      readonly ok: boolean
      readonly error?: string
      readonly text?: string
      /** Of the model that worked in it. */
      readonly costUsd?: number
    }
  /** What the model of a panel does meanwhile. */
  | { readonly type: 'agent.event'; readonly step: string; readonly event: RunEvent }
  /** It waits for a person: at its gate, in the inbox, or in the run of its panel. */
  | { readonly type: 'step.waiting'; readonly step: string; readonly why: string }

export interface WorkParts extends PanelParts {
  readonly pipeline: string
  /** Another pipeline inside of this one. */
  readonly runPipeline: PipelineWorkers['runPipeline']
  readonly save: PipelineWorkers['save']
  tell(event: PipelineEvent): void
}

/** Tools through the pipeline of calls, panels as durable runs. */
export function createWorkers(parts: WorkParts): PipelineWorkers {
  const { runtime, core, signal, tell, loaded } = parts
  const call = (
    tool: string,
    input: unknown,
    more: Pick<CallRequest, 'id' | 'gate'> = {},
  ): Promise<CallResult> =>
    runtime.call({ ...{ tool, input, run: core.id, caller: 'pipeline', signal }, ...more })
  const gateOf = ({ id, gate }: Step): { gate?: string } =>
    gate === undefined ? {} : { gate: `The pipeline '${parts.pipeline}' has a gate before the step '${id}'.` }
  const told = async (
    { id }: Step,
    what: string,
    work: () => Promise<StepOutcome | undefined>,
  ): Promise<StepOutcome | undefined> => {
    tell({ type: 'step.started', step: id, what })
    const outcome = await work()
    if (outcome?.ok === true) {
      const { verdict } = outcome
      const said = verdict === undefined ? {} : { error: verdict.why }
      const { text, data } = outcome
      tell({ type: 'step.finished', step: id, ok: verdict?.is !== 'failed', text, ...costIn(data), ...said })
    } else if (outcome !== undefined)
      tell({ type: 'step.finished', step: id, ok: false, error: outcome.error })
    else tell({ type: 'step.waiting', step: id, why: 'for an answer' })
    return outcome
  }
  return {
    signal,
    save: parts.save,
    parallel: loaded.config.agents.max_parallel,
    now: Date.now,
    async wait(until) {
      const ms = Math.min(Math.max(0, until - Date.now()), LONGEST_DELAY_MS)
      await sleep(ms, undefined, { signal }).catch(() => undefined)
    },
    fillArgs: (step, fill) => fillArgs(step, fill, runtime.registry),
    runTool: (step, input, attempt) =>
      told(step, step.tool ?? '', async () => {
        const id = callIdOf(core.id, step.id, attempt)
        const result = await call(step.tool ?? '', input, { id, ...gateOf(step) })
        return result.question === undefined ? callOutcome(result) : undefined
      }),
    ...(parts.rehearse
      ? {
          rehearse: (step, said) =>
            told(step, `${step.tool ?? step.panel} (rehearsed)`, () => rehearsed(step, said, core)),
        }
      : {}),
    runPipeline: order =>
      told(order.step, `pipeline ${order.step.pipeline ?? ''}`, () => parts.runPipeline(order)),
    panelContent: name => panelContent(parts, name),
    runPanel: order => {
      const onEvent = (event: RunEvent): void => tell({ type: 'agent.event', step: order.step.id, event })
      return told(order.step, `panel ${order.step.panel ?? ''}`, () => runPanel({ ...parts, onEvent }, order))
    },
    async readFolder(step) {
      const read = async (): Promise<StepOutcome> => readFolder(step.folder ?? '', call)
      return (await told(step, `folder ${step.folder ?? ''}`, read)) ?? NOTHING
    },
    summarize: (edge, text) => summarize(parts, edge, text),
    ...(parts.rehearse ? {} : { review: text => reviewText(parts, text) }),
    async passGate(step, input, attempt) {
      const { gate: reason } = gateOf(step)
      if (reason === undefined) return { kind: 'open' }
      const id = callIdOf(core.id, step.id, attempt)
      const about = { pipeline: parts.pipeline, step: step.id, ...input }
      const answer = await runtime.passGate({
        ...{ id, run: core, reason, input: about, cwd: runtime.cwd, signal },
      })
      if (answer.kind === 'waits') tell({ type: 'step.waiting', step: step.id, why: 'at its gate' })
      return answer
    },
  }
}

async function reviewText({ runtime, core, signal }: WorkParts, text: string): Promise<string | undefined> {
  const { board } = runtime
  if (board === undefined || board.scope === 'fast') return undefined
  const result = await board.outcome(core.id, { task: core.task ?? '', output: text, calls: 0 }, signal)
  return describeObjection(board, result)
}

function costIn(data: unknown): { costUsd?: number } {
  const cost = typeof data === 'object' && data !== null && 'cost_usd' in data ? data.cost_usd : undefined
  return typeof cost === 'number' ? { costUsd: cost } : {}
}

/** It is nobody's real result, and counts as foreign, as that of the web would. */
async function rehearsed({ tool, panel }: Step, said: StepValue, core: Run): Promise<StepOutcome> {
  const source = `a rehearsal of ${tool ?? panel}`
  addLabel(core, { origin: 'other', trusted: false, source })
  return { ok: true, ...said, untrusted: source }
}

const NOTHING: StepOutcome = { ok: false, error: 'The folder was not read.', retryable: false }
