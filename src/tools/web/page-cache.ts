import type { WebResponse } from './web-client.ts'

const KEPT_MS = 15 * 60_000
const MOST_BYTES = 32 * 1024 * 1024
const MOST_PAGES = 200

export interface PageCache {
  get(url: string): WebResponse | undefined
  set(url: string, response: WebResponse): void
}

/** Pages of the last 15 minutes, so that paging through one does not fetch it again. The oldest go first. */
export function createPageCache(now: () => number): PageCache {
  const pages = new Map<string, { response: WebResponse; until: number }>()
  let bytes = 0
  const drop = (url: string): void => {
    bytes -= pages.get(url)?.response.body.length ?? 0
    pages.delete(url)
  }
  return {
    get(url) {
      const found = pages.get(url)
      if (found !== undefined && now() < found.until) return found.response
      drop(url)
      return undefined
    },
    set(url, response) {
      drop(url)
      pages.set(url, { response, until: now() + KEPT_MS })
      bytes += response.body.length
      for (const oldest of pages.keys()) {
        if (bytes <= MOST_BYTES && pages.size <= MOST_PAGES) break
        drop(oldest)
      }
    },
  }
}
