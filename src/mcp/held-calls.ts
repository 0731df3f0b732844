import { randomUUID } from 'node:crypto'
import type { CallResult } from '../core/call.ts'
import type { Form, FormAnswer } from '../core/tool.ts'

/** What a call came to: its end, or a form that its tool wants filled in before it goes on. */
export type Step =
  | { readonly kind: 'done'; readonly result: CallResult }
  | { readonly kind: 'asks'; readonly id: string; readonly form: Form }

export interface HeldCalls {
  /** Starts a call; its tool may ask for values. */
  start(run: (way: Way) => Promise<CallResult>, signal: AbortSignal): Promise<Step>
  /** Goes on with a call that asked. Undefined: there is none of this id any more. */
  goOn(id: string, answer: FormAnswer, signal: AbortSignal): Promise<Step> | undefined
  /** Ends all that wait, and returns when they have. */
  close(): Promise<void>
}

interface Way {
  readonly signal: AbortSignal
  elicit(form: Form): Promise<FormAnswer>
}

/** So long a form may stay open. */
const PATIENCE_MS = 10 * 60_000

/**
 * Calls whose tools ask for values. A request of a client ends when it is told to ask its person, and another one brings
 * the answer; the call itself runs on between the two.
 */
export function createHeldCalls(): HeldCalls {
  const running = new Set<Promise<unknown>>()
  const waiting = new Map<string, (answer: FormAnswer, signal: AbortSignal) => Promise<Step>>()

  /** Until the call's next step. Whoever gives up meanwhile gives the call up. */
  const nextStep = async (steps: Steps, stop: AbortController, signal: AbortSignal): Promise<Step> => {
    const onAbort = (): void => stop.abort()
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await steps.next()
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  return {
    start(run, signal) {
      const stop = new AbortController()
      const steps = createSteps()
      const elicit = (form: Form): Promise<FormAnswer> =>
        new Promise(resolve => {
          const id = randomUUID()
          const answered = (answer: FormAnswer): void => {
            clearTimeout(timer)
            waiting.delete(id)
            resolve(answer)
          }
          const timer = setTimeout(() => answered({ action: 'cancel' }), PATIENCE_MS)
          timer.unref()
          waiting.set(id, (answer, next) => {
            answered(answer)
            return nextStep(steps, stop, next)
          })
          steps.push({ kind: 'asks', id, form })
        })
      const work = run({ signal: stop.signal, elicit }).then(
        result => steps.push({ kind: 'done', result }),
        (error: unknown) => steps.fail(error),
      )
      running.add(work)
      void work.finally(() => running.delete(work))
      return nextStep(steps, stop, signal)
    },
    goOn: (id, answer, signal) => waiting.get(id)?.(answer, signal),
    async close() {
      for (const answer of [...waiting.values()])
        answer({ action: 'cancel' }, AbortSignal.abort()).catch(() => undefined)
      await Promise.all(running)
    },
  }
}

interface Steps {
  next(): Promise<Step>
  push(step: Step): void
  fail(error: unknown): void
}

/** One step after another: the next may come before anybody waits for it. */
function createSteps(): Steps {
  const made: PromiseWithResolvers<Step>[] = []
  let [given, taken] = [0, 0]
  const at = (index: number): PromiseWithResolvers<Step> => {
    made[index] ??= Promise.withResolvers<Step>()
    return made[index]
  }
  return {
    next() {
      taken += 1
      return at(taken - 1).promise
    },
    push(step) {
      given += 1
      at(given - 1).resolve(step)
    },
    fail(error) {
      given += 1
      const { promise, reject } = at(given - 1)
      // A call that was given up has nobody who waits.
      promise.catch(() => undefined)
      reject(error)
    },
  }
}
