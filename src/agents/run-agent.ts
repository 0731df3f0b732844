import type { Approver } from '../core/approval.ts'
import type { AuthorityWish } from '../core/authority.ts'
import type { Call, CallResult } from '../core/call.ts'
import type { OpenRunOptions } from '../core/open-runs.ts'
import type { Registry } from '../core/registry.ts'
import type { Run } from '../core/run.ts'
import { offeredTools } from './agent-tools.ts'
import type { RunEvent } from './events.ts'
import { PANEL_TURNS, type RunLimits } from './limits.ts'
import { type LoopContext, runLoop } from './loop.ts'
import { type LoopState, type StopReason, startState } from './loop-state.ts'
import type { Message, ToolUseBlock } from './messages.ts'
import type { Model, Usage } from './model.ts'
import { systemPrompt } from './system-prompt.ts'

/** What an agent needs of a runtime. */
interface AgentRuntime {
  readonly workspace: string
  readonly registry: Registry
  openRun(options?: OpenRunOptions): Promise<Run>
  closeRun(id: string): Promise<void>
  callAll(requests: readonly AgentCall[]): Promise<CallResult[]>
}

export interface AgentCall {
  readonly tool: string
  readonly input: unknown
  readonly run: string
  readonly caller: string
  readonly signal: AbortSignal
  readonly id?: string
  readonly beforeRun?: Call['beforeRun']
  readonly afterRun?: Call['afterRun']
  readonly onProgress?: (text: string) => void
}

export interface RunAgentOptions {
  readonly runtime: AgentRuntime
  readonly task: string
  readonly model: Model
  /** Names of tools, or `all`. Defaults to `all` under the authority below. */
  readonly tools?: 'all' | readonly string[]
  /** Naming an agent starts from an agent's defaults: no tools, `doc` to write in. */
  readonly authority?: AuthorityWish
  readonly approver?: Approver
  /** The agent's own prompt; Kogu adds where it works and the workspace's instructions. */
  readonly system?: string
  /** Whether instructions in the workspace's files are to be followed. */
  readonly trusted?: boolean
  readonly limits?: Partial<RunLimits>
  readonly temperature?: number
  readonly maxTokens?: number
  readonly signal?: AbortSignal
  onEvent?(event: RunEvent): void
}

export interface AgentResult {
  /** For `kogu undo --run`. */
  readonly run: string
  readonly stopReason: StopReason
  readonly text: string
  readonly error: string | null
  readonly messages: readonly Message[]
  readonly usage: Usage
  /** Null when the price is not known. */
  readonly costUsd: number | null
  readonly turns: number
}

/** Runs a task in this process, without a database. A run that must survive it is started with `kogu run`. */
export async function runAgent(options: RunAgentOptions): Promise<AgentResult> {
  const { runtime, task } = options
  const run = await runtime.openRun({
    ...(options.authority === undefined && options.tools === undefined
      ? {}
      : {
          authority: {
            ...options.authority,
            ...(options.tools === undefined ? {} : { tools: options.tools }),
          },
        }),
    ...(options.approver === undefined ? {} : { approver: options.approver }),
  })
  try {
    const state = await runLoop(startState(task), createLoopContext(run, options))
    return toResult(run.id, state)
  } finally {
    await runtime.closeRun(run.id)
  }
}

function createLoopContext(run: Run, options: RunAgentOptions): LoopContext {
  const { runtime, model, onEvent } = options
  const signal = options.signal ?? new AbortController().signal
  const emit = (event: RunEvent): void => onEvent?.(event)
  return {
    model,
    signal,
    emit,
    tools: offeredTools(runtime.registry, run.authority),
    limits: { maxTurns: PANEL_TURNS, ...options.limits },
    system: systemPrompt({
      workspace: runtime.workspace,
      trusted: options.trusted ?? false,
      date: new Date().toISOString().slice(0, 10),
      ...(options.system === undefined ? {} : { own: options.system }),
    }),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }),
    callTools: uses => callAndTell(uses, { runtime, run, signal, emit }),
  }
}

export interface CallParts {
  readonly runtime: AgentRuntime
  readonly run: Run
  readonly signal: AbortSignal
  emit(event: RunEvent): void
  /** For durable calls: a lasting id and a claim. */
  readonly durable?: (use: ToolUseBlock) => Pick<AgentCall, 'id' | 'beforeRun' | 'afterRun'>
}

/** The calls of one turn through the pipeline, with an event before and after each. */
export async function callAndTell(uses: readonly ToolUseBlock[], parts: CallParts): Promise<CallResult[]> {
  const { runtime, run, signal, emit } = parts
  for (const { id, name, input } of uses) emit({ type: 'call.proposed', call: id, tool: name, input })
  const results = await runtime.callAll(
    uses.map(use => {
      const durable = parts.durable?.(use)
      let isStarted = false
      return {
        tool: use.name,
        input: use.input,
        run: run.id,
        caller: 'agent',
        signal,
        ...durable,
        async beforeRun(prepared, inner) {
          await durable?.beforeRun?.(prepared, inner)
          // It comes here again for what it changes later.
          if (!isStarted) emit({ type: 'call.started', call: use.id, tool: use.name })
          isStarted = true
        },
        onProgress: createProgress(use.id, emit),
      } satisfies AgentCall
    }),
  )
  results.forEach((result, index) => {
    const call = uses[index]?.id ?? ''
    const { question, tool } = result
    emit(
      question === undefined
        ? toFinished(call, result)
        : { type: 'call.waiting', call, tool, approval: question },
    )
  })
  return results
}

/** Of what one call says while it runs; more than this is for its result alone. */
const MOST_PROGRESS = 64 * 1024

function createProgress(call: string, emit: CallParts['emit']): (text: string) => void {
  let left = MOST_PROGRESS
  return text => {
    if (left <= 0) return
    emit({ type: 'call.output', call, text: text.slice(0, left) })
    left -= text.length
  }
}

function toFinished(call: string, result: CallResult): RunEvent {
  const { tool, ok, error, decision, effects, risk, durationMs, waitMs } = result
  const times = { ms: Math.round(durationMs), waitMs: Math.round(waitMs) }
  const about = { call, record: result.call, tool, ok, error, decision, effects, risk }
  return { type: 'call.finished', ...about, ...times }
}

function toResult(run: string, state: LoopState): AgentResult {
  const { ending, messages, usage, costUsd, turn } = state
  return {
    run,
    stopReason: ending?.stopReason ?? 'other',
    text: ending?.text ?? '',
    error: ending?.error ?? null,
    messages,
    usage,
    costUsd,
    turns: turn,
  }
}
