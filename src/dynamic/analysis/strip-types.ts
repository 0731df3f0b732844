import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import * as z from 'zod'

/** 240 KB of code take a tenth of a second. */
const MOST_MS = 10_000

const WORKER = `
const { stripTypeScriptTypes } = require('node:module')
const { parentPort, workerData } = require('node:worker_threads')
// Without Node's warning that this function is young: it would stand between the lines of every command.
process.emitWarning = () => undefined
const strip = mode => {
  try { return [stripTypeScriptTypes(workerData, { mode })] } catch { return [] }
}
parentPort.postMessage([...strip('strip'), ...strip('transform')])
`

/**
 * TypeScript as JavaScript: with its types taken out, and with enums and namespaces made into code, as far as either can be
 * done. In a thread that ends with it: code that is nested a thousand deep breaks Node's compiler for all that comes after
 * it in the same thread, so that one tool would keep every other tool from being made.
 */
export async function stripTypes(code: string): Promise<string[]> {
  const worker = new Worker(WORKER, { eval: true, workerData: code })
  try {
    const [versions] = await once(worker, 'message', { signal: AbortSignal.timeout(MOST_MS) })
    return z.array(z.string()).parse(versions)
  } catch {
    // The thread ended, or was too slow: nothing can be said about the code.
    return []
  } finally {
    await worker.terminate()
  }
}
