import { Drawer, Group, SegmentedControl, Text } from '@mantine/core'
import type { Decision } from '../../../core/decision.ts'
import { useGet } from '../../api/api.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlChoice, useUrlState } from '../../routes.ts'
import { CallDetails, describeDecision } from './call-details.tsx'
import { CallBadge, oneLine } from './transcript.tsx'
import { words } from './words.ts'

export interface RunCall {
  readonly id: string
  readonly tool: string
  readonly args: unknown
  readonly state: 'waiting' | 'ok' | 'error' | 'denied' | 'unknown'
  readonly decision: Decision | null
  readonly error: { readonly code: string } | null
  readonly run_ms: number
  readonly at: string
}

export function useRunCalls(run: string) {
  return useGet<{ items: RunCall[] }>('runs', `${callsPath(run)}?limit=1000`)
}

const SHOWN = ['', 'error', 'denied', 'waiting'] as const
const STATE_WORDS = { error: 'callError', denied: 'callDenied', waiting: 'callWaiting' } as const

export function Calls({ run }: { run: string }) {
  const t = useWords(words)
  const format = useFormat()
  const query = useRunCalls(run)
  const [show, setShow] = useUrlChoice('show', SHOWN, '')
  const isShown = ({ state }: RunCall): boolean => show === '' || state === show
  return (
    <>
      <DataRegion
        query={query}
        isEmpty={({ items }) => items.length === 0}
        empty={<Empty title={t('noEvents')} />}
      >
        {({ items }) => (
          <>
            <SegmentedControl
              mb="sm"
              aria-label={t('state')}
              value={show}
              onChange={value => setShow(value)}
              data={[
                { value: '', label: `${t('allStates')} (${items.length})` },
                ...SHOWN.filter(value => value !== '').map(value => ({
                  value,
                  label: `${t(STATE_WORDS[value])} (${items.filter(({ state }) => state === value).length})`,
                })),
              ]}
            />
            <DataTable
              label={t('calls')}
              rows={items.filter(isShown)}
              rowKey={({ id }) => id}
              href={({ id }) => routes.run(run, { tab: 'calls', call: id, show })}
              columns={[
                {
                  key: 'tool',
                  label: t('tool'),
                  phone: 'title',
                  render: each => <Untrusted text={each.tool} most={40} />,
                },
                { key: 'state', label: t('state'), render: each => <CallBadge state={each.state} /> },
                {
                  key: 'input',
                  label: t('input'),
                  render: each => <Untrusted text={oneLine(each.args)} most={80} />,
                },
                {
                  key: 'decision',
                  label: t('decision'),
                  phone: 'hide',
                  render: each =>
                    each.decision === null ? (
                      '–'
                    ) : (
                      <Untrusted text={describeDecision(each.decision)} most={60} />
                    ),
                },
                {
                  key: 'ms',
                  label: t('duration'),
                  align: 'right',
                  render: each => format.duration(each.run_ms),
                },
              ]}
            />
          </>
        )}
      </DataRegion>
      <CallDrawer run={run} />
    </>
  )
}

/** The call that the address names, over whatever lists it. */
export function CallDrawer({ run }: { run: string }) {
  const t = useWords(words)
  const format = useFormat()
  const [chosen, choose] = useUrlState('call')
  const query = useGet<RunCall>('runs', `${callsPath(run)}/${encodeURIComponent(chosen)}`, {
    enabled: chosen !== '',
  })
  const { data: call } = query
  return (
    <Drawer
      opened={chosen !== ''}
      onClose={() => choose('')}
      size="lg"
      title={call === undefined ? '' : <Untrusted text={call.tool} />}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {chosen !== '' && (
        <DataRegion query={query}>
          {found => (
            <>
              <Group gap="xs">
                <CallBadge state={found.state} />
                <Text size="sm" c="dimmed">
                  {t('ran', { time: format.duration(found.run_ms) })} · {format.dateTime(found.at)}
                </Text>
              </Group>
              <CallDetails
                run={run}
                call={found.id}
                tool={found.tool}
                input={found.args}
                isDone
                decision={found.decision ?? undefined}
                error={null}
              />
            </>
          )}
        </DataRegion>
      )}
    </Drawer>
  )
}

function callsPath(run: string): string {
  return `/api/runs/${encodeURIComponent(run)}/calls`
}
