import { Button, Group, SegmentedControl, Stack } from '@mantine/core'
import { CircleDollarSign } from 'lucide-react'
import { useMemo } from 'react'
import { useGet } from '../../api/api.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { Budgets } from './budgets.tsx'
import { DayCharts } from './day-charts.tsx'
import { Tiles } from './tiles.tsx'
import { ToolTable } from './tool-table.tsx'
import type { DaySums, Summary, ToolUse } from './types.ts'
import { words } from './words.ts'

const RANGES = { today: 1, days7: 7, days30: 30, days365: 365 } as const
type Range = keyof typeof RANGES

export default function UsageScreen() {
  const t = useWords(words)
  const [range, setRange] = useUrlState('range', 'days7')
  const [by, setBy] = useUrlState('by', 'model')
  const days = RANGES[range as Range] ?? RANGES.days7
  const since = useMemo(() => startOf(days), [days])
  const query = `since=${encodeURIComponent(since)}`
  const summary = useGet<Summary>('usage', `/api/usage/summary?${query}`)
  const perDay = useGet<DaySums[]>('usage', `/api/usage/days?by=${by}&${query}`)
  const tools = useGet<ToolUse[]>('usage', `/api/usage/tools?${query}`)
  return (
    <Page
      title={t('title')}
      actions={
        <Group gap="xs">
          <SegmentedControl
            aria-label={t('range')}
            value={range}
            onChange={setRange}
            data={(Object.keys(RANGES) as Range[]).map(value => ({ value, label: t(value) }))}
          />
          <SegmentedControl
            aria-label={t('by')}
            value={by}
            onChange={setBy}
            data={(['model', 'provider', 'agent'] as const).map(value => ({ value, label: t(value) }))}
          />
          <Button
            variant="default"
            disabled={perDay.data === undefined}
            onClick={() => download(perDay.data ?? [])}
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
          </Stack>
        )}
      </DataRegion>
    </Page>
  )
}

/** The beginning of the first day, so that the address of the request stays the same for a day. */
function startOf(days: number): string {
  const start = new Date()
  start.setUTCHours(0, 0, 0, 0)
  start.setUTCDate(start.getUTCDate() - days + 1)
  return start.toISOString()
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

function download(rows: readonly DaySums[]): void {
  // A cell that begins like a formula would be one in a spreadsheet.
  const cell = (value: string | number): string => {
    const text = typeof value === 'string' && /^[=+\-@\t]/.test(value) ? `'${value}` : String(value)
    return `"${text.replaceAll('"', '""')}"`
  }
  const lines = [FIELDS.join(','), ...rows.map(row => FIELDS.map(field => cell(row[field])).join(','))]
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }))
  link.download = 'kogu-usage.csv'
  link.click()
  URL.revokeObjectURL(link.href)
}
