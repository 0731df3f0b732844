import { Button } from '@mantine/core'
import { useWords } from '../i18n/language.tsx'
import { words } from './words.ts'

interface Pages {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  fetchNextPage(): Promise<unknown>
}

/** Below a list that comes in pages. */
export function LoadMore({ query }: { query: Pages }) {
  const t = useWords(words)
  if (!query.hasNextPage) return null
  return (
    <Button
      variant="default"
      mx="auto"
      loading={query.isFetchingNextPage}
      onClick={() => void query.fetchNextPage()}
    >
      {t('loadMore')}
    </Button>
  )
}
