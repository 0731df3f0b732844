import { Button, Group, Select, TextInput } from '@mantine/core'
import { Activity } from 'lucide-react'
import { usePages } from '../../api/api.ts'
import type { Run } from '../../api/types.ts'
import { RunBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { LoadMore } from '../../components/load-more.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { words as common } from '../../components/words.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { StartRun } from './start-run.tsx'
import { words } from './words.ts'

const STATES = ['running', 'pending', 'completed', 'failed', 'cancelled'] as const

export function RunList() {
  const t = useWords(words)
  const c = useWords(common)
  const format = useFormat()
  const [status, setStatus] = useUrlState('status')
  const [agent, setAgent] = useUrlState('agent')
  const filters = new URLSearchParams({
    limit: '50',
    ...(status === '' ? {} : { status }),
    ...(agent === '' ? {} : { agent }),
  })
  const query = usePages<Run>('runs', `/api/runs?${filters}`)
  const isFiltered = status !== '' || agent !== ''
  return (
    <Page title={t('title')} intro={t('intro')} actions={<StartRun />}>
      <Group gap="sm" align="flex-end">
        <Select
          label={t('state')}
          placeholder={t('allStates')}
          clearable
          w={200}
          data={STATES.map(value => ({ value, label: c(value) }))}
          value={status === '' ? null : status}
          onChange={value => setStatus(value ?? '')}
        />
        <TextInput
          label={t('agent')}
          w={200}
          data-filter
          value={agent}
          onChange={event => setAgent(event.currentTarget.value, { replace: true })}
        />
      </Group>
      <DataRegion
        query={query}
        isEmpty={rows => rows.length === 0}
        empty={
          isFiltered ? (
            <Empty
              title={t('noneFiltered')}
              action={
                <Button
                  variant="default"
                  onClick={() => {
                    setStatus('')
                    setAgent('')
                  }}
                >
                  {t('clear')}
                </Button>
              }
            />
          ) : (
            <Empty icon={<Activity size={36} aria-hidden />} title={t('none')} action={<StartRun />}>
              {t('noneText')}
            </Empty>
          )
        }
      >
        {rows => (
          <DataTable
            label={t('title')}
            rows={rows}
            rowKey={run => run.id}
            href={run => routes.run(run.id)}
            columns={[
              {
                key: 'task',
                label: t('task'),
                phone: 'title',
                render: run => <Untrusted text={run.task} most={90} />,
              },
              { key: 'state', label: t('state'), render: run => <RunBadge run={run} /> },
              {
                key: 'agent',
                label: t('agent'),
                render: run => <Untrusted text={run.agent ?? '–'} most={40} />,
              },
              { key: 'started', label: t('started'), render: run => format.dateTime(run.created_at) },
              {
                key: 'duration',
                label: t('duration'),
                align: 'right',
                render: run =>
                  run.completed_at === null
                    ? '–'
                    : format.duration(Date.parse(run.completed_at) - Date.parse(run.created_at)),
              },
              {
                key: 'calls',
                label: t('calls'),
                align: 'right',
                phone: 'hide',
                render: run => format.number(run.calls),
              },
              {
                key: 'tokens',
                label: t('tokens'),
                align: 'right',
                phone: 'hide',
                render: run => format.number(run.tokens),
              },
              {
                key: 'cost',
                label: t('cost'),
                align: 'right',
                render: run => format.money(run.cost_usd, t('unknown')),
              },
            ]}
          />
        )}
      </DataRegion>
      <LoadMore query={query} />
    </Page>
  )
}
