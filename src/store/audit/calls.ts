import type { CallStarted } from '../../core/audit.ts'
import type { RecordedCall } from '../../permissions/rules/dry-run.ts'
import { type ReadOptions, readEvents } from './read.ts'

/** Finished calls, oldest first, each with what it was asked to do. */
export async function* readCalls(options: ReadOptions): AsyncGenerator<RecordedCall> {
  const { tool, ...wanted } = options
  const started = new Map<string, CallStarted>()
  for await (const { at, event } of readEvents(wanted)) {
    if (event.type === 'call-started') started.set(event.call, event)
    if (event.type !== 'call-finished') continue
    const start = started.get(event.call)
    started.delete(event.call)
    // By the canonical name, which only the end of a call has.
    if (start !== undefined && (tool === undefined || event.tool === tool)) {
      yield { at, started: start, finished: event }
    }
  }
}
