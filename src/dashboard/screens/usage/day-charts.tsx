import { SimpleGrid } from '@mantine/core'
import { BarChart } from '../../components/bar-chart.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { addDays } from '../../i18n/day.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { ChartCard } from './chart-card.tsx'
import { stack } from './stack.ts'
import { type DaySums, knownCost, TOKEN_KINDS, type ToolDay, tokensOf } from './types.ts'
import { words } from './words.ts'

interface DayProps<Row> {
  readonly rows: readonly Row[]
  readonly since: string
  readonly days: number
}

/** Money and tokens, one bar for each day. What has no known price is a cap on its day, not nothing. */
export function DayCharts({ rows, since, days }: DayProps<DaySums>) {
  const t = useWords(words)
  const format = useFormat()
  const dates = datesOf(since, days)
  const say = (day: string): string => format.day(`${day}T12:00:00`)
  const cost = stack(
    dates,
    rows.map(({ day, key, costUsd }) => ({ bar: day, key, value: costUsd })),
    t('others'),
  )
  const unknown = Map.groupBy(rows, ({ day }) => day)
  const bars = cost.bars.map(bar => {
    const count = (unknown.get(bar.label) ?? []).reduce((sum, row) => sum + row.unknown, 0)
    return {
      ...{ label: say(bar.label), parts: bar.parts },
      ...(count === 0 ? {} : { unmeasured: t('unknownPrice', { count }) }),
    }
  })
  const tokens = stack(
    dates,
    rows.flatMap(row => TOKEN_KINDS.map(kind => ({ bar: row.day, key: t(kind), value: row[kind] }))),
    t('others'),
  ).bars.map(bar => ({ ...bar, label: say(bar.label) }))
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <ChartCard label={t('costPerDay')} table={<DayTable rows={rows} />}>
        <BarChart
          label={t('costPerDay')}
          bars={bars}
          keys={cost.keys}
          format={value => format.money(value, t('unknown'))}
          unmeasured={t('unknownSegment')}
          empty={t('empty')}
        />
      </ChartCard>
      <ChartCard label={t('tokensPerDay')} table={<DayTable rows={rows} />}>
        <BarChart
          label={t('tokensPerDay')}
          bars={tokens}
          keys={TOKEN_KINDS.map(kind => t(kind))}
          format={format.number}
          empty={t('empty')}
        />
      </ChartCard>
    </SimpleGrid>
  )
}

/** Tools cost no tokens of their own: their days are calls, and those that failed or were refused. */
export function CallDays({ rows, since, days }: DayProps<ToolDay>) {
  const t = useWords(words)
  const format = useFormat()
  const chart = (label: string, countOf: (row: ToolDay) => number) => {
    const { bars, keys } = stack(
      datesOf(since, days),
      rows
        .map(row => ({ bar: row.day, key: row.tool, value: countOf(row) }))
        .filter(({ value }) => value > 0),
      t('others'),
    )
    return (
      <ChartCard label={label} table={<CallTable rows={rows} />}>
        <BarChart
          label={label}
          bars={bars.map(bar => ({ ...bar, label: format.day(`${bar.label}T12:00:00`) }))}
          keys={keys}
          format={format.number}
          empty={t('empty')}
        />
      </ChartCard>
    )
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      {chart(t('callsPerDay'), ({ calls }) => calls)}
      {chart(t('failuresPerDay'), ({ failed, refused }) => failed + refused)}
    </SimpleGrid>
  )
}

function datesOf(since: string, days: number): string[] {
  return Array.from({ length: days }, (_, index) => addDays(since, index))
}

function DayTable({ rows }: { rows: readonly DaySums[] }) {
  const t = useWords(words)
  const format = useFormat()
  const columns: readonly Column<DaySums>[] = [
    { key: 'day', label: t('day'), phone: 'title', render: ({ day }) => format.day(`${day}T12:00:00`) },
    { key: 'key', label: t('by'), render: ({ key }) => <Untrusted text={key} /> },
    {
      key: 'requests',
      label: t('requests'),
      align: 'right',
      render: ({ requests }) => format.number(requests),
    },
    { key: 'tokens', label: t('tokens'), align: 'right', render: row => format.number(tokensOf(row)) },
    {
      key: 'cost',
      label: t('cost'),
      align: 'right',
      render: row => format.money(knownCost(row), t('unknown')),
    },
    {
      key: 'unknown',
      label: t('unknownSegment'),
      align: 'right',
      phone: 'hide',
      render: ({ unknown }) => format.number(unknown),
    },
  ]
  return (
    <DataTable
      label={t('costPerDay')}
      columns={columns}
      rows={rows}
      rowKey={({ day, key }) => `${day} ${key}`}
    />
  )
}

function CallTable({ rows }: { rows: readonly ToolDay[] }) {
  const t = useWords(words)
  const format = useFormat()
  const columns: readonly Column<ToolDay>[] = [
    { key: 'day', label: t('day'), phone: 'title', render: ({ day }) => format.day(`${day}T12:00:00`) },
    { key: 'tool', label: t('tool'), render: ({ tool }) => <Untrusted text={tool} /> },
    { key: 'calls', label: t('calls'), align: 'right', render: ({ calls }) => format.number(calls) },
    { key: 'failed', label: t('failed'), align: 'right', render: ({ failed }) => format.number(failed) },
    { key: 'refused', label: t('refused'), align: 'right', render: ({ refused }) => format.number(refused) },
  ]
  return (
    <DataTable
      label={t('callsPerDay')}
      columns={columns}
      rows={rows}
      rowKey={({ day, tool }) => `${day} ${tool}`}
    />
  )
}
