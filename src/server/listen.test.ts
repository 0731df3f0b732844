import { X509Certificate } from 'node:crypto'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openTestApp, type TestApp } from '../../test/support/app.ts'
import { enqueueRun } from '../store/tables/run-queue.ts'
import { listen } from './listen.ts'
import { serveWebSocket } from './web-socket.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp({ database: true })
})
afterAll(() => app.close())

describe('an address that other machines can reach', () => {
  test('is refused unless it was said how requests come over TLS', async () => {
    const open = listen(app.api, { host: '0.0.0.0', port: 0, remote: undefined })
    await expect(open).rejects.toThrow('can be reached from other machines')
  })

  test('is served with the certificate that was given', async () => {
    const remote = { kind: 'tls', certificate: CERTIFICATE, key: KEY } as const
    const listening = await listen(app.api, { host: '127.0.0.1', port: 0, remote })
    try {
      expect(listening.url).toMatch(/^https:/)
      const { status, fingerprint } = await ask(`${listening.url}/api/health`)
      expect(status).toBe(200)
      expect(fingerprint).toBe(new X509Certificate(CERTIFICATE).fingerprint256)
      await expect(fetch(`${listening.url.replace('https', 'http')}/api/health`)).rejects.toThrow()
    } finally {
      await listening.close(0)
    }
  })
})

test('events come over WebSocket and TLS', async () => {
  const remote = { kind: 'tls', certificate: CERTIFICATE, key: KEY } as const
  const listening = await listen(app.api, { host: '127.0.0.1', port: 0, remote })
  const sockets = serveWebSocket(listening.server, app.api, app.services)
  const address = `${listening.url.replace('https', 'wss')}/api/ws?after=0`
  const client = new WebSocket(address, {
    headers: { authorization: `Bearer ${app.token('read')}` },
    rejectUnauthorized: false,
  })
  try {
    const { database, runs } = await app.services()
    const model = `rehearsal:${join(app.machine.workspace, 'talk.toml')}`
    app.machine.write('talk.toml', '[[answer]]\ntext = "Hello."\n')
    const spec = { task: 'Talk.', model, authority: {}, limits: { maxTurns: 1 } }
    const arrived = new Promise<string>((resolve, reject) => {
      client.once('message', data => resolve(String(data)))
      client.once('error', reject)
    })
    await enqueueRun(database, { ...runs.place, spec })
    expect(JSON.parse(await arrived)).toMatchObject({
      id: expect.any(String),
      event: { type: expect.any(String) },
    })
  } finally {
    client.terminate()
    sockets.close()
    await listening.close(0)
  }
}, 60_000)

test('a client that offers HTTP/2 is answered over HTTP/1.1, and only /api/ws is for WebSocket', async () => {
  const listening = await listen(app.api, { host: '127.0.0.1', port: 0, remote: undefined })
  const sockets = serveWebSocket(listening.server, app.api, app.services)
  const { hostname, port, host } = new URL(listening.url)
  const token = app.token('read', 'run')
  const send = async (line: string, upgrade: string, body = ''): Promise<string> => {
    const socket = connect(Number(port), hostname)
    const head = [
      line,
      `host: ${host}`,
      `authorization: Bearer ${token}`,
      `upgrade: ${upgrade}`,
      'connection: upgrade, close',
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
    return (await socket.setEncoding('utf8').toArray()).join('')
  }
  try {
    app.machine.write('a.txt', 'hello')
    const call = JSON.stringify({ tool: 'read_file', input: { path: 'a.txt' } })
    expect(await send('POST /api/calls HTTP/1.1', 'h2c', call)).toMatch(/^HTTP\/1.1 200 .*hello/s)
    expect(await send('GET /api/health HTTP/1.1', 'websocket')).toMatch(/^HTTP\/1.1 200 .*"ok"/s)
  } finally {
    sockets.close()
    await listening.close(0)
  }
})

/** The certificate is compared, not its dates: they mean nothing here. */
function ask(url: string): Promise<{ status: number | undefined; fingerprint: string }> {
  return new Promise((resolve, reject) => {
    request(url, { rejectUnauthorized: false }, response => {
      const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate()
      response.resume()
      resolve({ status: response.statusCode, fingerprint: fingerprint256 })
    })
      .on('error', reject)
      .end()
  })
}

// For localhost, made for this test; nothing else uses it.
const CERTIFICATE = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBmzCCAUGgAwIBAgIUUKYLxOkw62R2QmECB86djXVBvmUwCgYIKoZIzj0EAwIw',
  'FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNjEyNTEyNFoYDzIxMjYxMDIz',
  'MTI1MTI0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO',
  'PQMBBwNCAAToeH6znWz4uCSitYGp6YKyHxx3WNXZGrGd6fkm8SVhI34ua9YpwR1Y',
  '7B4zkQm9BWjZnFZjln/Jgg7Un2krseVro28wbTAdBgNVHQ4EFgQUgM8ltSBNnFqp',
  '6C9QsmkYN05fbXswHwYDVR0jBBgwFoAUgM8ltSBNnFqp6C9QsmkYN05fbXswDwYD',
  'VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI',
  'zj0EAwIDSAAwRQIhAPTWyG51xDTq+BC4+OPLJJ2vy18C6sAkrpUNGpv7qeA1AiBI',
  'aG52D6hfS4WFAveU2mVJjAONNrZuFaNkPeelJVImWA==',
  '-----END CERTIFICATE-----',
].join('\n')
const KEY = [
  '-----BEGIN PRIVATE KEY-----',
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgpp/7VzlLZlKRtPoO',
  'CHxO3DO3KtPdU/4bQCU34zZuzmChRANCAAToeH6znWz4uCSitYGp6YKyHxx3WNXZ',
  'GrGd6fkm8SVhI34ua9YpwR1Y7B4zkQm9BWjZnFZjln/Jgg7Un2krseVr',
  '-----END PRIVATE KEY-----',
].join('\n')
