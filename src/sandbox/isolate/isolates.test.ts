import { existsSync } from 'node:fs'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { findUsableSystem } from '../walls/detect-usable.ts'
import { descendantsOf } from '../walls/watchdog.ts'
import { createIsolates, type IsolateOutcome, type IsolateRequest } from './isolates.ts'

const system = findUsableSystem()
const isolates = createIsolates(typeof system === 'string' ? undefined : system, 128)
afterAll(() => isolates.close())

function run(
  body: string,
  input: unknown = {},
  options: Partial<IsolateRequest> = {},
  where = isolates,
): Promise<IsolateOutcome> {
  return where.run({
    key: body,
    code: `(function () { 'use strict'; ${body}; return execute })()`,
    input: JSON.stringify(input),
    timeoutMs: 20_000,
    memoryMb: 128,
    signal: new AbortController().signal,
    answer: async (operation, value) => ({ operation, value }),
    ...options,
  })
}

async function resultOf(body: string, input: unknown = {}): Promise<unknown> {
  const outcome = await run(body, input)
  if (!outcome.ok) throw new Error(`${outcome.reason}: ${outcome.message}`)
  return JSON.parse(outcome.json)
}

describe('an isolate', () => {
  it('runs a function with its input and gives what it returned and logged', async () => {
    const outcome = await run(
      'async function execute(p) { console.log("seen", p); return { twice: p.n * 2 } }',
      {
        n: 21,
      },
    )
    expect(outcome).toEqual({ ok: true, json: '{"twice":42}', logs: ['seen {"n":21}'] })
  })

  it('keeps nothing of one call for the next', async () => {
    const body =
      'function execute() { globalThis.count = (globalThis.count ?? 0) + 1; Array.prototype.map = null; return count }'
    expect([await resultOf(body), await resultOf(body), await resultOf(body)]).toEqual([1, 1, 1])
  })

  it('runs any number of calls within the memory of one', async () => {
    const body = 'function execute(p) { return p.n }'
    const results: unknown[] = []
    for (let n = 0; n < 400; n += 1) {
      const outcome = await run(body, { n }, { memoryMb: 16 })
      results.push(outcome.ok ? outcome.json : outcome)
    }
    expect(results).toEqual(Array.from({ length: 400 }, (_, n) => String(n)))
  })

  it('has the standard functions that pure code expects', async () => {
    const body = `async function execute() {
      const url = new URL('../b?x=1#h', 'https://u:p@example.com:8443/a/c')
      url.searchParams.append('y', 'é&')
      url.hash = ''
      const bytes = new TextEncoder().encode('abc')
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
      const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
      const signature = await crypto.subtle.sign('HMAC', key, bytes)
      const order = []
      setTimeout(() => order.push('timeout'), 5)
      queueMicrotask(() => order.push('microtask'))
      const ticks = await new Promise(resolve => { let n = 0; const id = setInterval(() => { if (++n === 3) { clearInterval(id); resolve(n) } }, 4) })
      const controller = new AbortController()
      const aborted = new Promise(resolve => controller.signal.addEventListener('abort', () => resolve(controller.signal.reason.name)))
      controller.abort()
      const original = { when: new Date(0), list: [1, , 3], map: new Map([['k', new Set([1])]]) }
      original.self = original
      const clone = structuredClone(original)
      return {
        href: url.href, origin: url.origin, invalid: URL.canParse('::'),
        digest: digest[0], verified: await crypto.subtle.verify('HMAC', key, signature, bytes),
        uuid: /^[0-9a-f-]{36}$/.test(crypto.randomUUID()), random: crypto.getRandomValues(new Uint8Array(8)).length,
        base64: atob(btoa('hello')), text: new TextDecoder().decode(new TextEncoder().encode('日本 🎉')),
        legacy: new TextDecoder('shift_jis').decode(new Uint8Array([0x93, 0xfa])),
        order, ticks, aborted: await aborted,
        clone: clone !== original && clone.self === clone && clone.when.getTime() === 0 && clone.map.get('k').has(1),
        response: await new Response('{"a":1}').json(), headers: new Headers({ A: 'b' }).get('a'),
        types: [typeof performance.now(), typeof setImmediate, typeof Request, typeof process, typeof require],
      }
    }`
    expect(await resultOf(body)).toEqual({
      href: 'https://u:p@example.com:8443/b?x=1&y=%C3%A9%26',
      origin: 'https://example.com:8443',
      invalid: false,
      digest: 186,
      verified: true,
      uuid: true,
      random: 8,
      base64: 'hello',
      text: '日本 🎉',
      legacy: '日',
      order: ['microtask', 'timeout'],
      ticks: 3,
      aborted: 'AbortError',
      clone: true,
      response: { a: 1 },
      headers: 'b',
      types: ['number', 'function', 'function', 'undefined', 'undefined'],
    })
  })

  it('passes requests of the code to the host and gives it the answer or the refusal', async () => {
    const body = `async function execute() {
      const first = await kogu.callTool('read_file', { path: 'a' })
      try { await fetch('https://example.com/', { method: 'POST', body: 'x' }) } catch (error) { return [first, String(error)] }
    }`
    const asked: unknown[] = []
    const outcome = await run(
      body,
      {},
      {
        async answer(operation, value) {
          asked.push([operation, value])
          if (operation === 'fetch') throw new Error('refused')
          return 'content'
        },
      },
    )
    expect(outcome).toMatchObject({ json: '["content","TypeError: refused"]' })
    expect(asked).toMatchObject([
      ['tool', { name: 'read_file', input: { path: 'a' } }],
      ['fetch', { url: 'https://example.com/', method: 'POST', body: 'x' }],
    ])
  })

  it('reports what the code throws, in its own words', async () => {
    expect(await run('function execute() { null.x }')).toMatchObject({
      ok: false,
      reason: 'threw',
      message: "TypeError: Cannot read properties of null (reading 'x')",
    })
    expect(await run('const execute = 5')).toMatchObject({ ok: false, reason: 'threw' })
    expect(await run('function execute() { throw { get message() { throw 1 } } }')).toMatchObject({
      ok: false,
      message: 'It threw a value that cannot be shown.',
    })
  })

  it('logs whatever it is given without failing', async () => {
    const body =
      'function execute() { console.log({ toJSON() { throw 1 }, toString() { throw 2 } }, 5n, Symbol("s")); return 1 }'
    expect(await run(body)).toMatchObject({ ok: true, logs: ['[object] 5n Symbol(s)'] })
  })

  it('is ended when it takes too long, and the next call of the same tool works', async () => {
    const body = 'function execute(p) { while (p.spin); return 1 }'
    const [spun, fine] = await Promise.all([run(body, { spin: true }, { timeoutMs: 2_000 }), run(body)])
    expect([spun, fine]).toMatchObject([{ reason: 'timeout' }, { json: '1' }])
    expect(await resultOf(body)).toBe(1)
  })

  it('is ended when it goes on after its result', async () => {
    const before = new Set(descendantsOf(process.pid, 100))
    const alone = createIsolates(undefined, 128)
    const body = 'function execute() { queueMicrotask(function f() { queueMicrotask(f) }); return 1 }'
    expect(await run(body, {}, {}, alone)).toMatchObject({ json: '1' })
    const own = descendantsOf(process.pid, 100).filter(pid => !before.has(pid))
    await expect
      .poll(() => own.filter(pid => existsSync(`/proc/${pid}`)).length, { timeout: 20_000 })
      .toBeLessThan(own.length)
    alone.close()
  })

  it('is ended when the caller gives up', async () => {
    const controller = new AbortController()
    const running = run(
      'async function execute() { await kogu.callTool("x"); for (;;); }',
      {},
      {
        signal: controller.signal,
        async answer() {
          controller.abort()
        },
      },
    )
    expect(await running).toMatchObject({ ok: false, reason: 'cancelled' })
  })

  it('does not count the time in which a person is asked', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const outcome = await run(
      'async function execute() { await kogu.callTool("x"); return "answered" }',
      {},
      {
        timeoutMs: 1_500,
        async answer(_operation, _value, clock) {
          const resume = clock.pause()
          vi.advanceTimersByTime(60_000)
          resume()
        },
      },
    )
    expect(outcome).toMatchObject({ json: '"answered"' })
  })

  it('is limited in memory, output, timers and requests', async () => {
    expect(
      await run('function execute() { let s = "x"; for (;;) { s = s + s; s.charCodeAt(1) } }'),
    ).toMatchObject({
      reason: 'memory',
    })
    expect(await run('function execute() { return "x".repeat(2 ** 20) }')).toMatchObject({ reason: 'output' })
    expect(await run('function execute() { for (;;) setTimeout(() => {}, 1e6) }')).toMatchObject({
      message: 'RangeError: More than 1000 timers or requests are pending.',
    })
    const flood = 'async function execute() { for (;;) await kogu.callTool("x") }'
    expect(await run(flood)).toMatchObject({ message: 'RangeError: More than 1000 requests were made.' })
  })

  it('makes no code from strings, by whatever path', async () => {
    const body = `function execute() {
      const tried = [() => eval('1'), () => globalThis['ev' + 'al']('1'), () => new Function('return 1')(),
        () => (() => {}).constructor('return 1')(), () => (async () => {}).constructor('return 1')(),
        () => (function* () {}).constructor('return 1')(), () => Reflect.construct(Object.getPrototypeOf(async function* () {}).constructor, ['1']),
        () => class extends Function {}.constructor('return 1')()]
      return tried.map(attempt => { try { attempt(); return 'ran' } catch (error) { return error.name } })
    }`
    expect(await resultOf(body)).toEqual(Array(8).fill('EvalError'))
  })
})
