import { Alert, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { useGet } from '../../api/api.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words } from './history/words.ts'
import type { Effective } from './types.ts'

/** A file that cannot be read is named with its line: its rules are not silently gone. */
export function ConfigProblem() {
  const t = useWords(words)
  const { data } = useGet<Effective>('settings', '/api/config')
  if (data === undefined || data.problem === null) return null
  return (
    <Alert
      color="red"
      role="alert"
      icon={<TriangleAlert size={18} aria-hidden />}
      title={t('configProblem')}
      mb="md"
    >
      <Text size="sm" ff="monospace">
        <Untrusted text={data.problem} most={2_000} />
      </Text>
      <Text size="sm">{t('configProblemText')}</Text>
    </Alert>
  )
}
