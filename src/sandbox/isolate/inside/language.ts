import type { Realm } from './realm.ts'

/** Timers, console, base64, text encoding and structuredClone. Runs inside the isolate, as text. */
export function installLanguage(realm: Realm): void {
  const { ask, define, fail, startTimer, stopTimer } = realm
  const isView = ArrayBuffer.isView

  // No way to other threads or to machine code.
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics']) Reflect.deleteProperty(globalThis, name)
  // What the analysis has not read does not run: no code is made from strings, by whatever path the maker is found.
  function refuseCode(): never {
    throw new EvalError('Code generation from strings is not allowed.')
  }
  const makers = [() => {}, async () => {}, function* () {}, async function* () {}]
  for (const maker of makers) {
    const prototype: object = Object.getPrototypeOf(maker)
    Object.defineProperty(prototype, 'constructor', {
      value: refuseCode,
      writable: false,
      configurable: false,
    })
  }
  Object.defineProperty(refuseCode, 'prototype', {
    value: Object.getPrototypeOf(refuseCode),
    writable: false,
  })
  define('Function', refuseCode)
  define('eval', () => refuseCode())

  const intervals = new Map<number, number>()
  const toCall = (callback: unknown, values: unknown[]): (() => void) => {
    if (typeof callback !== 'function') throw new TypeError('The callback of a timer must be a function.')
    return () => callback(...values)
  }
  define('setTimeout', (callback: unknown, ms?: unknown, ...values: unknown[]) =>
    startTimer(toCall(callback, values), Number(ms) || 0),
  )
  define('setInterval', (callback: unknown, ms?: unknown, ...values: unknown[]) => {
    const call = toCall(callback, values)
    const again = (): number =>
      startTimer(
        () => {
          intervals.set(first, again())
          call()
        },
        Math.max(1, Number(ms) || 0),
      )
    const first: number = again()
    intervals.set(first, first)
    return first
  })
  const clear = (number: unknown): void => {
    const id = Number(number)
    stopTimer(intervals.get(id) ?? id)
    intervals.delete(id)
  }
  define('clearTimeout', clear)
  define('clearInterval', clear)
  define('setImmediate', (callback: unknown, ...values: unknown[]) => startTimer(toCall(callback, values), 0))
  define('clearImmediate', clear)
  define('queueMicrotask', (callback: unknown) => {
    const call = toCall(callback, [])
    void Promise.resolve().then(call)
  })
  const started = Date.now()
  define('performance', Object.freeze({ timeOrigin: started, now: () => Date.now() - started }))

  const shown = (value: unknown): string => {
    if (typeof value === 'string') return value
    try {
      if (value instanceof Error) return `${value.name}: ${value.message}`
      return JSON.stringify(value) ?? String(value)
    } catch {
      // Cyclic, a BigInt, or something that throws when it is looked at: what is logged never ends a call.
      return typeof value === 'bigint' ? `${value}n` : `[${typeof value}]`
    }
  }
  const log =
    (level: string) =>
    (...values: unknown[]): void => {
      ask('log', `${level === 'log' ? '' : `${level}: `}${values.map(shown).join(' ')}`)
    }
  const levels = ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir', 'table']
  define('console', Object.fromEntries(levels.map(level => [level, log(level)])))

  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  define('btoa', (input: unknown): string => {
    const text = String(input)
    let encoded = ''
    for (let index = 0; index < text.length; index += 3) {
      const codes = [text.charCodeAt(index), text.charCodeAt(index + 1), text.charCodeAt(index + 2)]
      if (codes.some(code => code > 255))
        throw fail('InvalidCharacterError', 'The text has characters beyond Latin-1.')
      const [a = 0, b = 0, c = 0] = codes.map(code => (Number.isNaN(code) ? 0 : code))
      const left = text.length - index
      encoded += `${ALPHABET[a >> 2]}${ALPHABET[((a & 3) << 4) | (b >> 4)]}`
      encoded += `${left > 1 ? ALPHABET[((b & 15) << 2) | (c >> 6)] : '='}${left > 2 ? ALPHABET[c & 63] : '='}`
    }
    return encoded
  })
  define('atob', (input: unknown): string => {
    const text = String(input).replace(/[\t\n\f\r ]/g, '')
    const bare = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text
    if (bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare))
      throw fail('InvalidCharacterError', 'The text is not base64.')
    let decoded = ''
    let bits = 0
    let held = 0
    for (const character of bare) {
      held = ((held << 6) | ALPHABET.indexOf(character)) & 0xffffff
      bits += 6
      if (bits < 8) continue
      bits -= 8
      decoded += String.fromCharCode((held >> bits) & 255)
    }
    return decoded
  })

  class TextEncoder {
    readonly encoding = 'utf-8'
    encode(input: unknown = ''): Uint8Array {
      const bytes: number[] = []
      for (const character of String(input).toWellFormed()) {
        const code = character.codePointAt(0) ?? 0
        if (code < 0x80) bytes.push(code)
        else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63))
        else if (code < 0x10000)
          bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
        else
          bytes.push(
            0xf0 | (code >> 18),
            0x80 | ((code >> 12) & 63),
            0x80 | ((code >> 6) & 63),
            0x80 | (code & 63),
          )
      }
      return Uint8Array.from(bytes)
    }
    encodeInto(input: string, target: Uint8Array): { read: number; written: number } {
      let read = 0
      let written = 0
      for (const character of input) {
        const bytes = this.encode(character)
        if (written + bytes.length > target.length) break
        target.set(bytes, written)
        read += character.length
        written += bytes.length
      }
      return { read, written }
    }
  }
  const toBytes = (source: unknown): Uint8Array => {
    if (source === undefined) return new Uint8Array()
    if (source instanceof ArrayBuffer) return new Uint8Array(source)
    if (isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    throw new TypeError('The bytes must be an ArrayBuffer, a typed array or a DataView.')
  }
  const toHex = (bytes: Uint8Array): string =>
    Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  class TextDecoder {
    readonly encoding: string
    readonly fatal: boolean
    readonly ignoreBOM: boolean
    constructor(label = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      this.encoding = String(ask('encoding', String(label)))
      this.fatal = options.fatal === true
      this.ignoreBOM = options.ignoreBOM === true
    }
    decode(source?: unknown): string {
      const { encoding, fatal, ignoreBOM } = this
      return String(ask('decode', { bytes: toHex(toBytes(source)), encoding, fatal, ignoreBOM }))
    }
  }
  define('TextEncoder', TextEncoder)
  define('TextDecoder', TextDecoder)

  const cloneOne = (value: unknown, seen: Map<unknown, unknown>): unknown => {
    if (typeof value === 'function' || typeof value === 'symbol')
      throw fail('DataCloneError', `${String(value)} could not be cloned.`)
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return seen.get(value)
    const keep = <T>(copy: T): T => {
      seen.set(value, copy)
      return copy
    }
    if (value instanceof Date) return keep(new Date(value.getTime()))
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags))
    if (value instanceof ArrayBuffer) return keep(value.slice(0))
    if (isView(value)) {
      const Kind = value.constructor as new (
        buffer: ArrayBufferLike,
        offset: number,
        length?: number,
      ) => unknown // views share this
      const buffer = cloneOne(value.buffer, seen) as ArrayBuffer // cloned as one above
      return keep(
        new Kind(
          buffer,
          value.byteOffset,
          value instanceof DataView ? value.byteLength : (value as Uint8Array).length,
        ),
      ) // typed arrays have a length
    }
    if (value instanceof Map) {
      const copy = keep(new Map())
      for (const [key, entry] of value) copy.set(cloneOne(key, seen), cloneOne(entry, seen))
      return copy
    }
    if (value instanceof Set) {
      const copy = keep(new Set())
      for (const entry of value) copy.add(cloneOne(entry, seen))
      return copy
    }
    if (value instanceof Error) {
      const copy = keep(new Error(value.message))
      copy.name = value.name
      return copy
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet)
      throw fail('DataCloneError', `${Object.prototype.toString.call(value)} could not be cloned.`)
    const copy: Record<string, unknown> = keep(
      Array.isArray(value) ? Object.assign([], { length: value.length }) : {},
    )
    for (const key of Object.keys(value))
      Object.defineProperty(copy, key, {
        value: cloneOne(Reflect.get(value, key), seen),
        writable: true,
        enumerable: true,
        configurable: true,
      })
    return copy
  }
  const transferred = (options: unknown): Map<unknown, unknown> => {
    const { transfer = [] } = Object(options) as { transfer?: Iterable<unknown> } // as the standard has it
    const moved = new Map<unknown, unknown>()
    for (const each of transfer) {
      if (!(each instanceof ArrayBuffer) || moved.has(each))
        throw fail('DataCloneError', 'Only array buffers can be transferred, each of them once.')
      moved.set(each, each.transfer())
    }
    return moved
  }
  define('structuredClone', (value: unknown, options?: unknown) => cloneOne(value, transferred(options)))
}
