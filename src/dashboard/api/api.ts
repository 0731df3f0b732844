import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createClient, ServerProblem } from '../../client.ts'
import type { Page } from './types.ts'

// How the page talks to its server. The session is a cookie that no script can read.

const client = createClient({ url: '' })

/** What a query is about. Events of a topic make its queries load again. */
const TOPICS = [
  ...(['approvals', 'runs', 'changes', 'audit', 'panels', 'pipelines', 'tools', 'rules', 'grants'] as const),
  ...(['models', 'mcp', 'usage', 'settings', 'session'] as const),
] as const

export type Topic = (typeof TOPICS)[number]

export const request = client.request

export function useGet<T>(
  topic: Topic,
  path: string,
  options: { enabled?: boolean; refetchMs?: number } = {},
): UseQueryResult<T> {
  const { enabled = true, refetchMs } = options
  return useQuery<T>({
    queryKey: [topic, path],
    queryFn: () => request<T>('GET', path),
    enabled,
    placeholderData: keepPreviousData,
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
  })
}

/** A list that comes in pages; `path` already has its `?`. */
export function usePages<T>(topic: Topic, path: string) {
  return useInfiniteQuery({
    queryKey: [topic, 'pages', path],
    queryFn: ({ pageParam }) =>
      request<Page<T>>('GET', pageParam === '' ? path : `${path}&cursor=${encodeURIComponent(pageParam)}`),
    initialPageParam: '',
    getNextPageParam: last => last.next ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    placeholderData: keepPreviousData,
  })
}

export interface ShownError {
  readonly detail: string
  readonly hint: string | null
  readonly code: string
  readonly status: number
  readonly retryable: boolean
  readonly requestId: string
  readonly errors: readonly { readonly pointer: string; readonly message: string }[]
}

/** Any failure of a request, as it is shown. */
export function toShownError(error: unknown): ShownError {
  if (error instanceof ServerProblem) {
    const { detail, hint, code, status, retryable, request_id, errors } = error.problem
    return { detail, hint, code, status, retryable, requestId: request_id, errors }
  }
  const detail = error instanceof Error ? error.message : String(error)
  return {
    detail,
    hint: null,
    code: 'offline',
    status: 0,
    retryable: true,
    requestId: '',
    errors: [],
  }
}
