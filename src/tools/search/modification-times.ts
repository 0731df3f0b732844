import { lstatSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 12
/** From here on a second thread is worth its start. */
const SHARED_FROM = 20_000

/** Modification times in milliseconds, 0 for what is gone. Looking at 100,000 files is shared by two threads. */
export async function modificationTimes(
  folder: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Float64Array> {
  const times = new Float64Array(files.length)
  const middle = files.length < SHARED_FROM ? files.length : files.length >> 1
  const other = middle === files.length ? undefined : timesInThread(folder, files.slice(middle), signal)
  // Handled where it is awaited: a failure of the first half must not leave it unhandled.
  other?.catch(() => undefined)
  await lookAt(folder, files, middle, times, signal)
  if (other !== undefined) times.set(await other, middle)
  return times
}

/** In slices, so that other calls of the process get their turn. */
async function lookAt(
  folder: string,
  files: readonly string[],
  end: number,
  times: Float64Array,
  signal: AbortSignal,
): Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS
  for (let i = 0; i < end; i += 1) {
    if (i % 256 === 0 && performance.now() > sliceEnd) {
      await setImmediate()
      signal.throwIfAborted()
      sliceEnd = performance.now() + SLICE_MS
    }
    times[i] = timeOf(`${folder}/${files[i]}`)
  }
}

function timeOf(path: string): number {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  } catch {
    // A folder on the way was closed to us meanwhile.
    return 0
  }
}

// The same as timeOf, as text: a worker that is a file of its own would have to be found again in every bundle.
const WORKER = `
const { lstatSync } = require('node:fs')
const { parentPort, workerData } = require('node:worker_threads')
const files = workerData.files.split('\\0')
const times = new Float64Array(files.length)
for (let i = 0; i < files.length; i += 1) {
  try { times[i] = lstatSync(workerData.folder + '/' + files[i], { throwIfNoEntry: false })?.mtimeMs ?? 0 } catch {}
}
parentPort.postMessage(times, [times.buffer])
`

async function timesInThread(
  folder: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Float64Array> {
  const { Worker } = await import('node:worker_threads')
  // One string is copied to the thread far faster than many; no name holds NUL.
  const worker = new Worker(WORKER, { eval: true, workerData: { folder, files: files.join('\0') } })
  const stop = (): void => void worker.terminate()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await new Promise<Float64Array>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('The thread that looks at files ended early.')))
    })
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}
