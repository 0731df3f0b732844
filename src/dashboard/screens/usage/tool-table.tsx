import { BarChart } from '../../components/bar-chart.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { ChartCard } from './chart-card.tsx'
import type { ToolUse } from './types.ts'
import { words } from './words.ts'

const MOST_BARS = 20

/** How often agents called which tool, and what became of it. */
export function ToolTable({ rows }: { rows: readonly ToolUse[] }) {
  const t = useWords(words)
  const format = useFormat()
  const columns: readonly Column<ToolUse>[] = [
    { key: 'tool', label: t('tool'), phone: 'title', render: ({ tool }) => <Untrusted text={tool} /> },
    { key: 'calls', label: t('calls'), align: 'right', render: ({ calls }) => format.number(calls) },
    { key: 'failed', label: t('failed'), align: 'right', render: ({ failed }) => format.number(failed) },
    { key: 'refused', label: t('refused'), align: 'right', render: ({ refused }) => format.number(refused) },
    { key: 'rate', label: t('errorRate'), align: 'right', render: row => format.percent(errorRate(row)) },
    {
      key: 'asked',
      label: t('asked'),
      align: 'right',
      phone: 'hide',
      render: ({ asked }) => format.number(asked),
    },
    {
      key: 'p50',
      label: t('p50'),
      align: 'right',
      phone: 'hide',
      render: ({ p50Ms }) => format.duration(p50Ms),
    },
    {
      key: 'p95',
      label: t('p95'),
      align: 'right',
      phone: 'hide',
      render: ({ p95Ms }) => format.duration(p95Ms),
    },
  ]
  if (rows.length === 0) return null
  const bars = rows.slice(0, MOST_BARS).map(({ tool, calls, failed, refused }) => ({
    label: tool,
    parts: [
      { key: t('ok'), value: calls - failed - refused },
      {
        key: t('failed'),
        value: failed,
        said: `${format.number(failed)} (${format.percent(errorRate({ calls, failed, refused }))})`,
      },
      { key: t('refused'), value: refused },
    ],
  }))
  return (
    <ChartCard
      label={t('tools')}
      table={
        <DataTable
          label={t('tools')}
          columns={columns}
          rows={rows}
          rowKey={({ tool }) => tool}
          href={({ tool }) => routes.audit({ tool })}
        />
      }
    >
      <BarChart
        label={t('tools')}
        bars={bars}
        keys={[t('ok'), t('failed'), t('refused')]}
        format={format.number}
      />
    </ChartCard>
  )
}

/** Of the calls that ran: a refusal is no error of the tool. */
function errorRate({ calls, failed, refused }: Pick<ToolUse, 'calls' | 'failed' | 'refused'>): number {
  return calls === refused ? 0 : failed / (calls - refused)
}
