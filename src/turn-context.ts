import { offeredTools } from './agents/agent-tools.ts'
import type { RecordedEnd, TurnContext, TurnStore } from './agents/durable-turn.ts'
import type { RunEvent } from './agents/events.ts'
import type { RunLimits } from './agents/limits.ts'
import type { Model } from './agents/model.ts'
import type { Purse } from './agents/purse.ts'
import type { RunRecord } from './agents/run-record.ts'
import { systemPrompt } from './agents/system-prompt.ts'
import type { LoadedConfig } from './config/load.ts'
import type { Run } from './core/run.ts'
import type { Runtime } from './runtime.ts'
import { readEvents } from './store/audit/read.ts'
import { toEffect } from './workspace/undo/undo-record.ts'

/** What one agent does in a run: the run's own, or a sub-agent. */
export interface AgentPart {
  readonly run: RunRecord
  readonly execution: string
  /** What its calls are judged under. */
  readonly core: Run
  readonly store: TurnStore
  readonly model: Model
  readonly limits: RunLimits
  readonly purse: Purse
  readonly temperature?: number | undefined
  readonly maxTokens?: number | undefined
  /** Its own prompt. */
  readonly system?: string | undefined
  /** The name of a sub-agent. */
  readonly agent?: string
  readonly orchestrates: boolean
  readonly signal: AbortSignal
  emit(event: RunEvent): void
}

export function createTurnContext(
  { runtime, loaded }: { readonly runtime: Runtime; readonly loaded: LoadedConfig },
  part: AgentPart,
): TurnContext {
  const { run, core, store, model, limits, temperature, maxTokens, system, agent, orchestrates } = part
  return {
    run: core.id,
    model,
    store,
    limits,
    purse: part.purse,
    emit: part.emit,
    signal: part.signal,
    system: systemPrompt({
      workspace: runtime.workspace,
      trusted: loaded.trust.status === 'trusted',
      date: run.createdAt.toISOString().slice(0, 10),
      orchestrates,
      ...(system === undefined ? {} : { own: system }),
    }),
    tools: offeredTools(runtime.registry, core.authority, { subAgents: orchestrates }),
    calls: { runtime, run: core },
    recorded: call => findEnd(runtime, call, run.createdAt),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(agent === undefined ? {} : { agent }),
  }
}

/**
 * How a call ended, looked for after an interruption only: as the audit log has it, or by the record of its changes. That of
 * a command is written before its changes are applied and holds only if all of them were.
 */
export async function findEnd(
  { places, listChanges }: Pick<Runtime, 'places' | 'listChanges'>,
  call: string,
  since: Date,
): Promise<RecordedEnd | undefined> {
  for await (const { event } of readEvents({ directory: places.audit, call, since })) {
    if (event.type === 'call-finished') return event
  }
  const [changed] = await listChanges({ calls: [call] })
  const [record] = changed?.records ?? []
  if (record?.header.ended === undefined || !record.isWhole) return undefined
  const { tool, ended } = record.header
  return { tool, ended, ok: true, effects: record.changes.map(toEffect) }
}
