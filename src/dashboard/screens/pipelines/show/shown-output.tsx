import { Text } from '@mantine/core'
import { BarChart } from '../../../components/bar-chart.tsx'
import { DataTable } from '../../../components/data-table.tsx'
import { Diagram } from '../../../components/diagram.tsx'
import { TableToggle } from '../../../components/table-toggle.tsx'
import { Untrusted, visibleLine } from '../../../components/untrusted.tsx'
import { useFormat } from '../../../i18n/format.ts'
import { useWords } from '../../../i18n/language.tsx'
import type { Step, StepRun } from '../types.ts'
import { type Grid, toGrid } from './to-grid.ts'
import { words } from './words.ts'

export interface ShownOutputProps {
  readonly show: NonNullable<Step['show']>
  readonly output: Pick<StepRun, 'text' | 'data'>
}

/** What a step handed over, as a table, a chart or a picture. */
export function ShownOutput({ show, output: { text = '', data } }: ShownOutputProps) {
  const t = useWords(words)
  const format = useFormat()
  if (show === 'diagram') return <Diagram source={withoutFence(text)} />
  const grid = toGrid(text, data)
  if (grid === undefined)
    return (
      <Text size="sm" c="dimmed">
        {t('noGrid')}
      </Text>
    )
  const table = <GridTable grid={grid} />
  const [label = '', ...others] = grid.columns
  const keys = others.filter((_, index) => grid.rows.some(row => isNumber(row[index + 1])))
  if (show === 'table' || keys.length === 0) return table
  const bars = grid.rows.slice(0, MOST_BARS).map((row, index) => ({
    // Two rows may have the same name.
    label:
      grid.rows.findIndex(([name]) => name === row[0]) === index
        ? (row[0] ?? '')
        : `${row[0]} (${index + 1})`,
    parts: keys.map(key => ({ key, value: Number(row[grid.columns.indexOf(key)]) || 0 })),
  }))
  return (
    <TableToggle label={label} table={table}>
      <BarChart label={label} bars={bars} keys={keys} format={format.number} />
    </TableToggle>
  )
}

const MOST_BARS = 90

function isNumber(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '' && Number.isFinite(Number(value))
}

interface NumberedRow {
  readonly cells: readonly string[]
  readonly index: number
}

function GridTable({ grid: { columns, rows } }: { grid: Grid }) {
  const t = useWords(words)
  const numbered: readonly NumberedRow[] = rows.map((cells, index) => ({ cells, index }))
  return (
    <DataTable
      label={t('show')}
      rows={numbered}
      rowKey={({ index }) => String(index)}
      columns={columns.map((column, index) => ({
        key: String(index),
        label: visibleLine(column, 60),
        ...(index === 0 ? { phone: 'title' as const } : {}),
        render: ({ cells }: NumberedRow) => <Untrusted text={cells[index] ?? ''} most={200} />,
      }))}
    />
  )
}

/** Models put diagrams between fences. */
function withoutFence(text: string): string {
  return /```(?:mermaid)?\n([\s\S]*?)```/.exec(text)?.[1] ?? text
}
