import { runInNewContext } from 'node:vm'
import { getQuickJS } from 'quickjs-emscripten'
import { createIsolates, type IsolateOutcome, type Isolates } from '../src/sandbox/isolate/isolates.ts'
import { findUsableSystem } from '../src/sandbox/walls/detect-usable.ts'
import { findDeno, startDeno } from './deno.ts'
import { interleave, type Side } from './measure.ts'
import { type Row, type Target, toPlainRow, toRow, verdict } from './table.ts'

interface Work {
  readonly name: string
  readonly code: string
  readonly input: unknown
  readonly rounds: number
  readonly target?: Target
}

const ADD = 'function execute(p) { return p.a + 1 }'
const WARM: readonly Work[] = [
  { name: 'warm call', code: ADD, input: { a: 1 }, rounds: 600, target: { ms: 0.5 } },
  {
    name: '100 KB of JSON in and out',
    code: 'function execute(p) { return p }',
    input: { rows: Array.from({ length: 1000 }, (_, n) => ({ n, text: 'x'.repeat(80) })) },
    rounds: 60,
  },
]
const PRIMES: Work = {
  name: 'CPU-bound: 20000 primes',
  code: 'function execute(p) { let n = 0; for (let i = 2; n < p.count; i++) { let ok = true; for (let d = 2; d * d <= i; d++) if (i % d === 0) { ok = false; break } if (ok) n++ } return n }',
  input: { count: 20_000 },
  rounds: 15,
  target: { ratio: 1.3 },
}

/** Dynamic tools beside what else runs JavaScript; then a thousand runs of honest and hostile ones at once. */
export async function measureDynamic(): Promise<Row[]> {
  const system = findUsableSystem()
  const isolates = createIsolates(typeof system === 'string' ? undefined : system, 128)
  const deno = findDeno()
  const rows: Row[] = []
  try {
    rows.push(...(await measureFirst(isolates, deno)))
    for (const work of WARM) rows.push(...(await measureWarm(isolates, deno, work)))
    rows.push(await measureWork(isolates))
    if (deno === undefined)
      rows.push(toPlainRow({ name: 'Deno', kogu: 'not measured: it cannot be installed' }))
    return [...rows, await measureMixed(isolates)]
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

/** One row for each peer; the first carries the target. */
function toRows(
  name: string,
  kogu: Float64Array,
  peers: Readonly<Record<string, Float64Array>>,
  target?: Target,
): Row[] {
  return Object.entries(peers).map(([peer, samples], index) =>
    toRow({
      name: index === 0 ? name : '',
      kogu,
      peer: { name: peer, samples },
      ...(index === 0 && target !== undefined ? { target } : {}),
    }),
  )
}

/** A tool that never ran before, with a process that stands ready, as it does after any other call. */
async function measureFirst(isolates: Isolates, deno: string | undefined): Promise<Row[]> {
  const quickJs = await getQuickJS()
  let count = 0
  const sides: Record<string, Side> = {
    quickjs: { run: () => evaluateIn(quickJs.newContext(), ADD, '{"a":1}') },
    'node:vm, no wall': { run: () => runInNewContext(`${ADD}; execute({ a: 1 })`) },
    ...(deno === undefined ? {} : { 'a new Deno': { run: () => runDenoOnce(deno) } }),
  }
  const { before, after, kogu, ...peers } = await interleave(10, {
    // Until a process stands ready.
    before: { run: () => pause(1_500) },
    kogu: {
      run() {
        count += 1
        return run(isolates, ADD, { a: 1 }, `first ${count}`)
      },
    },
    after: { run: () => pause(1_500) },
    ...sides,
  })
  return toRows('new tool to first result', kogu, peers, { ms: 10 })
}

async function runDenoOnce(program: string): Promise<void> {
  const child = startDeno(program, ADD)
  await child.call('{"a":1}')
  child.close()
}

type QuickContext = ReturnType<Awaited<ReturnType<typeof getQuickJS>>['newContext']>

function evaluateIn(context: QuickContext, code: string, input: string): string {
  const handle = context.unwrapResult(context.evalCode(`${code}; JSON.stringify(execute(${input}))`))
  const text = context.getString(handle)
  handle.dispose()
  context.dispose()
  return text
}

/** A further call of the same tool. All but Deno use a new context for each; Kogu makes its next one meanwhile. */
async function measureWarm(isolates: Isolates, deno: string | undefined, work: Work): Promise<Row[]> {
  const { name, code, input, rounds, target } = work
  const quickJs = await getQuickJS()
  const text = JSON.stringify(input)
  const child = deno === undefined ? undefined : startDeno(deno, code)
  const sides: Record<string, Side> = {
    quickjs: { run: () => evaluateIn(quickJs.newContext(), code, text) },
    'node:vm, no wall': { run: () => runInNewContext(`${code}; JSON.stringify(execute(${text}))`) },
    ...(child === undefined ? {} : { 'a Deno that runs': { run: () => child.call(text) } }),
  }
  const { before, after, kogu, ...peers } = await interleave(rounds, {
    before: { run: () => pause(3) },
    kogu: { run: () => run(isolates, code, input) },
    after: { run: () => pause(3) },
    ...sides,
  })
  child?.close()
  return toRows(name, kogu, peers, target)
}

async function measureWork(isolates: Isolates): Promise<Row> {
  const { name, code, input, rounds, target } = PRIMES
  const plain = runInNewContext(`${code}; execute`) as (value: unknown) => number // as written above
  const samples = await interleave(rounds, {
    kogu: { run: () => run(isolates, code, input) },
    plain: { run: () => plain(input) },
  })
  return toRow({
    name,
    kogu: samples.kogu,
    peer: { name: 'plain JavaScript', samples: samples.plain },
    ...(target === undefined ? {} : { target }),
  })
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
