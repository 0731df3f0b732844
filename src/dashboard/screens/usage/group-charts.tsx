import { BarChart } from '../../components/bar-chart.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { ChartCard } from './chart-card.tsx'
import { type GroupSums, knownCost, type ToolUse, tokensOf } from './types.ts'
import { words } from './words.ts'

const MOST_BARS = 8

/** What cost most: the panels that runs were started as. */
export function TopPanels({ rows }: { rows: readonly GroupSums[] }) {
  const t = useWords(words)
  const format = useFormat()
  const columns: readonly Column<GroupSums>[] = [
    { key: 'panel', label: t('panel'), phone: 'title', render: ({ key }) => <Untrusted text={key} /> },
    {
      key: 'cost',
      label: t('cost'),
      align: 'right',
      render: row => format.money(knownCost(row), t('unknown')),
    },
    { key: 'unknown', label: t('unknownSegment'), align: 'right', render: row => format.number(row.unknown) },
    { key: 'requests', label: t('requests'), align: 'right', render: row => format.number(row.requests) },
    { key: 'tokens', label: t('tokens'), align: 'right', render: row => format.number(tokensOf(row)) },
  ]
  const bars = rows.slice(0, MOST_BARS).map(({ key, costUsd, unknown }) => ({
    label: key,
    parts: [{ key: t('cost'), value: costUsd }],
    ...(unknown === 0 ? {} : { unmeasured: t('unknownPrice', { count: unknown }) }),
  }))
  return (
    <ChartCard
      label={t('topPanels')}
      table={
        <DataTable
          label={t('topPanels')}
          columns={columns}
          rows={rows}
          rowKey={({ key }) => key}
          href={({ key }) => (key.startsWith('(') ? routes.runs() : routes.runs({ agent: key }))}
        />
      }
    >
      <BarChart
        label={t('topPanels')}
        bars={bars}
        keys={[t('cost')]}
        format={value => format.money(value, t('unknown'))}
        unmeasured={t('unknownSegment')}
        empty={t('empty')}
      />
    </ChartCard>
  )
}

interface Times {
  readonly key: string
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** How long half of the answers took at most, and nearly all of them. */
export function Latency({ rows }: { rows: readonly Times[] }) {
  const t = useWords(words)
  const format = useFormat()
  const say = (ms: number | null): string => (ms === null ? '–' : format.duration(ms))
  const columns: readonly Column<Times>[] = [
    { key: 'key', label: t('by'), phone: 'title', render: ({ key }) => <Untrusted text={key} /> },
    { key: 'p50', label: t('p50'), align: 'right', render: ({ p50Ms }) => say(p50Ms) },
    { key: 'p95', label: t('p95'), align: 'right', render: ({ p95Ms }) => say(p95Ms) },
  ]
  const bars = rows.slice(0, MOST_BARS).map(({ key, p50Ms, p95Ms }) => ({
    label: key,
    parts: [
      { key: t('p50'), value: p50Ms ?? 0 },
      { key: t('p95'), value: (p95Ms ?? 0) - (p50Ms ?? 0), said: say(p95Ms) },
    ],
  }))
  return (
    <ChartCard
      label={t('latencyBy')}
      table={<DataTable label={t('latencyBy')} columns={columns} rows={rows} rowKey={({ key }) => key} />}
    >
      <BarChart
        label={t('latencyBy')}
        bars={bars}
        keys={[t('p50'), t('p95')]}
        format={format.duration}
        empty={t('empty')}
      />
    </ChartCard>
  )
}

export function toolTimes(rows: readonly ToolUse[]): Times[] {
  return rows.map(({ tool, p50Ms, p95Ms }) => ({ key: tool, p50Ms, p95Ms }))
}
