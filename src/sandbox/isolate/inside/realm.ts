/** What code inside an isolate reaches the outside by. Only strings and numbers cross the border. */
export interface Realm {
  /** Answered at once by the isolate's own process: parses URLs, makes random numbers, does cryptography. */
  ask(operation: string, value: unknown): unknown
  /** Answered by Kogu, after its permission engine. */
  request(operation: string, value: unknown): Promise<unknown>
  startTimer(callback: () => void, ms: number): number
  stopTimer(number: number): void
  /** Makes a global of it. */
  define(name: string, value: unknown): void
  /** An Error that has the name of a DOMException. */
  fail(name: string, message: string): Error
}

/** The border's other side: the isolate's process calls these. */
export interface Entry {
  /** The answer to a request, or a timer that is due. */
  deliver(kind: 'reply' | 'timer', number: number, text: string): void
  run(input: string): void
}

/** Sends to the isolate's own process, and waits for its answer. */
export type Send = (operation: string, number: number, text: string) => string

/**
 * Runs inside the isolate, before the tool's code, as text: it can use nothing from outside its own body. What it
 * needs of the language is taken first, so that code which changes `JSON` or `Map` harms only itself.
 */
export function createRealm(
  send: Send,
  limits: { output: number; pending: number },
): [Realm, (execute: unknown) => Entry] {
  const { parse, stringify } = JSON
  const { freeze, defineProperty } = Object
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const timers = new Map<number, () => void>()
  let next = 1

  const fail = (name: string, message: string): Error => {
    const error = new Error(message)
    defineProperty(error, 'name', { value: name, configurable: true, writable: true })
    return error
  }
  const take = <T>(map: Map<number, T>, value: T): number => {
    if (map.size >= limits.pending)
      throw new RangeError(`More than ${limits.pending} timers or requests are pending.`)
    next += 1
    map.set(next, value)
    return next
  }
  const answerOf = (text: string): unknown => {
    const answer = parse(text)
    if (answer.ok === true) return answer.value
    throw answer.type === true ? new TypeError(answer.message) : fail(answer.name ?? 'Error', answer.message)
  }
  const realm: Realm = freeze({
    ask: (operation: string, value: unknown) => answerOf(send(operation, 0, stringify(value))),
    request: (operation: string, value: unknown) =>
      new Promise((resolve, reject) => {
        const text = stringify({ operation, value })
        send('request', take(pending, { resolve, reject }), text)
      }),
    startTimer(callback: () => void, ms: number) {
      const number = take(timers, callback)
      send('timer', number, stringify(ms))
      return number
    },
    stopTimer(number: number) {
      if (timers.delete(number)) send('stop', number, '')
    },
    define(name: string, value: unknown) {
      defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
    },
    fail,
  })

  const describe = (error: unknown): string => {
    try {
      const isError = typeof error === 'object' && error !== null && 'message' in error
      const name = isError && 'name' in error ? `${error.name}` : 'Error'
      return stringify({ name, message: isError ? `${error.message}` : `${error}` })
    } catch {
      // A getter or toString of the thrown value throws itself.
      return '{"name":"Error","message":"It threw a value that cannot be shown."}'
    }
  }
  const settle = (value: unknown): void => {
    const text = value === undefined ? 'null' : stringify(value)
    // What JSON cannot say (a function, a symbol) is nothing.
    const json = typeof text === 'string' ? text : 'null'
    if (json.length > limits.output) send('output', 0, '')
    else send('result', 0, json)
  }
  const attempt = (work: () => unknown): void => {
    try {
      work()
    } catch (error) {
      send('failure', 0, describe(error))
    }
  }
  const finish = async (execute: (input: unknown) => unknown, input: string): Promise<void> => {
    try {
      settle(await execute(parse(input)))
    } catch (error) {
      send('failure', 0, describe(error))
    }
  }
  const toEntry = (execute: unknown): Entry => ({
    deliver(kind, number, text) {
      if (kind === 'timer') {
        const callback = timers.get(number)
        timers.delete(number)
        if (callback !== undefined) attempt(callback)
        return
      }
      const waiting = pending.get(number)
      pending.delete(number)
      if (waiting === undefined) return
      try {
        waiting.resolve(answerOf(text))
      } catch (error) {
        waiting.reject(error as Error) // answerOf throws nothing else
      }
    },
    run(input) {
      if (typeof execute !== 'function') {
        send(
          'failure',
          0,
          stringify({ name: 'TypeError', message: 'The code does not define a function execute(params).' }),
        )
        return
      }
      void finish(execute as (value: unknown) => unknown, input) // any function takes one value
    },
  })
  return [realm, toEntry]
}
