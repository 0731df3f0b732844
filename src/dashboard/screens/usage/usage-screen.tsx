import { Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { CircleDollarSign } from 'lucide-react'
import { useGet } from '../../api/api.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { downloadText, toCsv } from '../../components/download.ts'
import { Page } from '../../components/page.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { AgreementChart } from './agreement.tsx'
import { Budgets } from './budgets.tsx'
import { DayCharts } from './day-charts.tsx'
import { toSpan } from './span.ts'
import { Tiles } from './tiles.tsx'
import { ToolTable } from './tool-table.tsx'
import type { Agreement, DaySums, Summary, ToolUse } from './types.ts'
import { words } from './words.ts'

const RANGES = ['today', 'days7', 'days30', 'days365', 'custom'] as const
const GROUPS = ['model', 'provider', 'panel', 'pipeline', 'agent'] as const

export default function UsageScreen() {
  const t = useWords(words)
  const [range, setRange] = useUrlState('range', 'days7')
  const [by, setBy] = useUrlState('by', 'model')
  const [from, setFrom] = useUrlState('from')
  const [to, setTo] = useUrlState('to')
  const { since, until, days } = toSpan(range, from, to)
  const query = new URLSearchParams({ since, ...(until === undefined ? {} : { until }) }).toString()
  const summary = useGet<Summary>('usage', `/api/usage/summary?${query}`)
  const perDay = useGet<DaySums[]>('usage', `/api/usage/days?by=${by}&${query}`)
  const tools = useGet<ToolUse[]>('usage', `/api/usage/tools?${query}`)
  const reviews = useGet<Agreement>('usage', `/api/reviews/stats?since=${encodeURIComponent(since)}`)
  return (
    <Page
      title={t('title')}
      actions={
        <Group gap="xs" maw="100%">
          <SegmentedControl
            aria-label={t('range')}
            value={range}
            onChange={setRange}
            data={RANGES.map(value => ({ value, label: t(value) }))}
          />
          {range === 'custom' && (
            <>
              <TextInput
                type="date"
                aria-label={t('from')}
                value={from === '' ? since.slice(0, 10) : from}
                onChange={event => setFrom(event.currentTarget.value)}
              />
              <TextInput
                type="date"
                aria-label={t('to')}
                value={to === '' ? lastDay(since, days) : to}
                onChange={event => setTo(event.currentTarget.value)}
              />
            </>
          )}
          <SegmentedControl
            aria-label={t('by')}
            value={by}
            onChange={setBy}
            data={GROUPS.map(value => ({ value, label: t(value) }))}
          />
          <Button
            variant="default"
            disabled={perDay.data === undefined}
            onClick={() => downloadText('kogu-usage.csv', toCsv(FIELDS, perDay.data ?? []))}
          >
            {t('exportCsv')}
          </Button>
        </Group>
      }
    >
      <DataRegion
        query={summary}
        isEmpty={({ requests, runs }) => requests === 0 && runs === 0 && (tools.data ?? []).length === 0}
        empty={
          <Empty icon={<CircleDollarSign size={32} aria-hidden />} title={t('empty')}>
            {t('emptyHint')}
          </Empty>
        }
      >
        {totals => (
          <Stack gap="lg">
            <Tiles totals={totals} />
            <Budgets budget={totals.budget} />
            <DataRegion query={perDay}>
              {rows => <DayCharts rows={rows} since={since} days={days} />}
            </DataRegion>
            <DataRegion query={tools}>{rows => <ToolTable rows={rows} />}</DataRegion>
            <DataRegion query={reviews}>{record => <AgreementChart record={record} />}</DataRegion>
          </Stack>
        )}
      </DataRegion>
    </Page>
  )
}

function lastDay(since: string, days: number): string {
  return new Date(Date.parse(since) + (days - 1) * 86_400_000).toISOString().slice(0, 10)
}

const FIELDS = [
  'day',
  'key',
  'requests',
  'input',
  'cached',
  'cacheWrite',
  'output',
  'reasoning',
  'costUsd',
  'unknown',
] as const
