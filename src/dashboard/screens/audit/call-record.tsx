import { Anchor, Badge, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import type { AuditItem } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { words } from './words.ts'

interface Explained {
  readonly decision?: 'allow' | 'ask' | 'deny'
  readonly reasons?: readonly string[]
}

/** Everything that was recorded about one call, in order, with what would be decided about it now. */
export function CallRecordView({ call }: { call: string }) {
  const t = useWords(words)
  const format = useFormat()
  const query = useGet<AuditItem[]>('audit', `/api/audit/${encodeURIComponent(call)}`)
  return (
    <DataRegion query={query}>
      {events => {
        const finished = events.find(({ type }) => type === 'call-finished')
        const started = events.find(({ type }) => type === 'call-started')
        return (
          <Stack>
            <Group gap="xs">
              <Title order={2}>
                <Untrusted text={finished?.tool ?? started?.tool ?? call} most={80} />
              </Title>
              {finished?.decision !== undefined && <OutcomeBadge outcome={finished.decision.outcome} />}
              {started?.run !== undefined && /^[0-9a-f]{8}-/.test(started.run) && (
                <Anchor component={Link} href={routes.run(started.run)} size="sm">
                  {t('openRun')}
                </Anchor>
              )}
            </Group>
            {finished?.decision !== undefined && (
              <Text size="sm">
                <Untrusted text={finished.decision.reason} most={600} />
              </Text>
            )}
            {started !== undefined && <Again started={started} />}
            {events.map(event => (
              <Stack key={`${event.segment} ${event.seq}`} gap={4}>
                <Group gap="xs">
                  <Badge color="gray">{event.type}</Badge>
                  <Text size="sm" c="dimmed">
                    {format.dateTime(event.at)} · #{event.seq} · {t('hash')} {event.hash.slice(0, 12)}
                  </Text>
                </Group>
                <UntrustedBlock text={JSON.stringify(event, null, 2)} lines={24} label={t('record')} />
              </Stack>
            ))}
          </Stack>
        )
      }}
    </DataRegion>
  )
}

/** The rules of today on the call of then. Runs nothing. */
function Again({ started }: { started: AuditItem }) {
  const t = useWords(words)
  const again = useAction(
    () => request<Explained>('POST', '/api/rules/test', { tool: started.tool, input: started.input ?? {} }),
    { topics: [] },
  )
  const outcome = again.data?.decision
  return (
    <Group gap="xs">
      <Anchor component="button" type="button" size="sm" onClick={() => again.mutate()}>
        {t('again')}
      </Anchor>
      {outcome !== undefined && (
        <>
          <OutcomeBadge outcome={outcome} />
          <Text size="sm">
            <Untrusted text={again.data?.reasons?.[0] ?? ''} most={300} />
          </Text>
        </>
      )}
    </Group>
  )
}
