import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { toShownError } from './api.ts'

const TRIES = 2

export function createQueryClient(): QueryClient {
  // Whoever is refused for want of a session finds out at once that it is over, and not with the next look at the window.
  const lookAtSession = (error: Error): void => {
    if (toShownError(error).status === 401) void client.invalidateQueries({ queryKey: ['session'] })
  }
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => (queryKey[0] === 'session' ? undefined : lookAtSession(error)),
    }),
    mutationCache: new MutationCache({ onError: lookAtSession }),
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
  return client
}
