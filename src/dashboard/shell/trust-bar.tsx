import { Alert, Anchor, Group } from '@mantine/core'
import { ShieldAlert } from 'lucide-react'
import { Link } from 'wouter'
import { useGet } from '../api/api.ts'
import { useWords } from '../i18n/language.tsx'
import { routes } from '../routes.ts'
import { words } from './words.ts'

/** On every screen, as long as what the project's files say does not hold: one would wonder why it does not. */
export function TrustBar() {
  const t = useWords(words)
  const { data } = useGet<{ status: string }>('settings', '/api/trust')
  if (data?.status !== 'untrusted' && data?.status !== 'changed') return null
  return (
    <Alert color="orange" py={6} mb="sm" icon={<ShieldAlert size={16} aria-hidden />}>
      <Group gap="xs">
        {t(data.status === 'changed' ? 'projectChanged' : 'projectUntrusted')}
        <Anchor component={Link} href={routes.settings({ section: 'trust' })} size="sm">
          {t('projectReview')}
        </Anchor>
      </Group>
    </Alert>
  )
}
