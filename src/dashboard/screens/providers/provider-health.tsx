import { Badge, Group, Stack, Text } from '@mantine/core'
import { CircleCheck, CircleX, Hourglass } from 'lucide-react'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import type { Health } from './types.ts'
import { words } from './words.ts'

/** The last test, whether it asked to wait, and what failed within a day. */
export function ProviderHealth({ health }: { health: Health | undefined }) {
  const t = useWords(words)
  const format = useFormat()
  const { last_test: tested, failures = 0, rate_limited: limited = 0 } = health ?? {}
  const until = health?.limited_until ?? null
  return (
    <Stack gap={4}>
      <Group gap="xs">
        {tested == null ? (
          <Text size="sm" c="dimmed">
            {t('neverTested')}
          </Text>
        ) : (
          <Badge
            color={tested.ok ? 'green' : 'red'}
            leftSection={
              tested.ok ? <CircleCheck size={13} aria-hidden /> : <CircleX size={13} aria-hidden />
            }
          >
            {t(tested.ok ? 'lastTest' : 'lastTestFailed', {
              time: format.duration(tested.ms),
              ago: format.ago(tested.at),
            })}
          </Badge>
        )}
        {until !== null && (
          <Badge color="orange" leftSection={<Hourglass size={13} aria-hidden />}>
            {t('limitedUntil', { time: format.time(until) })}
          </Badge>
        )}
        <Text size="sm" {...(failures === 0 ? { c: 'dimmed' } : { fw: 600 })}>
          {t('errors24', { count: failures })}
          {limited > 0 && ` · ${t('rateLimited', { count: limited })}`}
        </Text>
      </Group>
      {health?.last_error != null && (
        <Text size="sm">
          {format.ago(health.last_error.at)}: <Untrusted text={health.last_error.message} most={300} />
        </Text>
      )}
    </Stack>
  )
}
