import { Button, Drawer, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Tool } from '../../api/types.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { TryCall } from '../../components/try-call/try-call.tsx'
import { words as tryCallWords } from '../../components/try-call/words.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import type { ToolSettings } from './types.ts'
import { words } from './words.ts'

export interface ConfigureProps {
  readonly tool: Tool
  readonly own: ToolSettings | undefined
  readonly onSave: (settings: ToolSettings) => void
  readonly onClose: () => void
}

/** What a panel sets for one tool. It can narrow what the rules allow, never widen it. */
export function ConfigureDrawer({ tool, own = {}, onSave, onClose }: ConfigureProps) {
  const t = useWords(words)
  const sample = useWords(tryCallWords)
  const { enabled, ...config } = own
  const [value, setValue] = useState<Readonly<Record<string, unknown>>>(config)
  const [isValid, setValid] = useState(true)
  return (
    <Drawer
      opened
      onClose={onClose}
      title={t('settingsOf', { tool: tool.name })}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          <Untrusted text={tool.definition.description.split('\n')[0] ?? ''} most={300} />
        </Text>
        <SchemaForm
          label={tool.name}
          schema={tool.settings_schema}
          value={value}
          onChange={setValue}
          onValid={setValid}
        />
        <Text size="xs" c="dimmed">
          {t('settingsNarrow')}
        </Text>
        <details>
          <summary>{sample('sample')}</summary>
          <TryCall tool={tool.name} schema={tool.definition.input_schema} settings={value} />
        </details>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button
            disabled={!isValid}
            onClick={() => onSave(enabled === undefined ? value : { ...value, enabled })}
          >
            {t('apply')}
          </Button>
        </Group>
      </Stack>
    </Drawer>
  )
}
