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
/** What came in by the port: each attack that gets so far sends its own. */
const marks = new Set<string>()
const server = createServer(socket => {
  socket.on('data', bytes => marks.add(bytes.toString()))
  socket.on('error', () => undefined)
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

const paramsOf = (host: string) => ({
  canary: join(folder, 'canary'),
  drop: join(folder, host),
  mark: host,
  port,
  list: [1],
  nested: { deep: { x: 1 } },
})

const ALL = ATTACKS.map((attack, number) => ({ ...attack, number }))
/** Each of them takes its host, or its process, with it. */
const BOMBS = ALL.filter(({ does }) => does === 'down')
const QUIET = ALL.filter(({ does }) => does !== 'down')

describe('attacks of model-written code', () => {
  it('are at least 120, all different', () => {
    expect(new Set(ATTACKS.map(({ body }) => body)).size).toBe(ATTACKS.length)
    expect(ATTACKS.length).toBeGreaterThanOrEqual(120)
  })

  it('do nothing out of an isolate, and the host goes on', { timeout: 300_000 }, async () => {
    const system = findUsableSystem()
    const isolates = createIsolates(typeof system === 'string' ? undefined : system, 64)
    process.env.KOGU_CANARY = canary
    const run = (bodies: readonly string[], input: object, timeoutMs: number): Promise<IsolateOutcome> =>
      isolates.run({
        key: bodies.join(),
        code: `(function () { 'use strict'; const all = [${bodies.map(body => `async params => { ${body} }`)}]; return params => all[params.which](params) })()`,
        input: JSON.stringify(input),
        timeoutMs,
        memoryMb: 64,
        signal: new AbortController().signal,
        answer: async () => Promise.reject(new Error('no tool')),
      })
    const bad: string[] = []
    const judge = ({ name }: { name: string }, outcome: IsolateOutcome): void => {
      if (JSON.stringify(outcome).includes(canary)) bad.push(`leaked: ${name}`)
    }
    const honestBody = 'return { value: params.n * 2 }'
    const checkHonest = async ({ name, number: n }: (typeof ALL)[number], outcome: IsolateOutcome) => {
      if (!outcome.ok || outcome.json !== `{"value":${n * 2}}`)
        bad.push(`lost an honest result: ${name}: ${JSON.stringify(outcome)}`)
    }
    try {
      // All in one process, where the honest calls come right after them.
      const bodies = [honestBody, ...QUIET.map(({ body }) => body)]
      for (const [index, attack] of QUIET.entries()) {
        const params = { ...paramsOf(`isolate-${attack.number}`), which: index + 1 }
        judge(attack, await run(bodies, params, 20_000))
        await checkHonest(attack, await run(bodies, { which: 0, n: attack.number }, 20_000))
      }
      await inParallel(4, BOMBS, async attack => {
        const params = { ...paramsOf(`isolate-${attack.number}`), which: 0 }
        judge(attack, await run([attack.body], params, 400))
        await checkHonest(attack, await run([honestBody], { which: 0, n: attack.number }, 20_000))
      })
    } finally {
      delete process.env.KOGU_CANARY
      isolates.close()
    }
    const dropped = ALL.filter(({ number }) => existsSync(join(folder, `isolate-${number}`)))
    expect({ bad, dropped: dropped.map(({ name }) => name), marks: [...marks] }).toEqual({
      bad: [],
      dropped: [],
      marks: [],
    })
  })

  it('each work against a host that uses node:vm', { timeout: 300_000 }, async () => {
    const leaks = QUIET.filter(({ does }) => does !== 'confuse')
    const said = await naive(leaks.map(({ number }) => number))
    // Connections of the naive host may still be on their way.
    const connecting = leaks.filter(({ does }) => does === 'connect')
    await expect.poll(() => marks.size, { timeout: 10_000 }).toBe(connecting.length)
    const worked = new Set<number>()
    for (const { does, number } of leaks) {
      if (does === 'leak' && said.get(number)?.said.includes(canary) === true) worked.add(number)
      if (does === 'drop' && existsSync(join(folder, `naive-${number}`))) worked.add(number)
      if (does === 'connect' && marks.has(`naive-${number}`)) worked.add(number)
    }
    const others = ALL.filter(({ does }) => does === 'down' || does === 'confuse')
    await inParallel(4, others, async ({ does, number }) => {
      const result = (await naive([number])).get(number)
      const isConfused = does === 'confuse' && result?.honest !== '{"value":42}'
      if (result === undefined || isConfused) worked.add(number)
    })
    expect(ALL.filter(({ number }) => !worked.has(number)).map(({ name }) => name)).toEqual([])
  })
})

async function inParallel<T>(most: number, items: readonly T[], work: (item: T) => Promise<void>) {
  const queue = [...items]
  const next = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: most }, next))
}

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
    // One attack alone is there to bring it down; several are there to be answered, and may connect afterwards.
    const isOver = begun && (numbers.length === 1 || said.size === numbers.length)
    silence = setTimeout(() => child.kill('SIGKILL'), isOver ? 500 : 20_000)
  }
  listen()
  createInterface({ input: child.stdout }).on('line', line => {
    begun = true
    const decode = (text: string): string => Buffer.from(text, 'base64').toString()
    const { attack, said: words, honest } = JSON.parse(line)
    if (attack !== undefined) said.set(attack, { said: decode(words), honest: decode(honest) })
    listen()
  })
  await new Promise(resolve => child.on('close', resolve))
  clearTimeout(silence)
  return said
}
