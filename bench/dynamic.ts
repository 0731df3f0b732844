import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { runInNewContext } from 'node:vm'
import { getQuickJS } from 'quickjs-emscripten'
import { createIsolates, type IsolateOutcome, type Isolates } from '../src/sandbox/isolate/isolates.ts'
import { findUsableSystem } from '../src/sandbox/walls/detect-usable.ts'
import { interleave } from './measure.ts'
import { type Row, showTime, toPlainRow, toRow, verdict } from './table.ts'

const SMALL = 'function execute(p) { return p.a + 1 }'
const JSON_100_KB = 'function execute(p) { return p }'
const PRIMES =
  'function execute(p) { let n = 0; for (let i = 2; n < p.count; i++) { let ok = true; for (let d = 2; d * d <= i; d++) if (i % d === 0) { ok = false; break } if (ok) n++ } return n }'

/** Dynamic tools beside what else runs JavaScript; then a thousand runs of honest and hostile ones at once. */
export async function measureDynamic(): Promise<Row[]> {
  const system = findUsableSystem()
  const isolates = createIsolates(typeof system === 'string' ? undefined : system, 128)
  try {
    return [
      ...(await measureFirst(isolates)),
      ...(await measureWarm(isolates)),
      await measureWork(isolates),
      ...(await measureDeno()),
      await measureMixed(isolates),
    ]
  } finally {
    isolates.close()
  }
}

async function run(
  isolates: Isolates,
  code: string,
  input: unknown,
  key = code,
  timeoutMs = 30_000,
): Promise<IsolateOutcome> {
  return await isolates.run({
    key,
    code: `(function () { 'use strict'; ${code}; return execute })()`,
    input: JSON.stringify(input),
    timeoutMs,
    memoryMb: 128,
    signal: new AbortController().signal,
    answer: async () => Promise.reject(new Error('nothing')),
  })
}

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** A new tool to its first result: with a process that stands ready, and without. */
async function measureFirst(isolates: Isolates): Promise<Row[]> {
  const ready: number[] = []
  const cold: number[] = []
  for (let round = 0; round < 12; round += 1) {
    isolates.prepare()
    await pause(400)
    const started = performance.now()
    await run(isolates, SMALL, { a: 1 }, `first ${round}`)
    ready.push(performance.now() - started)
    const again = performance.now()
    await run(isolates, SMALL, { a: 1 }, `cold ${round}`)
    cold.push(performance.now() - again)
  }
  const quickJs = await getQuickJS()
  const samples = await interleave(12, {
    quickjs: { run: () => evaluateIn(quickJs.newContext(), SMALL, '{"a":1}') },
    vm: { run: () => runInNewContext(`${SMALL}; execute({ a: 1 })`) },
  })
  return [
    toRow({
      name: 'new tool to first result, a process ready',
      kogu: Float64Array.from(ready),
      peer: { name: 'quickjs', samples: samples.quickjs },
      target: { ms: 10 },
    }),
    toRow({
      name: 'new tool to first result, no process ready',
      kogu: Float64Array.from(cold),
      peer: { name: 'node:vm (no wall)', samples: samples.vm },
    }),
  ]
}

type QuickContext = ReturnType<Awaited<ReturnType<typeof getQuickJS>>['newContext']>

function evaluateIn(context: QuickContext, code: string, input: string): string {
  const handle = context.unwrapResult(context.evalCode(`${code}; JSON.stringify(execute(${input}))`))
  const text = context.getString(handle)
  handle.dispose()
  context.dispose()
  return text
}

/** A second call of the same tool: it comes when it comes, so the next context has been made meanwhile. */
async function measureWarm(isolates: Isolates): Promise<Row[]> {
  const big = { rows: Array.from({ length: 1000 }, (_, n) => ({ n, text: 'x'.repeat(80) })) }
  const warm = async (code: string, input: unknown, wait: number): Promise<Float64Array> => {
    const times: number[] = []
    for (let round = 0; round < 200; round += 1) {
      const started = performance.now()
      await run(isolates, code, input)
      times.push(performance.now() - started)
      if (wait > 0) await pause(wait)
    }
    return Float64Array.from(times.slice(20))
  }
  const quickJs = await getQuickJS()
  const text = JSON.stringify(big)
  const peers = await interleave(180, {
    quickjs: { run: () => evaluateIn(quickJs.newContext(), SMALL, '{"a":1}') },
    quickjsBig: { run: () => evaluateIn(quickJs.newContext(), JSON_100_KB, text) },
    vm: { run: () => runInNewContext(`${SMALL}; execute({ a: 1 })`) },
  })
  return [
    toRow({
      name: 'warm call, in a new context',
      kogu: await warm(SMALL, { a: 1 }, 3),
      peer: { name: 'quickjs, new context', samples: peers.quickjs },
      target: { ms: 0.5 },
    }),
    toRow({
      name: 'warm calls without a pause',
      kogu: await warm(SMALL, { a: 1 }, 0),
      peer: { name: 'node:vm, new context (no wall)', samples: peers.vm },
    }),
    toRow({
      name: '100 KB of JSON in and out',
      kogu: await warm(JSON_100_KB, big, 3),
      peer: { name: 'quickjs', samples: peers.quickjsBig },
    }),
  ]
}

