import { existsSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JudgeHost } from '../../core/command.ts'
import { type FilteringProxy, startProxy } from './proxy.ts'

const state: { server?: Server; proxy?: FilteringProxy; port: number } = { port: 0 }
beforeEach(async () => {
  state.server = createServer((incoming, answer) =>
    answer.end(`${incoming.method} ${incoming.url} ${incoming.headers.host}`),
  )
  await new Promise<void>(done => state.server?.listen(0, '127.0.0.1', done))
  state.port = (state.server.address() as AddressInfo).port
})
afterEach(async () => {
  await state.proxy?.close()
  state.server?.closeAllConnections()
  state.server?.close()
})

async function open(judge: JudgeHost): Promise<string> {
  state.proxy = await startProxy(judge)
  return state.proxy.socketPath
}

function get(socketPath: string, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, headers: { host: 'x' } }, answer => {
      let body = ''
      answer.on('data', chunk => {
        body += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
    })
    sent.on('error', reject).end()
  })
}

function tunnel(socketPath: string, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method: 'CONNECT', path: target })
    sent.on('connect', (answer, socket) => {
      socket.destroy()
      resolve(answer.statusCode ?? 0)
    })
    sent.on('error', reject).end()
  })
}

test('what is allowed goes through, to the address that was judged', async () => {
  const seen: unknown[] = []
  const socket = await open((host, port, addresses) => {
    if (addresses.length > 0) seen.push([host, port, addresses.includes('127.0.0.1')])
    return null
  })
  expect(await get(socket, `http://localhost:${state.port}/a?b`)).toEqual({
    status: 200,
    body: `GET /a?b localhost:${state.port}`,
  })
  expect(await tunnel(socket, `127.0.0.1:${state.port}`)).toBe(200)
  expect(seen).toEqual([
    ['localhost', state.port, true],
    ['127.0.0.1', state.port, true],
  ])
  expect([...(state.proxy?.contacted ?? [])]).toHaveLength(2)
})

test('what is refused is not contacted, and the program is told why', async () => {
  const socket = await open(() => ({ reason: 'it is a private address', canBeAllowed: false }))
  const answer = await get(socket, `http://127.0.0.1:${state.port}/`)
  expect(answer.status).toBe(403)
  expect(answer.body).toContain('it is a private address')
  expect(await tunnel(socket, `127.0.0.1:${state.port}`)).toBe(403)
  expect([...(state.proxy?.contacted ?? [])]).toEqual([])
})

test('a name that is refused is not even looked up', async () => {
  const seen: number[] = []
  const socket = await open((_host, _port, addresses) => {
    seen.push(addresses.length)
    return { reason: 'only a.example may be contacted', canBeAllowed: true }
  })
  expect((await get(socket, 'http://localhost/')).status).toBe(403)
  expect(seen).toEqual([0])
  expect([...(state.proxy?.refused.keys() ?? [])]).toEqual(['localhost:80'])
})

test('an address that a harmless name turns out to stand for is refused', async () => {
  const socket = await open((_host, _port, addresses) =>
    addresses.includes('127.0.0.1') ? { reason: 'it is this machine', canBeAllowed: false } : null,
  )
  expect(await tunnel(socket, `localhost:${state.port}`)).toBe(403)
  expect([...(state.proxy?.contacted ?? [])]).toEqual([])
})

test('a name that is not known, and an address that is none, are refused', async () => {
  const socket = await open(() => null)
  expect((await get(socket, 'http://no-such-host.invalid/')).status).toBe(403)
  expect((await get(socket, '/etc/passwd')).status).toBe(502)
  expect((await get(socket, 'ftp://localhost/')).status).toBe(403)
  expect(await tunnel(socket, 'a%zz:1')).toBe(403)
})

test.each([
  'HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 X\r\nTrailer: foo\r\nContent-Length: 1\r\n\r\na',
])('an answer that nobody may send does not end Kogu: %j', async answer => {
  const hostile = createTcpServer(socket => socket.on('data', () => socket.end(answer)).on('error', () => {}))
  await new Promise<void>(done => hostile.listen(0, '127.0.0.1', done))
  const socket = await open(() => null)
  const { port } = hostile.address() as AddressInfo
  const first = await get(socket, `http://127.0.0.1:${port}/`).catch(error => ({
    status: 0,
    body: String(error),
  }))
  expect([0, 200, 502]).toContain(first.status)
  expect((await get(socket, `http://127.0.0.1:${state.port}/`)).status).toBe(200)
  hostile.close()
})

test('the port of a tunnel is the one that was named', async () => {
  const ports: number[] = []
  const socket = await open((_, port) => {
    ports.push(port)
    return { reason: 'seen', canBeAllowed: false }
  })
  await tunnel(socket, 'named.invalid:80')
  await tunnel(socket, 'named.invalid:443')
  expect([...new Set(ports)]).toEqual([80, 443])
})

test('closing ends every connection and takes the socket away', async () => {
  const socket = await open(() => null)
  await state.proxy?.close()
  expect(existsSync(socket)).toBe(false)
  delete state.proxy
})
