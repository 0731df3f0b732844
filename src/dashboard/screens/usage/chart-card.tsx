import type { ReactNode } from 'react'
import { TableToggle } from '../../components/table-toggle.tsx'

interface ChartCardProps {
  readonly label: string
  readonly table: ReactNode
  readonly children: ReactNode
}

export function ChartCard({ label, table, children }: ChartCardProps) {
  return (
    <section
      className="kogu-card"
      aria-label={label}
      style={{ padding: 'var(--mantine-spacing-md)', minWidth: 0 }}
    >
      <TableToggle label={label} table={table}>
        {children}
      </TableToggle>
    </section>
  )
}
