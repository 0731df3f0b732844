import { Anchor, Badge, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import type { Decision } from '../../../core/decision.ts'
import { request, useGet } from '../../api/api.ts'
import type { AuditItem } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { usePlace } from '../../components/use-short-path.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes } from '../../routes.ts'
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
        const asked = events.find(({ type }) => type === 'approval-requested')
        return (
          <Stack>
            <Group gap="xs">
              <Title order={2}>
                <Untrusted text={finished?.tool ?? started?.tool ?? call} most={80} />
              </Title>
              {finished?.decision !== undefined && <OutcomeBadge outcome={finished.decision.outcome} />}
              {started?.run !== undefined && /^[0-9a-f]{8}-/.test(started.run) && (
                // A sub-agent has the id of its run with something after a dot.
                <Anchor component={Link} href={routes.run(started.run.split('.', 1).join())} size="sm">
                  {t('openRun')}
                </Anchor>
              )}
            </Group>
            {finished?.decision !== undefined && <Trace decision={finished.decision} />}
            {asked?.digest !== undefined && (
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {t('digest')} {asked.digest}
              </Text>
            )}
            {started !== undefined && <Again started={started} />}
            {events.map(event => (
              <Stack key={`${event.segment} ${event.seq}`} gap={4}>
                <Group gap="xs">
                  <Badge color="gray">{event.type}</Badge>
                  <Text size="sm" c="dimmed">
                    {format.dateTime(event.at)} · #{event.seq} · {t('hash')} {event.hash.slice(0, 12)} ·{' '}
                    {t('prev')} {event.prev.slice(0, 12)}
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

/** What decided, in which line of which file, and what else matched and did not count. */
function Trace({ decision: { by, ref, reason, user, also = [] } }: { decision: Decision }) {
  const t = useWords(words)
  const place = usePlace()
  return (
    <div>
      <Text size="sm">
        <Untrusted text={user ?? t(by === 'user' ? 'by' : `by_${by}`, { id: ref?.id ?? '' })} most={120} />
        {ref !== null && (
          <Text span size="xs" c="dimmed">
            {' '}
            <Untrusted text={place(ref)} most={160} />
          </Text>
        )}
      </Text>
      <Text size="sm">
        <Untrusted text={reason} most={600} />
      </Text>
      {also.length > 0 && (
        <Text size="sm" c="dimmed">
          {t('alsoMatched')}:{' '}
          <Untrusted
            text={also.map(({ id, outcome, why }) => `${id} (${outcome}, ${why})`).join(', ')}
            most={600}
          />
        </Text>
      )}
    </div>
  )
}

/** A change that is no call: a rule, a grant, trust, a sign-in. Of a file, its difference. By its place, loaded or not. */
export function NoteRecord({ place }: { place: string }) {
  const t = useWords(words)
  const format = useFormat()
  const [segment = '', seq = ''] = place.split(' ')
  const query = useGet<AuditItem>('audit', `/api/audit/events/${inAddress(segment)}/${inAddress(seq)}`)
  return (
    <DataRegion query={query}>
      {note => (
        <Stack>
          <Title order={3}>
            <Untrusted text={note.action ?? note.type} most={80} />
          </Title>
          <Text size="sm" c="dimmed">
            {format.dateTime(note.at)} · #{note.seq} · {t('hash')} {note.hash.slice(0, 12)} · {t('prev')}{' '}
            {note.prev.slice(0, 12)}
          </Text>
          {typeof note.details?.diff === 'string' && <DiffView diff={note.details.diff} />}
          <UntrustedBlock text={JSON.stringify(note, null, 2)} lines={24} label={t('record')} />
        </Stack>
      )}
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
