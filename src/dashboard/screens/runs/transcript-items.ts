import type { Decision } from '../../../core/decision.ts'
import type { ShownEvent } from './run-events.ts'

type CallState = 'running' | 'waiting' | 'ok' | 'error' | 'denied' | 'unknown'

export interface CallItem {
  readonly kind: 'call'
  readonly key: string
  readonly call: string
  /** Under which its output is looked up, once it has ended. */
  readonly record?: string
  readonly tool: string
  readonly input: unknown
  readonly state: CallState
  readonly approval?: string
  readonly error?: { readonly code: string; readonly message: string } | null
  readonly decision?: Decision
  readonly ms?: number
  readonly waitMs?: number
  /** It was let through, and ran. */
  readonly wasStarted?: boolean
  /** Low: it can have changed nothing. */
  readonly risk?: string | undefined
  readonly execution?: string | undefined
}

export type Item =
  | CallItem
  | {
      readonly kind: 'text'
      readonly key: string
      readonly text: string
      readonly execution?: string | undefined
      readonly isDone: boolean
    }
  | { readonly kind: 'task' | 'message'; readonly key: string; readonly text: string }
  | { readonly kind: 'note'; readonly key: string; readonly event: ShownEvent }

const REFUSED = new Set(['denied', 'forbidden', 'not_enabled', 'expired', 'needs_approval'])
const NOTES = new Set([
  ...['step.retry', 'run.paused', 'run.finished', 'budget.warning', 'limit.near', 'agent.created'],
  ...[
    'agent.started',
    'agent.finished',
    'plan.proposed',
    'plan.approved',
    'plan.rejected',
    'result.rejected',
  ],
])

/** What a person reads, in the order in which it happened. */
export function toItems(events: readonly ShownEvent[]): Item[] {
  const items: Item[] = []
  const calls = new Map<string, number>()
  // Ids of calls are the model's own: two agents of a run may have the same.
  const idOf = ({ call, execution }: { call: string; execution?: string }): string => `${execution} ${call}`
  const change = (event: { call: string; execution?: string }, values: Partial<CallItem>): void => {
    const index = calls.get(idOf(event))
    const known = index === undefined ? undefined : items[index]
    if (index !== undefined && known?.kind === 'call') items[index] = { ...known, ...values }
  }
  for (const event of events) {
    const key = String(event.seq)
    switch (event.type) {
      case 'run.started':
        if (!event.resumed) items.push({ kind: 'task', key, text: event.task })
        break
      case 'text.delta':
        addText(items, key, event.text, event.execution)
        break
      case 'step.started':
        closeText(items, event.execution)
        break
      case 'message.received':
        items.push({ kind: 'message', key, text: event.text })
        break
      case 'call.proposed': {
        const { call, tool, input, execution } = event
        // A call that is made again after an answer is the same call.
        if (calls.has(idOf(event))) change(event, { state: 'running' })
        else {
          calls.set(idOf(event), items.length)
          items.push({ kind: 'call', key, call, tool, input, execution, state: 'running' })
        }
        break
      }
      case 'call.waiting':
        change(event, { state: 'waiting', approval: event.approval })
        break
      case 'call.started':
        change(event, { wasStarted: true })
        break
      case 'call.ambiguous':
        change(event, { state: 'unknown' })
        break
      case 'call.finished': {
        const { ok, error, decision, ms, waitMs, risk, record = event.call } = event
        const failed = error !== null && REFUSED.has(error.code) ? 'denied' : 'error'
        change(event, { state: ok ? 'ok' : failed, error, decision, ms, waitMs, record, risk })
        break
      }
      default:
        if (NOTES.has(event.type)) items.push({ kind: 'note', key, event })
    }
  }
  return items
}

/** Calls that a stop or a crash ended, apart from those among them that may have had an effect. */
export function cutOffCalls(items: readonly Item[]): { without: CallItem[]; unclear: CallItem[] } {
  const cut = items.filter(
    (item): item is CallItem =>
      item.kind === 'call' &&
      (item.state === 'unknown' || item.state === 'running' || item.error?.code === 'cancelled'),
  )
  const isUnclear = ({ state, wasStarted = false, risk }: CallItem): boolean =>
    state === 'unknown' || (wasStarted && risk !== 'low')
  return { unclear: cut.filter(isUnclear), without: cut.filter(call => !isUnclear(call)) }
}

function addText(items: Item[], key: string, text: string, execution: string | undefined): void {
  const last = items.at(-1)
  if (last?.kind === 'text' && last.execution === execution && !last.isDone)
    items[items.length - 1] = { ...last, text: last.text + text }
  else items.push({ kind: 'text', key, text, execution, isDone: false })
}

/** What is said in the next step is another paragraph. */
function closeText(items: Item[], execution: string | undefined): void {
  const last = items.at(-1)
  if (last?.kind === 'text' && last.execution === execution)
    items[items.length - 1] = { ...last, isDone: true }
}
