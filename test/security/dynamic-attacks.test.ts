import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIsolates, type IsolateOutcome } from '../../src/sandbox/isolate/isolates.ts'
import { findUsableSystem } from '../../src/sandbox/walls/detect-usable.ts'
import { ATTACKS } from './dynamic-attacks.ts'

// What is seen from outside: a file and a variable whose content is known to nobody, a file that must not appear, a port
// that nobody may connect to, a host that must stay alive and go on giving right results.
const canary = randomUUID()
const folder = mkdtempSync(join(tmpdir(), 'kogu-attacks-'))
const connections: number[] = []
const server = createServer(socket => {
  connections.push(1)
  socket.destroy()
})
let port = 0

beforeAll(async () => {
  writeFileSync(join(folder, 'canary'), canary)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const paramsOf = (number: number | string) => ({
  canary: join(folder, 'canary'),
  drop: join(folder, `drop-${number}`),
  port,
  list: [1],
  nested: { deep: { x: 1 } },
})

describe('attacks of model-written code', () => {
  it('are at least 120, all different', () => {
    expect(new Set(ATTACKS.map(({ body }) => body)).size).toBe(ATTACKS.length)
    expect(ATTACKS.length).toBeGreaterThanOrEqual(120)
  })

  it('do nothing out of an isolate, and the host goes on', { timeout: 300_000 }, async () => {
    const system = findUsableSystem()
    const isolates = createIsolates(typeof system === 'string' ? undefined : system, 64)
    process.env.KOGU_CANARY = canary
    const run = (body: string, input: unknown, timeoutMs: number): Promise<IsolateOutcome> =>
      isolates.run({
        key: body,
        code: `(function () { 'use strict'; async function execute(params) { ${body} }; return execute })()`,
        input: JSON.stringify(input),
        timeoutMs,
        memoryMb: 64,
        signal: new AbortController().signal,
        answer: async () => Promise.reject(new Error('no tool')),
      })
    const honestBody = 'return { value: params.n * 2 }'
    const bad: string[] = []
    const attack = async (number: number): Promise<void> => {
      const { name, body, does } = ATTACKS[number] ?? { name: '', body: '', does: 'leak' }
      const outcome = await run(body, paramsOf(`isolate-${number}`), does === 'down' ? 1_000 : 20_000)
      if (JSON.stringify(outcome).includes(canary)) bad.push(`leaked: ${name}`)
      const honest = await run(honestBody, { n: number }, 20_000)
      if (!honest.ok || honest.json !== `{"value":${number * 2}}`)
        bad.push(`lost an honest result: ${name}: ${JSON.stringify(honest)}`)
    }
    try {
      const queue = ATTACKS.map((_, number) => number)
      const workers = Array.from({ length: 5 }, async () => {
        for (let number = queue.shift(); number !== undefined; number = queue.shift()) await attack(number)
      })
      await Promise.all(workers)
    } finally {
      delete process.env.KOGU_CANARY
      isolates.close()
    }
    const dropped = ATTACKS.filter((_, number) => existsSync(join(folder, `drop-isolate-${number}`)))
    expect({ bad, dropped: dropped.map(({ name }) => name), connections: connections.length }).toEqual({
      bad: [],
      dropped: [],
      connections: 0,
    })
  })

  it('work against a host that uses node:vm', { timeout: 300_000 }, async () => {
    const harmless: string[] = []
    const quiet = ATTACKS.flatMap(({ does }, number) =>
      does === 'down' || does === 'confuse' ? [] : [number],
    )
    const said = await naive(quiet)
    // Connections of the naive host may still be on their way.
    await new Promise(resolve => setTimeout(resolve, 200))
    const reached = connections.length
    for (const number of quiet) {
      const { name, does } = ATTACKS[number] ?? { name: '', does: 'leak' }
      const worked =
        does === 'leak'
          ? said.get(number)?.said.includes(canary)
          : does === 'drop'
            ? existsSync(paramsOf('naive').drop)
            : reached > 0
      if (does === 'drop') rmSync(paramsOf('naive').drop, { force: true })
      if (worked !== true && does !== 'drop') harmless.push(name)
    }
    const each = async (number: number): Promise<void> => {
      const { name, does } = ATTACKS[number] ?? { name: '', does: 'leak' }
      const results = await naive([number])
      const result = results.get(number)
      const worked =
        does === 'drop'
          ? existsSync(paramsOf('naive').drop)
          : does === 'down'
            ? result === undefined
            : result === undefined || Buffer.from(result.honest).toString() !== '{"value":42}'
      rmSync(paramsOf('naive').drop, { force: true })
      if (!worked) harmless.push(name)
    }
    const queue = ATTACKS.flatMap(({ does }, number) =>
      does === 'down' || does === 'confuse' ? [number] : [],
    )
    const workers = Array.from({ length: 4 }, async () => {
      for (let number = queue.shift(); number !== undefined; number = queue.shift()) await each(number)
    })
    await Promise.all(workers)
    expect(harmless).toEqual([])
  })
})

interface Said {
  said: string
  honest: string
}

/** What a naive host says of each attack, as far as it lives. It is given up when it has been silent for too long. */
async function naive(numbers: readonly number[]): Promise<Map<number, Said>> {
  const program = join(import.meta.dirname, 'naive-vm.ts')
  const flags = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=96']
  const child = spawn(
    process.execPath,
    [...flags, program, numbers.join(','), JSON.stringify(paramsOf('naive'))],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { KOGU_CANARY: canary },
    },
  )
  const said = new Map<number, Said>()
  let silence: NodeJS.Timeout | undefined
  let begun = false
  const listen = (): void => {
    clearTimeout(silence)
    silence = setTimeout(() => child.kill('SIGKILL'), begun ? 1_000 : 20_000)
  }
  listen()
  createInterface({ input: child.stdout }).on('line', line => {
    begun = true
    listen()
    const decode = (text: string): string => Buffer.from(text, 'base64').toString()
    const { attack, said: words, honest } = JSON.parse(line)
    if (attack !== undefined) said.set(attack, { said: decode(words), honest: decode(honest) })
  })
  await new Promise(resolve => child.on('close', resolve))
  clearTimeout(silence)
  return said
}
