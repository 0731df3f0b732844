import type { Realm } from './realm.ts'

/** URL and URLSearchParams; parsing is done by Node in the isolate's process. Runs inside the isolate, as text. */
export function installUrl(realm: Realm): void {
  const { ask, define } = realm
  type Parts = Record<string, string>

  const decode = (text: string): string => {
    try {
      return decodeURIComponent(text.replaceAll('+', ' '))
    } catch {
      // Percent signs that encode nothing stay as they are.
      return text
    }
  }
  const encode = (text: string): string =>
    encodeURIComponent(text.toWellFormed())
      .replaceAll('%20', '+')
      .replace(/[!'()~]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

  type Init = string | Iterable<readonly [string, string]> | Record<string, string> | undefined
  class URLSearchParams {
    #pairs: [string, string][] = []
    #changed: (() => void) | undefined
    constructor(init?: Init, changed?: () => void) {
      this.#changed = changed
      if (init === undefined || init === null) return
      if (typeof init === 'object') {
        const entries = Symbol.iterator in init ? init : Object.entries(init)
        for (const [name, value] of entries) this.#pairs.push([String(name), String(value)])
        return
      }
      for (const part of String(init).replace(/^\?/, '').split('&')) {
        if (part === '') continue
        const [name = '', ...rest] = part.split('=')
        this.#pairs.push([decode(name), decode(rest.join('='))])
      }
    }
    get size(): number {
      return this.#pairs.length
    }
    append(name: string, value: string): void {
      this.#pairs.push([String(name), String(value)])
      this.#changed?.()
    }
    delete(name: string): void {
      this.#pairs = this.#pairs.filter(([key]) => key !== String(name))
      this.#changed?.()
    }
    get(name: string): string | null {
      return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null
    }
    getAll(name: string): string[] {
      return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value)
    }
    has(name: string): boolean {
      return this.#pairs.some(([key]) => key === String(name))
    }
    set(name: string, value: string): void {
      const index = this.#pairs.findIndex(([key]) => key === String(name))
      const rest = this.#pairs.filter(([key], at) => key !== String(name) || at === index)
      if (index === -1) rest.push([String(name), String(value)])
      else rest[index] = [String(name), String(value)]
      this.#pairs = rest
      this.#changed?.()
    }
    sort(): void {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      this.#changed?.()
    }
    forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void {
      for (const [name, value] of this.#pairs) callback(value, name, this)
    }
    entries(): Iterable<[string, string]> {
      return this.#pairs.map(([name, value]): [string, string] => [name, value]).values()
    }
    keys(): Iterable<string> {
      return this.#pairs.map(([name]) => name).values()
    }
    values(): Iterable<string> {
      return this.#pairs.map(([, value]) => value).values()
    }
    [Symbol.iterator](): Iterator<[string, string]> {
      return this.#pairs.map(([name, value]): [string, string] => [name, value]).values()
    }
    toString(): string {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
    }
  }
  define('URLSearchParams', URLSearchParams)

  const parse = (url: unknown, base?: unknown): Parts | null =>
    ask('url', { url: String(url), ...(base === undefined ? {} : { base: String(base) }) }) as Parts | null // Node's answer

  class URL {
    #parts: Parts
    #params: URLSearchParams | undefined
    constructor(url: unknown, base?: unknown) {
      const parts = parse(url, base)
      if (parts === null) throw new TypeError('Invalid URL')
      this.#parts = parts
    }
    static canParse(url: unknown, base?: unknown): boolean {
      return parse(url, base) !== null
    }
    static parse(url: unknown, base?: unknown): URL | null {
      return URL.canParse(url, base) ? new URL(url, base) : null
    }
    get searchParams(): URLSearchParams {
      this.#params ??= new URLSearchParams(this.#parts.search, () =>
        this.#set('search', String(this.#params)),
      )
      return this.#params
    }
    #set(name: string, value: string): void {
      const parts = ask('url', { url: this.#parts.href, set: name, value }) as Parts | null // Node's answer
      if (parts === null) throw new TypeError('Invalid URL')
      this.#parts = parts
    }
    static {
      const names = [
        'href',
        'protocol',
        'username',
        'password',
        'host',
        'hostname',
        'port',
        'pathname',
        'search',
        'hash',
      ]
      for (const name of names)
        Object.defineProperty(URL.prototype, name, {
          get(this: URL) {
            return this.#parts[name]
          },
          set(this: URL, value: unknown) {
            this.#set(name, String(value))
            this.#params = undefined
          },
          enumerable: true,
          configurable: true,
        })
      Object.defineProperty(URL.prototype, 'origin', {
        get(this: URL) {
          return this.#parts.origin
        },
        enumerable: true,
        configurable: true,
      })
    }
    toString(): string {
      return this.#parts.href ?? ''
    }
    toJSON(): string {
      return this.#parts.href ?? ''
    }
  }
  define('URL', URL)
}
