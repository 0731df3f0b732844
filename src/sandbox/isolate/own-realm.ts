import { randomBytes, randomUUID, webcrypto } from 'node:crypto'

// What an isolate's process answers by itself, without Kogu: standard functions that a bare V8 context does not have.
// It gets strings and numbers from the code and parses them as data.

type Value = Record<string, unknown>

/** The operations that are answered at once. */
export function answerOwn(operation: string, value: unknown): unknown {
  switch (operation) {
    case 'url':
      return parseUrl(value as Value) // made by inside/url.ts; every field is checked when it is used
    case 'uuid':
      return randomUUID()
    case 'random':
      return randomBytes(Math.min(65_536, Number(value))).toString('hex')
    case 'encoding':
      return new TextDecoder(String(value)).encoding
    case 'decode':
      return decodeText(value as Value) // as above
    default:
      throw new TypeError(`unknown operation ${operation}`)
  }
}

const URL_PARTS = [
  ...(['href', 'origin', 'protocol', 'username', 'password', 'host'] as const),
  ...(['hostname', 'port', 'pathname', 'search', 'hash'] as const),
]

function parseUrl({ url, base, set, value }: Value): Record<string, string> | null {
  const parsed = URL.parse(String(url), base === undefined ? undefined : String(base))
  if (parsed === null) return null
  if (URL_PARTS.includes(set as 'href') && set !== 'origin') Reflect.set(parsed, String(set), String(value))
  return Object.fromEntries(URL_PARTS.map(part => [part, parsed[part]]))
}

function decodeText({ bytes, encoding, fatal, ignoreBOM }: Value): string {
  const decoder = new TextDecoder(String(encoding), { fatal: fatal === true, ignoreBOM: ignoreBOM === true })
  return decoder.decode(Buffer.from(String(bytes), 'hex'))
}

type Packed = {
  key?: unknown
  bytes?: string
  list?: readonly Packed[]
  fields?: Readonly<Record<string, Packed>>
  value?: unknown
}

const METHODS = new Set([
  ...[
    'digest',
    'encrypt',
    'decrypt',
    'sign',
    'verify',
    'generateKey',
    'importKey',
    'exportKey',
    'deriveBits',
  ],
  ...['deriveKey', 'wrapKey', 'unwrapKey'],
])
const MOST_KEYS = 1_000

/** Web Crypto for one call: the keys that it makes end with it. */
export function createCrypto(): (value: unknown) => Promise<unknown> {
  const keys: webcrypto.CryptoKey[] = []
  const unpack = (packed: Packed): unknown => {
    if (packed.key !== undefined) return keys[Number(packed.key)]
    if (packed.bytes !== undefined) return Buffer.from(packed.bytes, 'hex')
    if (packed.list !== undefined) return packed.list.map(unpack)
    if (packed.fields !== undefined)
      return Object.fromEntries(Object.entries(packed.fields).map(([name, field]) => [name, unpack(field)]))
    return packed.value
  }
  const pack = (value: unknown): Packed => {
    if (value instanceof CryptoKey) {
      if (keys.length >= MOST_KEYS) throw new RangeError(`More than ${MOST_KEYS} keys were made.`)
      const { type, extractable, algorithm, usages } = value
      return { key: { key: keys.push(value) - 1, type, extractable, algorithm, usages } }
    }
    if (value instanceof ArrayBuffer) return { bytes: Buffer.from(value).toString('hex') }
    if (Array.isArray(value)) return { list: value.map(pack) }
    if (typeof value === 'object' && value !== null)
      return { fields: Object.fromEntries(Object.entries(value).map(([name, field]) => [name, pack(field)])) }
    return { value }
  }
  return async value => {
    const { name, values } = value as { name: string; values: Packed[] } // made by inside/crypto.ts
    if (!METHODS.has(name)) throw new TypeError(`crypto.subtle.${name} is not a function`)
    const { subtle } = webcrypto
    const method = Reflect.get(subtle, name) as (...values: unknown[]) => Promise<unknown> // one of METHODS
    return pack(await method.apply(subtle, values.map(unpack)))
  }
}
