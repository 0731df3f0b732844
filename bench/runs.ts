// A process of its own for bench/calls.ts: what ten thousand runs leave behind when they are closed.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Approver } from '../src/core/approval.ts'
import { localProvider, PRIORITY } from '../src/core/provider.ts'
import { toolNamed } from '../src/core/testing.ts'
import { openTemporaryRuntime } from './temporary-runtime.ts'

const RUNS = 10_000

const touch = toolNamed('touch_thing', {
  risk: 'high',
  access: ({ text }: { text: string }) => [{ kind: 'file_delete', path: text }],
})

/** Each run leaves a session grant, which has to end with it. */
const approver: Approver = {
  async ask({ offers }) {
    return { kind: 'session', user: 'bench', grant: offers.at(-1)?.id ?? '' }
  },
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const { runtime, close } = await openTemporaryRuntime()
await runtime.registry.add(localProvider('bench', 'Benchmark', PRIORITY.custom, [touch]))

async function openAndClose(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const parent = await runtime.openRun({ approver })
    const child = await runtime.openRun({
      parent: parent.id,
      authority: { agent: 'a', tools: ['touch_thing'] },
    })
    await runtime.call({ tool: 'touch_thing', input: { text: 'doc/a' }, run: child.id })
    const { decision } = await runtime.call({ tool: 'touch_thing', input: { text: 'doc/a' }, run: child.id })
    if (decision.by !== 'grant') throw new Error(`The grant did not hold: ${decision.by}`)
    await runtime.closeRun(parent.id)
  }
}

function heap(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

await openAndClose(500)
const before = heap()
const started = performance.now()
await openAndClose(RUNS / 2)
const ms = performance.now() - started
console.log(JSON.stringify({ runs: RUNS, ms, leftBytes: heap() - before }))
await close()
