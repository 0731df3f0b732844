import type { HttpBindings } from '@hono/node-server'
import type { StoredEvent } from '../../store/tables/run-events.ts'
import { type Api, route, z } from '../api.ts'
import { follow } from '../events/follow.ts'
import { HttpProblem } from '../problem.ts'
import type { Services } from '../services.ts'
import { toShownEvent } from './run-details.ts'

const IDLE_MS = 15_000
/** An event and not a comment: a page cannot hear comments, and has to notice a connection that has gone silent. */
const IDLE = 'event: idle\ndata: {}\n\n'

/** A listener that takes nothing for so long is let go; it comes back with the number it has seen last. */
export const SLOW_LISTENER_MS = 60_000

const position = z.coerce.number().int().min(0).optional()

export const eventQuery = z.object({
  /** Events after this number; defaults to those that happen from now on. */
  after: position,
  /** Only those of one run. */
  run: z.string().max(200).optional(),
})

/** What happens, as it happens. */
export function eventRoutes(
  api: Api,
  services: () => Promise<Services>,
  { slowMs = SLOW_LISTENER_MS }: { slowMs?: number | undefined } = {},
): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/events',
      summary: 'Server-sent events, resumable from any number by ?after= or Last-Event-ID',
      request: { query: eventQuery },
      responses: {
        200: { description: 'The stream', content: { 'text/event-stream': { schema: z.string() } } },
      },
    }),
    async context => {
      const { after, run } = context.req.valid('query')
      const last = position.safeParse(context.req.header('last-event-id'))
      const mayStay = context.get('mayStay')
      const { hub } = await services()
      const wanted = last.data ?? after ?? hub.newest
      // No number of ours, or one of another database, such as one that was restored: the client has to load everything
      // again.
      const lost = !last.success || wanted > hub.newest
      const ended = new AbortController()
      const events = follow({
        hub,
        after: lost ? hub.newest : wanted,
        signal: ended.signal,
        idleMs: IDLE_MS,
        ...(run === undefined ? {} : { run }),
      })
      const encoder = new TextEncoder()
      let stuck: NodeJS.Timeout | undefined
      ended.signal.addEventListener('abort', () => clearTimeout(stuck), { once: true })
      const stream = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            controller.enqueue(encoder.encode(lost ? 'event: resync\ndata: {}\n\n' : ': ok\n\n'))
          },
          async pull(controller) {
            clearTimeout(stuck)
            const { value, done } = await events.next()
            if (done === true || !mayStay()) {
              ended.abort()
              return controller.close()
            }
            controller.enqueue(encoder.encode(value.length === 0 ? IDLE : value.map(toText).join('')))
            stuck = setTimeout(() => {
              ended.abort()
              // Of @hono/node-server; ending the stream would wait for the listener to take the rest.
              const { outgoing }: Partial<HttpBindings> = context.env ?? {}
              outgoing?.destroy()
            }, slowMs)
          },
          cancel: () => ended.abort(),
        },
        // Nothing is read ahead for a client that does not take it.
        { highWaterMark: 1 },
      )
      context.req.raw.signal.addEventListener('abort', () => ended.abort(), { once: true })
      return new Response(stream, {
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
        },
      }) as never
    },
  )
  // The connection itself is opened by web-socket.ts, for whom this route lets in.
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/ws',
      summary: 'The same events over WebSocket, in envelopes with other event names',
      request: { query: eventQuery },
      responses: { 426: { description: 'It is for WebSocket clients only' } },
    }),
    () => {
      throw new HttpProblem(UPGRADE, 'upgrade_required', 'This address is for WebSocket clients.')
    },
  )
}

export const UPGRADE = 426

/** Texts of events are made once, however many listeners there are. */
const texts = new WeakMap<StoredEvent, string>()

function toText(stored: StoredEvent): string {
  const known = texts.get(stored)
  if (known !== undefined) return known
  const text = `id: ${stored.seq}\nevent: ${stored.event.type}\ndata: ${JSON.stringify(toShownEvent(stored))}\n\n`
  texts.set(stored, text)
  return text
}
