import type { Plan } from './events.ts'
import type { LoopState } from './loop-state.ts'
import { textOf } from './messages.ts'
import type { Wish } from './run-control.ts'

/** An answer with calls is the plan of an orchestrator, unless somebody wants the run to stand still. */
export function isPlan({ pending }: LoopState, wished: Wish | undefined): boolean {
  return pending.length > 0 && wished === undefined
}

export function toPlan({ pending, messages }: LoopState): Plan {
  const last = messages.findLast(message => message.role === 'assistant')
  return {
    steps: pending.map(({ id, name, input }) => ({ tool_use_id: id, name, input })),
    text: last === undefined ? '' : textOf(last),
  }
}
