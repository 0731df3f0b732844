import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { noSandbox } from '../../../test/support/skips.ts'
import { DEFAULT_SANDBOX_LIMITS, EMPTY_PROFILE } from '../../core/sandbox.ts'
import { type Background, createBackground } from '../background/background.ts'
import { useBackgroundPlace } from '../testing.ts'

const state = useBackgroundPlace()

describe.skipIf(noSandbox !== '')(`ports of background commands${noSandbox}`, () => {
  /** A server that answers with what was sent, at the given address of its sandbox. */
  async function serve(background: Background, id: string, port: number, more: ServeOptions = {}) {
    const script = `
      require('node:http').createServer(async (request, response) => {
        let text = ''
        for await (const chunk of request) text += chunk
        response.end(request.method + ' ' + request.url + ' ' + text.length)
      }).listen(${port}, ${JSON.stringify(more.host ?? '127.0.0.1')}, () => console.log('listening'))`
    const workspace = join(state.root, 'work')
    await background.start({
      id,
      ports: [port],
      file: process.execPath,
      args: ['-e', script],
      title: 'server',
      lifetimeMs: more.lifetimeMs ?? 20_000,
      profile: {
        writable: [workspace],
        readable: [],
        hidden: [],
        protected: [],
        network: 'none',
        unixSockets: true,
        env: { PATH: '/usr/bin:/bin' },
        cwd: workspace,
        limits: DEFAULT_SANDBOX_LIMITS,
      },
    })
    await expect
      .poll(
        () =>
          background
            .outputFiles(id)
            .map(path => readFileSync(path, 'utf8'))
            .join(''),
        { timeout: 9000 },
      )
      .toContain('listening')
  }

  interface ServeOptions {
    host?: string
    lifetimeMs?: number
  }

  test('this machine reaches the server at 127.0.0.1 until it is stopped', async () => {
    const background = createBackground(state.folder)
    const port = await freePort()
    await serve(background, 'one', port)
    expect(await get(port, '/hello')).toBe('GET /hello 0')
    expect(await get(port, '/large', 'x'.repeat(3_000_000))).toBe('POST /large 3000000')
    const many = await Promise.all(Array.from({ length: 50 }, (_, index) => get(port, `/${index}`)))
    expect(many).toEqual(many.map((_, index) => `GET /${index} 0`))
    expect(await background.state('one')).toMatchObject({ running: true, ports: [port] })
    expect(listeners(port)).toEqual(['0100007F'])
    const held = connect(port, '127.0.0.1')
    const cut = new Promise(resolve => held.on('close', resolve).on('error', () => undefined))
    await background.stop('one')
    await cut
    expect(listeners(port)).toEqual([])
  })

  test('a server that listens to ::1 only is reached as well', async () => {
    const background = createBackground(state.folder)
    const port = await freePort()
    await serve(background, 'six', port, { host: '::1' })
    expect(await get(port, '/six')).toBe('GET /six 0')
  })

  test.each(['127.0.0.1', '0.0.0.0', '::'])('nothing runs when the port is taken at %s', async host => {
    const background = createBackground(state.folder)
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, host, resolve))
    const address = other.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    try {
      await expect(serve(background, 'late', port)).rejects.toThrow(
        `Port ${port} of this machine cannot be opened: another program uses it.`,
      )
      expect(await background.list()).toEqual([])
    } finally {
      await new Promise(resolve => other.close(resolve))
    }
  })

  test('of several ports all are opened or none', async () => {
    const background = createBackground(state.folder)
    const port = await freePort()
    await serve(background, 'one', port)
    const free = await freePort()
    await expect(background.start({ ...NOTHING, id: 'two', ports: [free, port] })).rejects.toThrow(
      'another program uses it',
    )
    expect(listeners(free)).toEqual([])
    expect(await get(port, '/still')).toBe('GET /still 0')
  })

  test('its lifetime, and the death of the supervisor, give the port back', async () => {
    const background = createBackground(state.folder)
    const [short, long] = [await freePort(), await freePort()]
    await serve(background, 'short', short, { lifetimeMs: 2_000 })
    await serve(background, 'long', long)
    expect(listeners(short)).toEqual(['0100007F'])
    await expect.poll(() => listeners(short), { timeout: 5_000 }).toEqual([])
    expect(await background.state('short')).toMatchObject({ ended: { reason: 'lifetime' } })
    process.kill(Number(readFileSync(join(state.folder, 'supervisor.lock'), 'utf8').split(' ')[0]), 'SIGKILL')
    await expect.poll(() => listeners(long)).toEqual([])
    expect(await background.openPorts()).toEqual([])
  })
})

const NOTHING = {
  file: '/bin/true',
  args: [],
  title: 'nothing',
  lifetimeMs: 1_000,
  profile: EMPTY_PROFILE,
} as const

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

async function get(port: number, path: string, body?: string): Promise<string> {
  const request = body === undefined ? {} : { method: 'POST', body }
  return await (await fetch(`http://127.0.0.1:${port}${path}`, request)).text()
}

/** The addresses, as the kernel writes them, at which somebody on this machine listens to the port. */
function listeners(port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return ['tcp', 'tcp6'].flatMap(name =>
    readFileSync(`/proc/net/${name}`, 'utf8')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .filter(([, local, , status]) => local?.endsWith(`:${hex}`) && status === '0A')
      .map(([, local = '']) => local.split(':')[0] ?? ''),
  )
}
