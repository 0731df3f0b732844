import type { Realm } from './realm.ts'

/** DOMException, Event, EventTarget, AbortController and AbortSignal. Runs inside the isolate, as text. */
export function installEvents(realm: Realm): void {
  const { define, startTimer } = realm

  class DOMException extends Error {
    readonly code: number
    constructor(message = '', name = 'Error') {
      super(message)
      Object.defineProperty(this, 'name', { value: name, configurable: true })
      this.code = name === 'AbortError' ? 20 : name === 'TimeoutError' ? 23 : 0
    }
  }
  define('DOMException', DOMException)

  class Event {
    readonly type: string
    readonly timeStamp = Date.now()
    target: unknown = null
    defaultPrevented = false
    constructor(type: string) {
      this.type = String(type)
    }
    preventDefault(): void {
      this.defaultPrevented = true
    }
  }
  define('Event', Event)

  type Listener = ((event: Event) => void) | { handleEvent(event: Event): void }
  class EventTarget {
    readonly #listeners = new Map<string, Map<Listener, boolean>>()
    addEventListener(type: string, listener: Listener | null, options?: boolean | { once?: boolean }): void {
      if (listener === null) return
      const listeners = this.#listeners.get(type) ?? new Map<Listener, boolean>()
      this.#listeners.set(type, listeners)
      if (!listeners.has(listener))
        listeners.set(listener, typeof options === 'object' && options?.once === true)
    }
    removeEventListener(type: string, listener: Listener): void {
      this.#listeners.get(type)?.delete(listener)
    }
    dispatchEvent(event: Event): boolean {
      event.target = this
      const own: unknown = Reflect.get(this, `on${event.type}`)
      if (typeof own === 'function') own.call(this, event)
      for (const [listener, once] of [...(this.#listeners.get(event.type) ?? [])]) {
        if (once) this.removeEventListener(event.type, listener)
        if (typeof listener === 'function') listener.call(this, event)
        else listener.handleEvent(event)
      }
      return !event.defaultPrevented
    }
  }
  define('EventTarget', EventTarget)

  const KEY = Symbol('made by AbortController')
  class AbortSignal extends EventTarget {
    aborted = false
    reason: unknown = undefined
    onabort: unknown = null
    constructor(key?: unknown) {
      super()
      if (key !== KEY) throw new TypeError('Illegal constructor')
    }
    throwIfAborted(): void {
      if (this.aborted) throw this.reason
    }
    static abort(reason?: unknown): AbortSignal {
      const signal = new AbortSignal(KEY)
      stop(signal, reason)
      return signal
    }
    static timeout(ms: number): AbortSignal {
      const signal = new AbortSignal(KEY)
      startTimer(() => stop(signal, new DOMException('The operation timed out.', 'TimeoutError')), ms)
      return signal
    }
    static any(signals: Iterable<AbortSignal>): AbortSignal {
      const combined = new AbortSignal(KEY)
      for (const signal of signals) {
        if (signal.aborted) stop(combined, signal.reason)
        else signal.addEventListener('abort', () => stop(combined, signal.reason), { once: true })
      }
      return combined
    }
  }
  const stop = (signal: AbortSignal, reason: unknown): void => {
    if (signal.aborted) return
    signal.aborted = true
    signal.reason = reason ?? new DOMException('This operation was aborted', 'AbortError')
    signal.dispatchEvent(new Event('abort'))
  }
  define('AbortSignal', AbortSignal)

  class AbortController {
    readonly signal = new AbortSignal(KEY)
    abort(reason?: unknown): void {
      stop(this.signal, reason)
    }
  }
  define('AbortController', AbortController)
}
