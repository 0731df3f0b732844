import { Anchor, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { visibleLine } from './untrusted.tsx'

export interface Column<Row> {
  readonly key: string
  readonly label: string
  readonly render: (row: Row) => ReactNode
  /** On a phone, a row is a card: the title leads, the rest follows with its label or stays away. */
  readonly phone?: 'title' | 'hide'
  readonly align?: 'right'
  /** Stands below it in small letters, and is no part of the row's link. */
  readonly below?: (row: Row) => ReactNode
}

export interface DataTableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Makes the row a link; it is on the first column. */
  readonly href?: (row: Row) => string
  /** Stands before the row, to choose it by. */
  readonly lead?: { readonly head: ReactNode; readonly render: (row: Row) => ReactNode }
}

export function DataTable<Row>({ label, columns, rows, rowKey, href, lead }: DataTableProps<Row>) {
  return (
    <section
      className="kogu-card kogu-table-box"
      aria-label={visibleLine(label)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
      tabIndex={0}
    >
      <Table className="kogu-table" verticalSpacing="xs" horizontalSpacing="sm" fz="sm">
        <Table.Thead>
          <Table.Tr>
            {lead !== undefined && <Table.Td w={36}>{lead.head}</Table.Td>}
            {columns.map(column => (
              <Table.Th
                key={column.key}
                ta={column.align}
                style={{ whiteSpace: 'nowrap' }}
                fz="xs"
                c="dimmed"
              >
                {column.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(row => (
            <Table.Tr key={rowKey(row)} className="kogu-row">
              {lead !== undefined && (
                <Table.Td data-phone="title" data-lead>
                  {lead.render(row)}
                </Table.Td>
              )}
              {columns.map((column, index) => (
                <Table.Td
                  key={column.key}
                  ta={column.align}
                  {...(column.align === 'right' ? { style: { whiteSpace: 'nowrap' } } : {})}
                  data-label={column.label}
                  data-phone={column.phone}
                >
                  {index === 0 && href !== undefined ? (
                    <Anchor
                      component={Link}
                      href={href(row)}
                      className="kogu-row-link"
                      data-row-link
                      fw={600}
                      fz="sm"
                    >
                      {column.render(row)}
                    </Anchor>
                  ) : (
                    column.render(row)
                  )}
                  {column.below !== undefined && (
                    <Text size="xs" c="dimmed" component="div">
                      {column.below(row)}
                    </Text>
                  )}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}
