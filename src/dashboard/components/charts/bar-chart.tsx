import { Group, Text } from '@mantine/core'
import { useWords } from '../../i18n/language.tsx'
import { DataTable } from '../data-table.tsx'
import { TableToggle } from '../table-toggle.tsx'
import { Untrusted } from '../untrusted.tsx'
import { words } from '../words.ts'

export interface Series {
  readonly key: string
  readonly label: string
}

export interface Bar {
  readonly key: string
  readonly label: string
  readonly values: Readonly<Record<string, number>>
}

export interface BarChartProps {
  readonly label: string
  readonly series: readonly Series[]
  readonly bars: readonly Bar[]
  readonly format: (value: number) => string
  readonly height?: number
}

/** Told apart by pattern as well as by colour. */
const FILLS = ['#4c6ef5', '#e8590c', '#0ca678', '#9c36b5', '#f59f00', '#868e96', '#d6336c', '#1098ad']
const GAP = 0.25
const WIDTH = 640

/** Stacked bars, drawn here: a few dozen of them need no library. Every bar can be reached by keyboard, and there is a table. */
export function BarChart({ label, series, bars, format, height = 180 }: BarChartProps) {
  const t = useWords(words)
  const totals = bars.map(({ values }) => series.reduce((sum, { key }) => sum + (values[key] ?? 0), 0))
  const most = Math.max(...totals, 0)
  if (bars.length === 0 || most === 0) return <EmptyChart label={label} text={t('noData')} height={height} />
  const slot = WIDTH / bars.length
  return (
    <TableToggle label={label} table={<ChartTable {...{ label, series, bars, format }} />}>
      <div className="kogu-card" style={{ padding: 12, overflowX: 'auto' }}>
        <svg viewBox={`0 0 ${WIDTH} ${height + 24}`} width="100%" style={{ minWidth: 320 }}>
          <title>{label}</title>
          {bars.map((bar, index) => (
            <Stack
              key={bar.key}
              {...{ bar, series, format, height, most }}
              x={index * slot + (slot * GAP) / 2}
              width={slot * (1 - GAP)}
              showLabel={index % Math.ceil(bars.length / MOST_LABELS) === 0}
            />
          ))}
          <line x1={0} x2={WIDTH} y1={height} y2={height} stroke="var(--kogu-line)" />
        </svg>
        <Legend series={series} />
      </div>
    </TableToggle>
  )
}

const MOST_LABELS = 10

interface StackProps {
  readonly bar: Bar
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly height: number
  readonly most: number
  readonly x: number
  readonly width: number
  readonly showLabel: boolean
}

function Stack({ bar, series, format, height, most, x, width, showLabel }: StackProps) {
  const text = `${bar.label}: ${series.map(({ key, label }) => `${label} ${format(bar.values[key] ?? 0)}`).join(', ')}`
  let top = height
  return (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: the values of a bar are heard when it is reached
    <g tabIndex={0} role="img" aria-label={text}>
      <title>{text}</title>
      {series.map(({ key }, index) => {
        const tall = ((bar.values[key] ?? 0) / most) * (height - 8)
        top -= tall
        return <rect key={key} x={x} y={top} width={width} height={tall} rx={2} fill={fillOf(index)} />
      })}
      {showLabel && (
        <text
          x={x + width / 2}
          y={height + 17}
          textAnchor="middle"
          fontSize={11}
          fill="var(--mantine-color-dimmed)"
        >
          {bar.label}
        </text>
      )}
    </g>
  )
}

function fillOf(index: number): string {
  return FILLS[index % FILLS.length] ?? 'gray'
}

function Legend({ series }: { series: readonly Series[] }) {
  if (series.length < 2) return null
  return (
    <Group gap="md" mt={4}>
      {series.map(({ key, label }, index) => (
        <Group key={key} gap={6}>
          <span className="kogu-dot" style={{ background: fillOf(index) }} aria-hidden />
          <Text size="xs">
            <Untrusted text={label} most={60} />
          </Text>
        </Group>
      ))}
    </Group>
  )
}

function ChartTable({ label, series, bars, format }: BarChartProps) {
  return (
    <DataTable
      label={label}
      rows={bars}
      rowKey={({ key }) => key}
      columns={[
        { key: 'label', label, phone: 'title', render: bar => <Untrusted text={bar.label} most={80} /> },
        ...series.map(({ key, label: name }) => ({
          key,
          label: name,
          align: 'right' as const,
          render: (bar: Bar) => format(bar.values[key] ?? 0),
        })),
      ]}
    />
  )
}

function EmptyChart({ label, text, height }: { label: string; text: string; height: number }) {
  return (
    <div>
      <Text fw={600} size="sm" mb="xs">
        {label}
      </Text>
      <Group className="kogu-card" justify="center" h={height}>
        <Text c="dimmed">{text}</Text>
      </Group>
    </div>
  )
}

/** A line the size of a word, for a table cell or a tile; its values are in the text beside it. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(...values, 1)
  const points = values.map(
    (value, index) => `${(index / Math.max(1, values.length - 1)) * 80},${22 - (value / most) * 20}`,
  )
  return (
    <svg viewBox="0 0 80 24" width={80} height={24} role="img" aria-label={label}>
      <title>{label}</title>
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="var(--mantine-color-indigo-6)"
        strokeWidth={2}
      />
    </svg>
  )
}
