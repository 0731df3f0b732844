import type { Realm } from './realm.ts'

/** fetch and its classes, and `kogu`: all of them are requests to the host. Runs inside the isolate, as text. */
export function installFetch(realm: Realm): void {
  const { define, request } = realm

  type HeadersInit = Headers | Iterable<readonly [string, string]> | Record<string, string> | undefined
  class Headers {
    readonly #values = new Map<string, string>()
    constructor(init?: HeadersInit) {
      if (init === undefined || init === null) return
      const entries = Symbol.iterator in init ? init : Object.entries(init)
      for (const [name, value] of entries) this.append(name, value)
    }
    append(name: string, value: string): void {
      const held = this.get(name)
      this.set(name, held === null ? value : `${held}, ${value}`)
    }
    delete(name: string): void {
      this.#values.delete(String(name).toLowerCase())
    }
    get(name: string): string | null {
      return this.#values.get(String(name).toLowerCase()) ?? null
    }
    has(name: string): boolean {
      return this.#values.has(String(name).toLowerCase())
    }
    set(name: string, value: string): void {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(String(name)))
        throw new TypeError(`Invalid header name: ${name}`)
      if (/[\0\r\n]/.test(String(value))) throw new TypeError(`Invalid value of the header ${name}`)
      this.#values.set(String(name).toLowerCase(), String(value).trim())
    }
    forEach(callback: (value: string, name: string) => void): void {
      for (const [name, value] of this) callback(value, name)
    }
    entries(): Iterator<[string, string]> {
      return this[Symbol.iterator]()
    }
    keys(): Iterable<string> {
      return [...this.#values.keys()].sort().values()
    }
    values(): Iterable<string> {
      return [...this].map(([, value]) => value).values()
    }
    [Symbol.iterator](): Iterator<[string, string]> {
      return [...this.#values.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).values()
    }
  }
  define('Headers', Headers)

  const textOf = (body: unknown): string => {
    if (typeof body === 'string') return body
    if (body instanceof ArrayBuffer) return new TextDecoder().decode(body)
    if (ArrayBuffer.isView(body))
      return new TextDecoder().decode(new Uint8Array(body.buffer, body.byteOffset, body.byteLength))
    return String(body)
  }
  class Body {
    #text: string | null
    bodyUsed = false
    readonly headers: Headers
    constructor(body: unknown, headers: HeadersInit) {
      this.#text = body === undefined || body === null ? null : textOf(body)
      this.headers = new Headers(headers)
      const isForm = body instanceof URLSearchParams
      if (this.#text !== null && !this.headers.has('content-type'))
        this.headers.set(
          'content-type',
          isForm ? 'application/x-www-form-urlencoded;charset=UTF-8' : 'text/plain;charset=UTF-8',
        )
    }
    async text(): Promise<string> {
      if (this.bodyUsed) throw new TypeError('The body was read already.')
      this.bodyUsed = true
      return this.#text ?? ''
    }
    async json(): Promise<unknown> {
      return JSON.parse(await this.text())
    }
    async bytes(): Promise<Uint8Array> {
      return new TextEncoder().encode(await this.text())
    }
    async arrayBuffer(): Promise<unknown> {
      return (await this.bytes()).buffer
    }
    protected copyOf(): string | null {
      return this.#text
    }
  }

  interface ResponseInit {
    status?: number
    statusText?: string
    headers?: HeadersInit
    url?: string
    redirected?: boolean
  }
  class Response extends Body {
    readonly status: number
    readonly statusText: string
    readonly url: string
    readonly redirected: boolean
    constructor(body?: unknown, init: ResponseInit = {}) {
      super(body, init.headers)
      this.status = init.status ?? 200
      this.statusText = init.statusText ?? ''
      this.url = init.url ?? ''
      this.redirected = init.redirected ?? false
    }
    get ok(): boolean {
      return this.status >= 200 && this.status < 300
    }
    clone(): Response {
      if (this.bodyUsed) throw new TypeError('The body was read already.')
      return new Response(this.copyOf(), this)
    }
    static json(value: unknown, init: ResponseInit = {}): Response {
      const headers = new Headers(init.headers)
      headers.set('content-type', 'application/json')
      return new Response(JSON.stringify(value), { ...init, headers })
    }
  }
  define('Response', Response)

  interface RequestInit {
    method?: string
    headers?: HeadersInit
    body?: unknown
    signal?: AbortSignal
    redirect?: string
  }
  class Request extends Body {
    readonly url: string
    readonly method: string
    readonly signal: AbortSignal | undefined
    readonly redirect: string
    constructor(input: unknown, init: RequestInit = {}) {
      const from = input instanceof Request ? input : undefined
      super(init.body ?? from?.copyOf(), init.headers ?? from?.headers)
      this.url = from?.url ?? new URL(String(input)).href
      this.method = String(init.method ?? from?.method ?? 'GET').toUpperCase()
      this.signal = init.signal ?? from?.signal
      this.redirect = init.redirect ?? from?.redirect ?? 'follow'
      if (this.copyOf() !== null && (this.method === 'GET' || this.method === 'HEAD'))
        throw new TypeError(`A request with the method ${this.method} cannot have a body.`)
    }
    get sent(): string | null {
      return this.copyOf()
    }
  }
  define('Request', Request)

  define('fetch', async (input: unknown, init?: RequestInit): Promise<Response> => {
    const wanted = new Request(input, init)
    const { signal, url, method, redirect, sent } = wanted
    signal?.throwIfAborted()
    const answer = request('fetch', { url, method, headers: [...wanted.headers], body: sent, redirect })
    const stopped = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    const response = (await Promise.race([answer, stopped])) as ResponseInit & { body: string } // made by the host
    return new Response(response.body, response)
  })

  define(
    'kogu',
    Object.freeze({
      callTool: (name: unknown, values: unknown = {}) =>
        request('tool', { name: String(name), input: values }),
      readFile: (path: unknown) => request('read', { path: String(path) }),
    }),
  )
}
