import type { RunEvent } from '../../agents/events.ts'
import type { Database } from '../database/database.ts'
import { insertEvents, newEvent } from '../tables/run-events.ts'

export interface EventWriter {
  emit(event: RunEvent): void
  /** Everything that was said so far is in the table. */
  flush(): Promise<void>
}

const FLUSH_MS = 100

/**
 * Writes events in small batches, and what a model says in pieces of a tenth of a second: a row for every word would be
 * most of what the database does. Events are for looking; what a run depends on is written with its state.
 */
export function createEventWriter(database: Database, run: string, execution: string): EventWriter {
  let buffer: ReturnType<typeof newEvent>[] = []
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()
  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    const events = buffer
    buffer = []
    if (events.length === 0) return
    last = last.then(() => insertEvents(database.relaxed, run, execution, events)).catch(() => undefined)
  }
  return {
    emit(event) {
      const newest = buffer.at(-1)
      if (event.type === 'text.delta' && newest?.event.type === 'text.delta') {
        newest.event = { type: 'text.delta', text: newest.event.text + event.text }
      } else if (
        event.type === 'call.output' &&
        newest?.event.type === 'call.output' &&
        newest.event.call === event.call
      ) {
        newest.event = { ...event, text: newest.event.text + event.text }
      } else buffer.push(newEvent(event))
      timer ??= setTimeout(write, FLUSH_MS).unref()
    },
    async flush() {
      write()
      await last
    },
  }
}
