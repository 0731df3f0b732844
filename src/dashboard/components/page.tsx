import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { Untrusted, visibleLine } from './untrusted.tsx'

export interface PageProps {
  /** Can be something that somebody else wrote. */
  readonly title: string
  readonly intro?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A screen: one heading of the first level, what can be done, and the rest. */
export function Page({ title, intro, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${visibleLine(title, 80)} · Kogu`
  }, [title])
  return (
    <Stack gap="md" maw={1600} mx="auto">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} style={{ minWidth: 0, flex: '1 1 280px' }}>
          <Title order={1}>
            <Untrusted text={title} most={120} />
          </Title>
          {intro !== undefined && (
            <Text c="dimmed" size="sm" component="div">
              {intro}
            </Text>
          )}
        </Stack>
        {actions !== undefined && (
          <Group gap="xs" maw="100%">
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Stack>
  )
}
