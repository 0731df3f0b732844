import { SimpleGrid } from '@mantine/core'
import { type Bar, BarChart } from '../../components/bar-chart.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { TableToggle } from '../../components/table-toggle.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { type DaySums, TOKEN_KINDS, tokensOf } from './types.ts'
import { words } from './words.ts'

const DAY_MS = 86_400_000

/** Money and tokens, one bar for each day. */
export function DayCharts({ rows, since, days }: { rows: readonly DaySums[]; since: string; days: number }) {
  const t = useWords(words)
  const format = useFormat()
  const dates = Array.from({ length: days }, (_, index) =>
    new Date(Date.parse(since) + index * DAY_MS).toISOString().slice(0, 10),
  )
  const groups = [...new Set(rows.map(({ key }) => key))]
  const cost = toBars(dates, format.day, rows, ({ key, costUsd }) => [{ key, value: costUsd }])
  const tokens = toBars(dates, format.day, rows, row =>
    TOKEN_KINDS.map(kind => ({ key: t(kind), value: row[kind] })),
  )
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <section className="kogu-card" aria-label={t('costPerDay')} style={PAD}>
        <TableToggle label={t('costPerDay')} table={<DayTable rows={rows} />}>
          <BarChart
            label={t('costPerDay')}
            bars={cost}
            keys={groups}
            format={value => format.money(value, t('unknown'))}
          />
        </TableToggle>
      </section>
      <section className="kogu-card" aria-label={t('tokensPerDay')} style={PAD}>
        <TableToggle label={t('tokensPerDay')} table={<DayTable rows={rows} />}>
          <BarChart
            label={t('tokensPerDay')}
            bars={tokens}
            keys={TOKEN_KINDS.map(kind => t(kind))}
            format={format.number}
          />
        </TableToggle>
      </section>
    </SimpleGrid>
  )
}

const PAD = { padding: 'var(--mantine-spacing-md)', minWidth: 0 } as const

function toBars(
  dates: readonly string[],
  say: (at: string) => string,
  rows: readonly DaySums[],
  split: (row: DaySums) => Bar['parts'],
): Bar[] {
  return dates.map(day => {
    const sums = new Map<string, number>()
    for (const row of rows.filter(each => each.day === day))
      for (const { key, value } of split(row)) sums.set(key, (sums.get(key) ?? 0) + value)
    return { label: say(`${day}T12:00:00`), parts: [...sums].map(([key, value]) => ({ key, value })) }
  })
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
      render: ({ costUsd, unknown, requests }) =>
        unknown === requests ? t('unknown') : format.money(costUsd, t('unknown')),
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
