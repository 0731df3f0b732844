import { SegmentedControl } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useWords } from '../i18n/language.tsx'
import { useUrlChoice } from '../routes.ts'
import { words } from './words.ts'

/** Which of two views is shown, and what chooses it. A phone has no room for a graph, so it has the list alone. */
export function useListOrGraph(): { isGraph: boolean; choice: ReactNode } {
  const t = useWords(words)
  const isWide = useMediaQuery('(min-width: 768px)', true, { getInitialValueInEffect: false })
  const [view, setView] = useUrlChoice('view', ['list', 'graph'], 'list')
  const choice = isWide && (
    <SegmentedControl
      size="xs"
      aria-label={t('view')}
      value={view}
      onChange={value => setView(value)}
      data={[
        { value: 'list', label: t('list') },
        { value: 'graph', label: t('graph') },
      ]}
    />
  )
  return { isGraph: isWide && view === 'graph', choice }
}
