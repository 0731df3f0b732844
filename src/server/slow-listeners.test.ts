import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openTestApp, type TestApp } from '../../test/support/app.ts'
import { insertEvents, insertWorkspaceEvents, newEvent } from '../store/tables/run-events.ts'
import { type Listening, listen } from './listen.ts'
import { serveWebSocket } from './web-socket.ts'

// More than sockets and kernels hold for a listener that takes nothing.
const EVENTS = 150
const TASK = 'x'.repeat(100_000)

const open: { app?: TestApp; server?: Listening; sockets?: { close(): void } } = {}
afterEach(async () => {
  open.sockets?.close()
  await open.server?.close(0)
  await open.app?.close()
})

async function start(slowListenerMs?: number): Promise<{ app: TestApp; server: Listening; token: string }> {
  const app = await openTestApp({
    database: true,
    ...(slowListenerMs === undefined ? {} : { slowListenerMs }),
  })
  await app.services()
  const server = await listen(app.api, { host: '127.0.0.1', port: 0, remote: undefined })
  const sockets = serveWebSocket(server.server, app.api, app.services, { slowMs: slowListenerMs })
  Object.assign(open, { app, server, sockets })
  return { app, server, token: app.token('read') }
}

async function happen({ services }: TestApp): Promise<number> {
  const { database, hub, runs } = await services()
  const at = new Date().toISOString()
  const run = randomUUID()
  const events = Array.from({ length: EVENTS }, () => ({
    id: randomUUID(),
    at,
    event: { type: 'run.created' as const, run, task: TASK, agent: null },
  }))
  for (let from = 0; from < EVENTS; from += 50)
    await insertWorkspaceEvents(database, runs.place, events.slice(from, from + 50))
  const [row] = await database.query<{ seq: string }>('SELECT max(seq) AS seq FROM run_events')
  while (hub.newest < Number(row?.seq)) await hub.wait(hub.newest, AbortSignal.timeout(1_000))
  return hub.newest
}

/** Asks for events on a bare socket, and takes nothing until it is resumed. */
function listenSlowly({ url }: Listening, token: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET /api/events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`)
  return new Promise(resolve => {
    socket.once('data', () => {
      socket.pause()
      resolve(socket)
    })
  })
}

function numbersIn(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
}

async function readUntil(url: string, token: string, last: number): Promise<number[]> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes(`id: ${last}\n`)) text += (await reader?.read())?.value ?? ''
  await reader?.cancel()
  return numbersIn(text)
}

test('a listener that takes nothing holds nobody back, and gets everything in order once it does', async () => {
  const { app, server, token } = await start()
  const slow = await listenSlowly(server, token)
  const before = (await app.services()).hub.newest
  const last = await happen(app)
  const all = await readUntil(`${server.url}/api/events?after=${before}`, token, last)
  expect(all).toHaveLength(EVENTS)
  let text = ''
  await new Promise<void>(resolve => {
    slow.setEncoding('utf8')
    slow.on('data', chunk => {
      text += chunk
      if (text.slice(-200_000).includes(`id: ${last}\n`)) resolve()
    })
    slow.resume()
  })
  expect(numbersIn(text)).toEqual(all)
  slow.destroy()
}, 60_000)

test('one that never takes anything is let go, and goes on from its number when it comes back', async () => {
  const { app, server, token } = await start(100)
  const slow = await listenSlowly(server, token)
  slow.on('error', () => undefined)
  const gone = new Promise(resolve => slow.once('close', resolve))
  const last = await happen(app)
  while ((await connections(server)) > 0) await new Promise(resolve => setTimeout(resolve, 20))
  // What had arrived by then can still be read.
  slow.resume()
  await gone
  const back = await readUntil(`${server.url}/api/events?after=${last - 3}`, token, last)
  expect(back).toEqual([last - 2, last - 1, last])
}, 60_000)

test('one whose token was revoked hears nothing more', async () => {
  const { app, server, token } = await start()
  const response = await fetch(`${server.url}/api/events`, { headers: { authorization: `Bearer ${token}` } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader?.read())?.value).toContain('ok')
  app.revoke()
  await happen(app)
  expect(await reader?.read()).toEqual({ done: true, value: undefined })
})

test('so is one over WebSocket', async () => {
  const { app, server, token } = await start(100)
  const { database, hub, runs } = await app.services()
  const client = new WebSocket(`${server.url.replace('http', 'ws')}/api/ws`, {
    headers: { authorization: `Bearer ${token}` },
  })
  client.on('error', () => undefined)
  await new Promise(resolve => client.once('open', resolve))
  client.pause()
  const run = await runs.create({
    task: 'Talk.',
    model: 'rehearsal:x',
    authority: {},
    limits: { maxTurns: 1 },
  })
  const said = Array.from({ length: EVENTS }, () => newEvent({ type: 'text.delta', text: TASK }))
  for (let from = 0; from < EVENTS; from += 50)
    await insertEvents(database, run.id, run.execution, said.slice(from, from + 50))
  while ((await connections(server)) > 0) await new Promise(resolve => setTimeout(resolve, 20))
  const after = hub.newest - 3
  const again = new WebSocket(`${server.url.replace('http', 'ws')}/api/ws?after=${after}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const ids: string[] = []
  await new Promise<void>(resolve => {
    again.on('message', data => {
      ids.push((JSON.parse(String(data)) as { id: string }).id)
      if (ids.length === 3) resolve()
    })
  })
  expect(ids).toEqual([after + 1, after + 2, after + 3].map(String))
  again.terminate()
  client.terminate()
}, 60_000)

function connections({ server }: Listening): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  )
}
