import type { TurnStore } from './agents/durable-turn.ts'
import { end, type LoopState, type StopReason } from './agents/loop-state.ts'
import { ToolError } from './core/errors.ts'
import type { Runtime } from './runtime.ts'
import type { Database } from './store/database/database.ts'
import { withdrawAgent } from './store/runs/stop-agent.ts'
import { endBelow } from './store/tables/sub-agents.ts'
import type { AgentPart } from './turn-context.ts'

// How the work of a sub-agent ends before its model says that it is done.

/** Somebody said something to it while it gave its last answer: that is one more turn. */
export async function hasMore(store: TurnStore, { ending }: LoopState): Promise<boolean> {
  return ending !== null && ending.error === undefined && (await store.messages()).length > 0
}

/** A person stopped it. Its own end comes last, so that whoever finds it ended finds all below it ended too. */
export async function endStopped(
  { database, runtime }: { readonly database: Database; readonly runtime: Runtime },
  child: AgentPart,
  store: TurnStore,
  state: LoopState,
): Promise<LoopState> {
  for (const below of await endBelow(database, child.execution))
    child.emit({ type: 'agent.finished', ...below, status: 'cancelled' })
  const agent = { run: child.run.id, execution: child.execution }
  await withdrawAgent(database, agent, runtime.withdrawQuestions)
  return endEarly(store, state, 'cancelled', 'A person stopped it, with all below it. Go on without it.')
}

/** A pause leaves it as it stands, to go on later. When only this call was out of time, nobody will. */
export async function cutOff({ signal }: AgentPart, store: TurnStore, state: LoopState): Promise<LoopState> {
  if (signal.aborted) throw new ToolError('cancelled', 'It was stopped.')
  return endEarly(store, state, 'cancelled', 'It took too long.')
}

export async function endEarly(
  store: TurnStore,
  state: LoopState,
  reason: StopReason,
  error: string,
): Promise<LoopState> {
  const ended = end(state, reason, error)
  await store.save(ended, {})
  return ended
}
