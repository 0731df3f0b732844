import { Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

export function Section({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack gap={4}>
      <Title order={3} c="dimmed" fz="sm">
        {label}
      </Title>
      {children}
    </Stack>
  )
}
