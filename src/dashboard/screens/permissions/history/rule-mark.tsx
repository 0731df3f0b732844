import { Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { Untrusted } from '../../../components/untrusted.tsx'
import { useFormat } from '../../../i18n/format.ts'
import { useWords } from '../../../i18n/language.tsx'
import type { RuleHistory } from '../types.ts'
import { words } from './words.ts'

/** Of a rule that no recorded call has met. */
export const NEVER: RuleHistory = { hits: 0, last: null, overruled: 0, overruled_by: null }

/** A rule that decides nothing, or that others mostly decide for: what the past says, beside what lint can prove. */
export function RuleMark({ history }: { history: RuleHistory | undefined }) {
  const t = useWords(words)
  const format = useFormat()
  if (history === undefined) return null
  const { hits, overruled, overruled_by } = history
  if (hits > 0 && overruled === 0) return null
  const text =
    overruled === 0
      ? t('neverHit')
      : t('overruled', {
          ...{ by: overruled_by ?? '', share: format.percent(overruled / (hits + overruled)) },
          count: hits + overruled,
        })
  return (
    <Text size="xs" c="dimmed" mt={2}>
      <TriangleAlert size={13} aria-hidden style={{ verticalAlign: 'text-bottom' }} />{' '}
      <Untrusted text={text} most={300} />
    </Text>
  )
}
