import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { BarChart } from '../bar-chart.tsx'
import { DataTable } from '../data-table.tsx'
import { Diagram } from '../diagram.tsx'
import { TableToggle } from '../table-toggle.tsx'
import { Untrusted, visibleLine } from '../untrusted.tsx'
import { type Grid, toGrid } from './to-grid.ts'
import { words } from './words.ts'

export interface ShownOutputProps {
  readonly show: 'table' | 'chart' | 'diagram'
  readonly output: { readonly text?: string; readonly data?: unknown }
}

/** What a step or a panel hands over, as a table, a chart or a picture. */
export function ShownOutput({ show, output: { text = '', data } }: ShownOutputProps) {
  return show === 'diagram' ? <Diagram source={text} /> : <ShownGrid show={show} text={text} data={data} />
}

function ShownGrid({ show, text, data }: { show: 'table' | 'chart'; text: string; data: unknown }) {
  const t = useWords(words)
  const format = useFormat()
  const grid = useMemo(() => toGrid(text, data), [text, data])
  if (grid === undefined)
    return (
      <Text size="sm" c="dimmed">
        {t('noGrid')}
      </Text>
    )
  const table = (
    <>
      <GridTable grid={grid} />
      {grid.total > grid.rows.length && (
        <Text size="xs" c="dimmed" mt={4}>
          {t('cut', { shown: grid.rows.length, all: grid.total })}
        </Text>
      )}
    </>
  )
  const [label = '', ...others] = grid.columns
  const keys = others.filter((_, index) => grid.rows.some(row => isNumber(row[index + 1])))
  // A bar cannot show what is below zero.
  const isBelow = grid.rows.some(row => row.slice(1).some(value => Number(value) < 0))
  if (show === 'table' || keys.length === 0 || isBelow) return table
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
