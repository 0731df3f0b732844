import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import * as z from 'zod'

/** 240 KB of code take a tenth of a second. Some short code takes for ever: the compiler tries all ways to read it. */
const MOST_MS = 10_000

const WORKER = `
const { stripTypeScriptTypes } = require('node:module')
const { parentPort, workerData } = require('node:worker_threads')
// Without Node's warning that this function is young: it would stand between the lines of every command.
process.emitWarning = () => undefined
const strip = mode => {
  try { return { mode, javascript: stripTypeScriptTypes(workerData, { mode }) } } catch (error) { return { mode, problem: error.message } }
}
parentPort.postMessage([strip('strip'), strip('transform')])
`

const stripped = z.object({
  /** `strip` puts spaces where types were, and cannot read enums and namespaces; `transform` writes everything anew. */
  mode: z.enum(['strip', 'transform']),
  javascript: z.string().optional(),
  /** Why there is none. */
  problem: z.string().optional(),
})

/**
 * TypeScript as JavaScript, in both ways. In a thread that ends with it: code that is nested a thousand deep breaks Node's
 * compiler for all that comes after it in the same thread, so that one tool would keep every other tool from being made.
 * Throws when it takes too long, or the thread breaks.
 */
export function stripTypes(code: string, mostMs = MOST_MS): Promise<z.output<typeof stripped>[]> {
  const mine = turn.last.then(() => stripInThread(code, mostMs))
  turn.last = mine.catch(() => undefined)
  return mine
}

/** One after another: slow code keeps a core busy for all of its time, and an agent can send as much of it as it likes. */
const turn: { last: Promise<unknown> } = { last: Promise.resolve() }

async function stripInThread(code: string, mostMs: number): Promise<z.output<typeof stripped>[]> {
  const worker = new Worker(WORKER, { eval: true, workerData: code })
  const late = AbortSignal.timeout(mostMs)
  try {
    const [versions] = await once(worker, 'message', { signal: late })
    return z.array(stripped).parse(versions)
  } catch (error) {
    if (!late.aborted) throw error
    throw new Error(`Its types could not be taken out within ${mostMs / 1000} s.`, { cause: error })
  } finally {
    await worker.terminate()
  }
}
