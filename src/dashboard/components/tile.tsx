import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** One figure with its name, and what it is made of. */
export function Tile({ label, value, children }: { label: string; value: string; children?: ReactNode }) {
  return (
    <section className="kogu-card" aria-label={label} style={{ padding: 'var(--mantine-spacing-sm)' }}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fz="xl" fw={650}>
        {value}
      </Text>
      <Text size="xs" c="dimmed" component="div">
        {children}
      </Text>
    </section>
  )
}
