export interface Model {
  readonly id: string
  readonly name: string
  readonly context: number | null
  readonly max_output: number | null
  readonly tools: boolean
  readonly images: boolean
  readonly temperature: boolean
  readonly price: Readonly<Record<'input' | 'cached' | 'cacheWrite' | 'output', number>> | null
  readonly price_source: 'configuration' | 'built-in' | 'unknown'
}

export interface Provider {
  readonly name: string
  readonly kind: string
  readonly base_url: string | null
  readonly key_place: string | null
  readonly has_key: boolean
  readonly is_default: boolean
  readonly models: readonly Model[]
}

/** What `GET /api/models` answers. */
export interface Models {
  readonly default: string | null
  readonly prices_of: string
  readonly providers: readonly Provider[]
}

export interface Tested {
  readonly ok: boolean
  readonly model: string
  readonly ms: number
  readonly tokens: number | null
  readonly cost_usd: number | null
  readonly error: { readonly message: string; readonly hint: string | null } | null
}

/** Of `GET /api/models/health`. */
export interface Health {
  readonly provider: string
  readonly last_test: (Tested & { readonly at: string }) | null
  readonly failures: number
  readonly rate_limited: number
  readonly last_error: { readonly at: string; readonly message: string } | null
  readonly limited_until: string | null
}
