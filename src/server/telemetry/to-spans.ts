import { hash } from 'node:crypto'
import type { StoredEvent } from '../../store/tables/run-events.ts'

// Spans of OpenTelemetry from what happened in runs, with the GenAI conventions. Ids follow from those of runs, steps and
// calls: whoever makes a span twice makes the same one. Never what a model or a tool said: names, numbers and times only.

export interface Span {
  /** 16 bytes, hexadecimal. */
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Undefined when it went well. */
  readonly error?: string
}

/** Takes events in order, and gives back spans as they end. */
export interface SpanMaker {
  take(event: StoredEvent): Span[]
}

interface Beginning {
  readonly at: number
  readonly name: string
}

/** Runs that never end must not fill the memory. */
const MOST_OPEN = 20_000

export function createSpanMaker(): SpanMaker {
  const begun = new Map<string, Beginning>()
  const begin = (key: string, at: Date, name: string): void => {
    if (begun.size >= MOST_OPEN) begun.delete(begun.keys().next().value ?? '')
    begun.set(key, { at: at.getTime(), name })
  }
  const end = (key: string): Beginning | undefined => {
    const found = begun.get(key)
    begun.delete(key)
    return found
  }
  return {
    take(stored) {
      const { run, execution, at, event } = stored
      if (run === null) return []
      const key = (kind: string, id: string): string => `${kind} ${run} ${id}`
      const make = (
        kind: string,
        id: string,
        start: number,
        rest: Omit<Span, 'traceId' | 'spanId' | 'startMs' | 'endMs'>,
      ) => ({
        ...ids(run, kind, id),
        startMs: start,
        endMs: at.getTime(),
        ...rest,
      })
      const root = ids(run, 'run', '').spanId
      switch (event.type) {
        case 'run.started':
          if (!begun.has(key('run', ''))) begin(key('run', ''), at, event.model)
          return []
        case 'run.finished': {
          const started = end(key('run', ''))
          const failed = event.status === 'completed' ? {} : { error: event.stopReason }
          const attributes = {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.request.model': started?.name ?? '',
            'gen_ai.conversation.id': run,
            'kogu.run.status': event.status,
          }
          return [
            make('run', '', started?.at ?? at.getTime(), { name: 'invoke_agent', attributes, ...failed }),
          ]
        }
        case 'step.started':
          begin(key('step', `${execution}:${event.turn}`), at, '')
          return []
        case 'usage':
          begin(key('model', execution ?? ''), at, event.model)
          return []
        case 'step.finished': {
          const id = `${execution}:${event.turn}`
          const model = end(key('model', execution ?? ''))?.name ?? ''
          const { input, cached, cacheWrite, output, reasoning } = event.usage
          const attributes = {
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': model.split(/[/:]/)[0] ?? '',
            'gen_ai.request.model': model,
            'gen_ai.usage.input_tokens': input + cached + cacheWrite,
            'gen_ai.usage.output_tokens': output + reasoning,
            'gen_ai.response.finish_reasons': event.stopReason,
            ...(event.costUsd === null ? {} : { 'kogu.cost_usd': event.costUsd }),
          }
          const start = end(key('step', id))?.at ?? at.getTime() - event.ms
          return [make('step', id, start, { name: `chat ${model}`, parentSpanId: root, attributes })]
        }
        case 'call.proposed':
          begin(key('call', event.call), at, event.tool)
          return []
        case 'call.started':
          begin(key('begun', event.call), at, event.tool)
          return []
        case 'call.finished': {
          const proposed = end(key('call', event.call))?.at ?? at.getTime() - event.ms - event.waitMs
          const ran = end(key('begun', event.call))?.at
          const { outcome, by, ref } = event.decision
          const tool = { 'gen_ai.tool.name': event.tool, 'gen_ai.tool.call.id': event.call }
          const failed = event.error === null ? {} : { error: event.error.code }
          const call = make('call', event.call, proposed, {
            name: `execute_tool ${event.tool}`,
            parentSpanId: root,
            attributes: { 'gen_ai.operation.name': 'execute_tool', ...tool, 'kogu.wait_ms': event.waitMs },
            ...failed,
          })
          const decision: Span = {
            ...ids(run, 'decision', event.call),
            name: 'kogu.decide',
            parentSpanId: call.spanId,
            startMs: proposed,
            endMs: ran ?? at.getTime(),
            attributes: {
              ...tool,
              'kogu.decision.outcome': outcome,
              'kogu.decision.by': by,
              ...(ref === null ? {} : { 'kogu.decision.rule': ref.id }),
            },
          }
          return [call, decision]
        }
        default:
          return []
      }
    },
  }
}

function ids(run: string, kind: string, id: string): { traceId: string; spanId: string } {
  return { traceId: run.replaceAll('-', ''), spanId: hash('sha256', `${kind} ${run} ${id}`).slice(0, 16) }
}
