import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useWords } from '../i18n/language.tsx'
import { words } from './words.ts'

/** A picture, or the same as a table for those who would rather read or listen. */
export function TableToggle({
  label,
  table,
  children,
}: {
  label: string
  table: ReactNode
  children: ReactNode
}) {
  const t = useWords(words)
  const [view, setView] = useState('chart')
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text fw={600} size="sm">
          {label}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={label}
          value={view}
          onChange={setView}
          data={[
            { value: 'chart', label: t('chart') },
            { value: 'table', label: t('table') },
          ]}
        />
      </Group>
      {view === 'chart' ? children : table}
    </Stack>
  )
}
