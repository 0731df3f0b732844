import { Button, Group, SegmentedControl, Select } from '@mantine/core'
import { Pause, Play } from 'lucide-react'
import { useMemo, useState } from 'react'
import { visibleLine } from '../../../components/untrusted.tsx'
import { useWords } from '../../../i18n/language.tsx'
import { useUrlChoice, useUrlState } from '../../../routes.ts'
import type { ShownEvent } from '../run-events.ts'
import type { Item } from '../transcript-items.ts'
import { words as runWords } from '../words.ts'
import { words } from './words.ts'

/** What is left of a transcript, as the address says. */
export function useTranscriptFilter(items: readonly Item[]) {
  const [only, setOnly] = useUrlChoice('only', ['', 'errors', 'waiting'], '')
  const [tool, setTool] = useUrlState('tool')
  const shown = useMemo(
    () => (only === '' && tool === '' ? items : items.filter(item => isWanted(item, only, tool))),
    [items, only, tool],
  )
  return { shown, only, setOnly, tool, setTool, tools: toolsOf(items) }
}

function isWanted(item: Item, only: string, tool: string): boolean {
  if (item.kind !== 'call') return false
  if (tool !== '' && item.tool !== tool) return false
  if (only === 'waiting') return item.state === 'waiting'
  return only === '' || item.state === 'error' || item.state === 'denied' || item.state === 'unknown'
}

function toolsOf(items: readonly Item[]): string[] {
  return [...new Set(items.flatMap(item => (item.kind === 'call' ? [item.tool] : [])))].sort()
}

/** What has come while one reads waits until one goes on. The run itself is not paused. */
export function useFrozen(events: readonly ShownEvent[]) {
  const [frozen, freeze] = useState<readonly ShownEvent[]>()
  return {
    events: frozen ?? events,
    isFrozen: frozen !== undefined,
    held: frozen === undefined ? 0 : events.length - frozen.length,
    toggle: () => freeze(frozen === undefined ? events : undefined),
  }
}

interface TranscriptFilterProps {
  readonly filter: ReturnType<typeof useTranscriptFilter>
  readonly frozen: ReturnType<typeof useFrozen>
  readonly isRunning: boolean
}

export function TranscriptFilter({ filter, frozen, isRunning }: TranscriptFilterProps) {
  const t = useWords(words)
  const r = useWords(runWords)
  const { only, setOnly, tool, setTool, tools } = filter
  const Icon = frozen.isFrozen ? Play : Pause
  return (
    <Group gap="xs" mb="xs">
      <SegmentedControl
        size="xs"
        aria-label={r('state')}
        value={only}
        onChange={setOnly}
        data={[
          { value: '', label: t('all') },
          { value: 'errors', label: t('errors') },
          { value: 'waiting', label: t('waiting') },
        ]}
      />
      {tools.length > 0 && (
        <Select
          size="xs"
          w={180}
          clearable
          aria-label={r('tool')}
          placeholder={r('tool')}
          // A model can ask for a tool by any name.
          data={tools.map(value => ({ value, label: visibleLine(value, 60) }))}
          value={tool === '' ? null : tool}
          onChange={value => setTool(value ?? '')}
        />
      )}
      {(isRunning || frozen.isFrozen) && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon size={14} aria-hidden />}
          onClick={frozen.toggle}
        >
          {frozen.isFrozen ? t('follow', { count: frozen.held }) : t('holdStill')}
        </Button>
      )}
    </Group>
  )
}
