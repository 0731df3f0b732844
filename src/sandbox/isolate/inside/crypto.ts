import type { Realm } from './realm.ts'

/** Web Crypto; the work is done by Node in the isolate's process, keys stay there. Runs inside the isolate, as text. */
export function installCrypto(realm: Realm): void {
  const { ask, define, fail, request } = realm
  const isView = ArrayBuffer.isView

  const toHex = (bytes: Uint8Array): string =>
    Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  const fromHex = (text: string): Uint8Array =>
    Uint8Array.from({ length: text.length / 2 }, (_, index) =>
      Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
    )

  class CryptoKey {
    readonly #number: number
    readonly type: string
    readonly extractable: boolean
    readonly algorithm: unknown
    readonly usages: readonly string[]
    constructor(key: {
      key: number
      type: string
      extractable: boolean
      algorithm: unknown
      usages: string[]
    }) {
      this.#number = key.key
      this.type = key.type
      this.extractable = key.extractable
      this.algorithm = key.algorithm
      this.usages = key.usages
    }
    static number(key: CryptoKey): number {
      return key.#number
    }
  }
  const numberOf = CryptoKey.number
  Reflect.deleteProperty(CryptoKey, 'number')
  define('CryptoKey', CryptoKey)

  const pack = (value: unknown): unknown => {
    if (value instanceof CryptoKey) return { key: numberOf(value) }
    if (value instanceof ArrayBuffer) return { bytes: toHex(new Uint8Array(value)) }
    if (isView(value))
      return { bytes: toHex(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) }
    if (Array.isArray(value)) return { list: value.map(pack) }
    if (typeof value === 'object' && value !== null)
      return { fields: Object.fromEntries(Object.entries(value).map(([name, field]) => [name, pack(field)])) }
    return { value }
  }
  type Packed = {
    key?: never
    bytes?: string
    list?: Packed[]
    fields?: Record<string, Packed>
    value?: unknown
  }
  const unpack = (packed: Packed): unknown => {
    if (packed.key !== undefined) return new CryptoKey(packed.key)
    if (packed.bytes !== undefined) return fromHex(packed.bytes).buffer
    if (packed.list !== undefined) return packed.list.map(unpack)
    if (packed.fields !== undefined)
      return Object.fromEntries(Object.entries(packed.fields).map(([name, field]) => [name, unpack(field)]))
    return packed.value
  }
  const METHODS = [
    'digest',
    'encrypt',
    'decrypt',
    'sign',
    'verify',
    'generateKey',
    'importKey',
    'exportKey',
    'deriveBits',
  ]
  const methods = [...METHODS, 'deriveKey', 'wrapKey', 'unwrapKey'].map(name => [
    name,
    async (...values: unknown[]) =>
      unpack((await request('crypto', { name, values: values.map(pack) })) as Packed), // packed by the process
  ])
  define(
    'crypto',
    Object.freeze({
      subtle: Object.freeze(Object.fromEntries(methods)),
      randomUUID: () => ask('uuid', null),
      getRandomValues(target: unknown) {
        if (!isView(target) || target instanceof DataView)
          throw new TypeError('The target must be a typed array of integers.')
        if (target.byteLength > 65_536)
          throw fail('QuotaExceededError', 'More than 65536 bytes were asked for.')
        const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
        bytes.set(fromHex(String(ask('random', bytes.length))))
        return target
      },
    }),
  )
}
