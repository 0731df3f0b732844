import { Button, Group, SegmentedControl, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { downloadText, toCsv } from '../../components/download.ts'
import { Page } from '../../components/page.tsx'
import { addDays } from '../../i18n/day.ts'
import { useWords } from '../../i18n/language.tsx'
import { useUrlChoice, useUrlState } from '../../routes.ts'
import { AgreementChart } from './agreement.tsx'
import { Budgets } from './budgets.tsx'
import { CallDays, DayCharts } from './day-charts.tsx'
import { Latency, TopPanels, toolTimes } from './group-charts.tsx'
import { withShortKeys } from './short-keys.ts'
import { RANGES, toSpan } from './span.ts'
import { Tiles } from './tiles.tsx'
import { ToolTable } from './tool-table.tsx'
import {
  type Agreement,
  type DaySums,
  type GroupSums,
  knownCost,
  type Summary,
  type ToolDay,
  type ToolUse,
} from './types.ts'
import { words } from './words.ts'

const GROUPS = ['model', 'provider', 'panel', 'pipeline', 'agent', 'tool'] as const

export default function UsageScreen() {
  const t = useWords(words)
  const [range, setRange] = useUrlChoice('range', RANGES, 'days7')
  const [by, setBy] = useUrlChoice('by', GROUPS, 'model')
  const [from, setFrom] = useUrlState('from')
  const [to, setTo] = useUrlState('to')
  const { since, until, days } = toSpan(range, from, to)
  const query = new URLSearchParams({ since, ...(until === undefined ? {} : { until }) }).toString()
  const summary = useGet<Summary>('usage', `/api/usage/summary?${query}`)
  const isOfTools = by === 'tool'
  const perDay = useGet<DaySums[]>('usage', `/api/usage/days?by=${by}&${query}`, { enabled: !isOfTools })
  const callsPerDay = useGet<ToolDay[]>('usage', `/api/usage/tools/days?${query}`, { enabled: isOfTools })
  const groups = useGet<GroupSums[]>('usage', `/api/usage/groups?by=${by}&${query}`, { enabled: !isOfTools })
  const panels = useGet<GroupSums[]>('usage', `/api/usage/groups?by=panel&${query}`)
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
                value={from === '' ? since : from}
                onChange={event => setFrom(event.currentTarget.value)}
              />
              <TextInput
                type="date"
                aria-label={t('to')}
                value={to === '' ? addDays(since, days - 1) : to}
                onChange={event => setTo(event.currentTarget.value)}
              />
            </>
          )}
          <Select
            aria-label={t('by')}
            value={by}
            onChange={value => setBy(value ?? '')}
            data={GROUPS.map(value => ({ value, label: t(value) }))}
            allowDeselect={false}
            w={150}
          />
          <Button
            variant="default"
            disabled={(isOfTools ? callsPerDay : perDay).data === undefined}
            onClick={() =>
              downloadText(
                'kogu-usage.csv',
                isOfTools
                  ? toCsv(CALL_FIELDS, callsPerDay.data ?? [])
                  : toCsv(
                      FIELDS,
                      (perDay.data ?? []).map(row => ({ ...row, costUsd: knownCost(row) })),
                    ),
              )
            }
          >
            {t('exportCsv')}
          </Button>
        </Group>
      }
    >
      <DataRegion query={summary}>
        {totals => (
          <Stack gap="lg">
            <Tiles totals={totals} />
            <Budgets budget={totals.budget} unknown={totals.unknown} />
            {isOfTools ? (
              <DataRegion query={callsPerDay}>
                {rows => <CallDays rows={rows} since={since} days={days} />}
              </DataRegion>
            ) : (
              <DataRegion query={perDay}>
                {rows => <DayCharts rows={withShortKeys(rows)} since={since} days={days} />}
              </DataRegion>
            )}
            <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
              <DataRegion query={panels}>{rows => <TopPanels rows={rows} />}</DataRegion>
              {isOfTools ? (
                <DataRegion query={tools}>{rows => <Latency rows={toolTimes(rows)} />}</DataRegion>
              ) : (
                <DataRegion query={groups}>{rows => <Latency rows={withShortKeys(rows)} />}</DataRegion>
              )}
            </SimpleGrid>
            <DataRegion query={tools}>{rows => <ToolTable rows={rows} />}</DataRegion>
            <DataRegion query={reviews}>{record => <AgreementChart record={record} />}</DataRegion>
          </Stack>
        )}
      </DataRegion>
    </Page>
  )
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

const CALL_FIELDS = ['day', 'tool', 'calls', 'failed', 'refused'] as const