async function measureWork(isolates: Isolates): Promise<Row> {
  const count = 20_000
  const plain = runInNewContext(`${PRIMES}; execute`) as (input: { count: number }) => number // as written above
  await run(isolates, PRIMES, { count })
  const samples = await interleave(10, {
    kogu: { run: () => run(isolates, PRIMES, { count }) },
    plain: { run: () => plain({ count }) },
  })
  return toRow({
    name: `CPU-bound: ${count} primes`,
    kogu: samples.kogu,
    peer: { name: 'plain JavaScript', samples: samples.plain },
    target: { ratio: 1.3 },
  })
}

/** Where a deno is installed. */
async function measureDeno(): Promise<Row[]> {
  const started = performance.now()
  const child = spawn(
    'deno',
    [
      'eval',
      `${SMALL}; for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) for (const line of chunk.split("\\n").filter(Boolean)) console.log(JSON.stringify(execute(JSON.parse(line))))`,
    ],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  const failed = new Promise<'none'>(resolve => child.on('error', () => resolve('none')))
  child.stdin.on('error', () => undefined)
  const lines = createInterface({ input: child.stdout })
  const ask = async (): Promise<'none' | 'line'> => {
    child.stdin.write('{"a":1}\n')
    return await Promise.race([
      failed,
      new Promise<'line'>(resolve => lines.once('line', () => resolve('line'))),
    ])
  }
  if ((await ask()) === 'none')
    return [toPlainRow({ name: 'a Deno child', kogu: '', peer: 'not measured: no deno on this machine' })]
  const first = performance.now() - started
  const again = performance.now()
  for (let round = 0; round < 100; round += 1) await ask()
  const warm = (performance.now() - again) / 100
  child.kill()
  return [
    toPlainRow({
      name: 'a Deno child',
      kogu: '',
      peer: `deno: first ${showTime(first)}, warm ${showTime(warm)}`,
    }),
  ]
}

const HOSTILE = [
  'function execute() { for (;;); }',
  'async function execute() { for (;;) await 0 }',
  'function execute() { const all = []; for (;;) all.push(new Uint8Array(2 ** 24).fill(1)) }',
  'function execute() { return console.log.constructor("return process")().env }',
  'function execute() { return "x".repeat(2 ** 22) }',
  'function execute() { return { get x() { throw 1 } } }',
]

/** No honest result is lost or mixed up, and the host's memory stays where it was. */
async function measureMixed(isolates: Isolates): Promise<Row> {
  const total = 1_000
  const wrong: string[] = []
  const started = performance.now()
  const before = process.memoryUsage().rss
  const queue = Array.from({ length: total }, (_, number) => number)
  const work = async (): Promise<void> => {
    for (let number = queue.shift(); number !== undefined; number = queue.shift()) {
      // One in twenty is hostile: each of those costs its time limit.
      if (number % 20 === 7) {
        await run(isolates, HOSTILE[((number / 20) % HOSTILE.length) | 0] ?? '', {}, undefined, 400)
        continue
      }
      const tool = number % 3
      const outcome = await run(
        isolates,
        `function execute(p) { return { tool: ${tool}, double: p.number * 2 } }`,
        { number },
      )
      const right = outcome.ok && outcome.json === JSON.stringify({ tool, double: number * 2 })
      if (!right) wrong.push(`${number}: ${JSON.stringify(outcome).slice(0, 80)}`)
    }
  }
  await Promise.all(Array.from({ length: 5 }, work))
  const grown = (process.memoryUsage().rss - before) / 1024 ** 2
  const seconds = (performance.now() - started) / 1000
  return toPlainRow({
    name: `${total} mixed runs at once, 50 of them hostile`,
    kogu: `${wrong.length} lost or mixed up, ${seconds.toFixed(1)} s, host ${grown >= 0 ? '+' : ''}${grown.toFixed(0)} MB`,
    target: '0 lost, ≤ +64 MB',
    verdict: verdict(wrong.length === 0 && grown <= 64),
  })
}
