import { createServer, get, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fastify from 'fastify'
import { listen } from '../src/server/listen.ts'
import { insertWorkspaceEvents, newestEvent } from '../src/store/tables/run-events.ts'
import { countRuns, enqueueRun } from '../src/store/tables/run-queue.ts'
import { openTestApp } from '../test/support/app.ts'
import { interleave, spreadOf } from './measure.ts'
import { type Row, showTime, toPlainRow, toRow, verdict } from './table.ts'

const RUNS = 200
const LISTENERS = 500
const QUESTIONS = 50
const CROWD = 1_000
const SMALL = JSON.stringify({ status: 'ok', version: '0' })

/** Kogu's door beside servers that check nothing. */
export async function measureServer(): Promise<Row[]> {
  return [...(await measureSmallGet()), ...(await measureFanOut())]
}

async function measureSmallGet(): Promise<Row[]> {
  const app = await openTestApp()
  const own = await listen(app.api, { host: '127.0.0.1', port: 0, remote: undefined })
  const bare = await startBare((_, response) =>
    response.setHeader('content-type', 'application/json').end(SMALL),
  )
  const fast = fastify()
  fast.get('/api/health', async () => ({ status: 'ok', version: '0' }))
  const fastUrl = await fast.listen({ host: '127.0.0.1', port: 0 })
  const fetchFrom = (url: string) => async () => void (await (await fetch(`${url}/api/health`)).text())
  const rounds = await interleave(400, {
    kogu: { run: fetchFrom(own.url) },
    bare: { run: fetchFrom(bare.url) },
    fastify: { run: fetchFrom(fastUrl) },
  })
  await own.close(100)
  await app.close()
  await fast.close()
  bare.close()
  return [
    toRow({
      name: 'a small GET',
      kogu: rounds.kogu,
      peer: { name: 'node:http', samples: rounds.bare },
      tail: true,
    }),
    toRow({
      name: 'a small GET',
      kogu: rounds.kogu,
      peer: { name: 'fastify', samples: rounds.fastify },
      tail: true,
    }),
  ]
}

/** From the moment an event is written to the moment when the last of a thousand clients has it. */
async function measureFanOut(): Promise<Row[]> {
  const app = await openTestApp({ database: true })
  const { database, runs } = await app.services()
  const own = await listen(app.api, { host: '127.0.0.1', port: 0, remote: undefined })
  const bareClients: ServerResponse[] = []
  const bare = await startBare((_, response) => beginStream(response, bareClients))
  const fastClients: ServerResponse[] = []
  const fast = fastify()
  fast.get('/', (_, reply) => {
    reply.hijack()
    beginStream(reply.raw, fastClients)
  })
  const fastUrl = await fast.listen({ host: '127.0.0.1', port: 0 })
  const clients = {
    kogu: await connectAll(`${own.url}/api/events`, app.token('read'), CROWD),
    bare: await connectAll(bare.url, '', CROWD),
    fastify: await connectAll(fastUrl, '', CROWD),
  }
  const tell = (all: readonly ServerResponse[]) => async () => {
    for (const response of all) response.write('id: 1\nevent: tool.changed\ndata: {}\n\n')
  }
  const store = (): Promise<void> =>
    insertWorkspaceEvents(database, runs.place, [
      { id: crypto.randomUUID(), at: new Date().toISOString(), event: { type: 'tool.changed' } },
    ])
  const toAll = (listeners: Listeners, say: () => Promise<void>) => async () => {
    const all = listeners.next()
    await say()
    await all
  }
  const rounds = await interleave(20, {
    kogu: { run: toAll(clients.kogu, store) },
    bare: { run: toAll(clients.bare, tell(bareClients)) },
    fastify: { run: toAll(clients.fastify, tell(fastClients)) },
  })
  for (const each of Object.values(clients)) each.close()
  await own.close(100)
  await app.close()
  await fast.close()
  bare.close()
  const name = `an event to ${CROWD} clients, stored and numbered first`
  return [
    toRow({ name, kogu: rounds.kogu, peer: { name: 'node:http (not stored)', samples: rounds.bare } }),
    toRow({ name, kogu: rounds.kogu, peer: { name: 'fastify (not stored)', samples: rounds.fastify } }),
  ]
}

function beginStream(response: ServerResponse, all: ServerResponse[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': ok\n\n')
  all.push(response)
}

/** A crowd of runs, listeners and questions at once. */
export async function measureCrowd(): Promise<Row[]> {
  const app = await openTestApp({
    database: true,
    config: '[server]\nmax_runs = 200\nmax_runs_per_agent = 200\n',
  })
  const { database, runs, hub } = await app.services()
  const own = await listen(app.api, { host: '127.0.0.1', port: 0, remote: undefined })
  const token = app.token()
  const listeners = await connectAll(`${own.url}/api/events`, token, LISTENERS)
  app.machine.write('talk.toml', '[[answer]]\ntext = "Hello."\ndelay_ms = 100\n')
  app.machine.write(
    'ask.toml',
    '[[answer]]\n[[answer.call]]\ntool = "write_file"\ninput = { path = "a.txt", content = "x" }\n[[answer]]\ntext = "Done."\n',
  )
  const before = await newestEvent(database)
  const started = performance.now()
  for (let index = 0; index < RUNS; index += 1) {
    const model = `rehearsal:${join(app.machine.workspace, index < QUESTIONS ? 'ask.toml' : 'talk.toml')}`
    await enqueueRun(database, {
      ...runs.place,
      spec: { task: 'Go.', model, authority: {}, limits: { maxTurns: 5 } },
    })
  }
  const gets: number[] = []
  let counts: Record<string, number> = {}
  for (;;) {
    const begun = performance.now()
    await (await fetch(`${own.url}/api/health`)).text()
    gets.push(performance.now() - begun)
    counts = await countRuns(database, runs.place)
    if ((counts.completed ?? 0) + (counts.awaiting_approval ?? 0) >= RUNS) break
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  const ms = performance.now() - started
  const newest = await newestEvent(database)
  await listeners.reach(newest)
  const total = (await hub.read(before)).length
  const { lost, outOfOrder } = listeners.check(before, newest)
  listeners.close()
  await own.close(100)
  await app.close()
  const fine = lost === 0 && outOfOrder === 0 && counts.awaiting_approval === QUESTIONS
  return [
    toPlainRow({
      name: `${RUNS} runs at once, ${LISTENERS} listeners, ${QUESTIONS} questions`,
      kogu: `${showTime(ms)}, ${total}+ events, ${lost} lost, ${outOfOrder} out of order, ${counts.awaiting_approval ?? 0} waiting`,
      target: 'none lost, in order',
      verdict: verdict(fine),
    }),
    toPlainRow({
      name: 'a small GET meanwhile',
      kogu: `p99 ${showTime(spreadOf(Float64Array.from(gets)).p99)}`,
    }),
  ]
}

interface Listeners {
  /** Resolves when each has got one more chunk. */
  next(): Promise<void>
  /** Resolves when each has seen this number. */
  reach(seq: number): Promise<void>
  check(after: number, until: number): { lost: number; outOfOrder: number }
  close(): void
}

async function connectAll(url: string, token: string, count: number): Promise<Listeners> {
  const all = Array.from({ length: count }, () => ({ numbers: [] as number[], text: '', chunks: 0 }))
  const requests: ReturnType<typeof get>[] = []
  let changed = Promise.withResolvers<void>()
  await Promise.all(
    all.map(
      own =>
        new Promise<void>((resolve, reject) => {
          const request = get(
            url,
            { headers: { authorization: `Bearer ${token}` }, agent: false },
            response => {
              response.setEncoding('utf8')
              response.on('error', () => undefined)
              response.on('data', (chunk: string) => {
                own.chunks += 1
                own.text += chunk
                const end = own.text.lastIndexOf('\n\n')
                for (const [, seq] of own.text.slice(0, end).matchAll(/^id: (\d+)$/gm))
                  own.numbers.push(Number(seq))
                own.text = own.text.slice(end)
                changed.resolve()
                resolve()
              })
            },
          )
          request.on('error', reject)
          requests.push(request)
        }),
    ),
  )
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) {
      await changed.promise
      changed = Promise.withResolvers()
    }
  }
  return {
    next: () => {
      const before = all.map(({ chunks }) => chunks)
      return until(() => all.every(({ chunks }, index) => chunks > (before[index] ?? 0)))
    },
    reach: seq => until(() => all.every(({ numbers }) => (numbers.at(-1) ?? 0) >= seq)),
    check(after, last) {
      const [longest = []] = all.map(({ numbers }) => numbers).sort((a, b) => b.length - a.length)
      const expected = longest.filter(seq => seq > after && seq <= last).length
      const lost = all.reduce(
        (sum, { numbers }) => sum + expected - numbers.filter(seq => seq > after && seq <= last).length,
        0,
      )
      const outOfOrder = all.filter(({ numbers }) =>
        numbers.some((seq, i) => seq <= (numbers[i - 1] ?? 0)),
      ).length
      return { lost, outOfOrder }
    },
    close() {
      for (const request of requests) request.destroy()
    },
  }
}

async function startBare(
  answer: (request: unknown, response: ServerResponse) => void,
): Promise<{ url: string; close(): void }> {
  const server: Server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
