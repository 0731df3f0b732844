/** One way to search the web. */
export interface SearchEngine {
  readonly name: EngineName
  /** What to ask for. The answer is JSON. */
  request(query: string, count: number): { url: string; headers: Readonly<Record<string, string>> }
  /** Undefined when the answer is not what this engine answers with. */
  read(answer: unknown, count: number): SearchAnswer | undefined
}

export type EngineName = 'brave' | 'duckduckgo' | 'searxng'

export interface SearchAnswer {
  readonly results: readonly SearchResult[]
  /** Where the engine knows the answer itself. */
  readonly answer?: { readonly abstract?: string; readonly answer?: string; readonly definition?: string }
}

export interface SearchResult {
  readonly title: string
  readonly url: string
  readonly description: string
}
