import { Alert, Button, Stack, Text } from '@mantine/core'
import { Eye } from 'lucide-react'
import { request, type Topic } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

export interface TrustNoticeProps {
  /** Of the panel or the pipeline. */
  readonly path: string
  readonly hash: string
  /** What is trusted with it. */
  readonly inside?: readonly string[]
  readonly topics: readonly Topic[]
}

/** A file that nobody has looked at may have come with the project: what it says is read before it may run. */
export function TrustNotice({ path, hash, inside = [], topics }: TrustNoticeProps) {
  const t = useWords(words)
  const trust = useAction(() => request('POST', `${path}/trust`, { hash }), { topics })
  return (
    <Alert color="yellow" icon={<Eye size={18} aria-hidden />} title={t('untrusted')}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{t('untrustedText')}</Text>
        {inside.length > 0 && <Text size="sm">{t('trustsInside', { names: inside.join(', ') })}</Text>}
        <Button size="compact-sm" variant="default" loading={trust.isPending} onClick={() => trust.mutate()}>
          {t('trust')}
        </Button>
      </Stack>
    </Alert>
  )
}
