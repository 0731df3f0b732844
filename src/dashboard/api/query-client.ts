import { QueryClient } from '@tanstack/react-query'
import { toShownError } from './api.ts'

const TRIES = 2

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // Events say when something has changed; this is for what no event is about.
        staleTime: 15_000,
        // What was refused will be refused again.
        retry: (count, error) => count < TRIES && toShownError(error).retryable,
        retryDelay: count => 300 * 2 ** count,
      },
    },
  })
}
