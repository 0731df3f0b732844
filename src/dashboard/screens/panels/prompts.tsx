import { Stack, Text, TextInput } from '@mantine/core'
import { ReferenceInput } from '../../components/reference-input.tsx'
import type { Changes } from '../../components/saved/with-changes.ts'
import { useWords } from '../../i18n/language.tsx'
import { unknownMarks, variablesOf } from './prompt-variables.ts'
import type { PanelSettings } from './types.ts'
import { words } from './words.ts'

export interface SectionProps {
  readonly settings: PanelSettings
  readonly onChange: (values: Changes<PanelSettings>) => void
}

export function Prompts({ settings, onChange }: SectionProps) {
  const t = useWords(words)
  const { description, system = '', prompt = '{{input}}' } = settings
  const variables = variablesOf(prompt)
  const wrong = unknownMarks(prompt)
  const marks = system.match(/\{\{[^{}]*\}\}/g) ?? []
  return (
    <Stack gap="sm">
      <TextInput
        label={t('description')}
        value={description ?? ''}
        onChange={event => onChange({ description: event.currentTarget.value || undefined })}
      />
      <ReferenceInput
        label={t('system')}
        description={t('systemAbout')}
        minRows={4}
        references={[]}
        value={system}
        error={marks.length === 0 ? undefined : t('systemMark', { marks: marks.slice(0, 5).join(' ') })}
        onChange={text => onChange({ system: text === '' ? undefined : text })}
      />
      <ReferenceInput
        label={t('user')}
        description={t('userAbout')}
        minRows={3}
        references={[...new Set(['input', ...variables])].map(path => ({ path }))}
        value={prompt}
        onChange={text => onChange({ prompt: text })}
        error={wrong.length === 0 ? undefined : t('wrongMark', { marks: wrong.join(' ') })}
      />
      <Text size="xs" c="dimmed">
        {variables.length === 0 ? t('noVariables') : t('variables', { names: variables.join(', ') })}
      </Text>
    </Stack>
  )
}
