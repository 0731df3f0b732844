import type { WebClientOptions } from './web-client.ts'
import type { WebParts } from './web-fetch.ts'

/** One client and one cache for all calls, made when the first one needs them. */
export function createWebParts(options: WebClientOptions = {}): WebParts {
  let client: ReturnType<WebParts['client']> | undefined
  let cache: ReturnType<WebParts['cache']> | undefined
  return {
    client() {
      client ??= import('./web-client.ts').then(({ createWebClient }) => createWebClient(options))
      return client
    },
    cache() {
      cache ??= import('./page-cache.ts').then(({ createPageCache }) =>
        createPageCache(options.now ?? Date.now),
      )
      return cache
    },
  }
}
