import { NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useKindName } from '../../components/panel-kind/panel-kind.tsx'
import { ReferenceInput } from '../../components/reference-input.tsx'
import { useWords } from '../../i18n/language.tsx'
import { unknownMarks, variablesOf } from './prompt-variables.ts'
import type { SectionProps } from './prompts.tsx'
import { words } from './words.ts'

const TEXTS = ['text', 'table', 'chart', 'diagram'] as const

/** What a panel holds in which no model works. */
export function ContentSection({ settings, onChange }: SectionProps) {
  const t = useWords(words)
  return (
    <Stack gap="sm">
      <TextInput
        label={t('description')}
        value={settings.description ?? ''}
        onChange={event => onChange({ description: event.currentTarget.value || undefined })}
      />
      {settings.kind === 'folder' ? (
        <TextInput
          label={t('folder')}
          description={t('folderAbout')}
          value={settings.folder ?? ''}
          onChange={event => onChange({ folder: event.currentTarget.value })}
        />
      ) : (
        <TextContent settings={settings} onChange={onChange} />
      )}
    </Stack>
  )
}

function TextContent({ settings, onChange }: SectionProps) {
  const t = useWords(words)
  const name = useKindName()
  const { kind, text = '' } = settings
  const variables = variablesOf(text)
  const wrong = kind === 'diagram' ? [] : unknownMarks(text)
  return (
    <>
      <NativeSelect
        label={t('shownAs')}
        value={kind ?? 'text'}
        onChange={event => onChange({ kind: TEXTS.find(each => each === event.currentTarget.value) })}
        data={TEXTS.map(value => ({ value, label: name(value) }))}
      />
      <ReferenceInput
        label={t('text')}
        description={t(kind === 'diagram' ? 'diagramAbout' : kind === 'text' ? 'textAbout' : 'rowsAbout')}
        minRows={10}
        references={[...new Set(['input', ...variables])].map(path => ({ path }))}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        spellCheck={kind === 'text'}
        value={text}
        onChange={next => onChange({ text: next })}
        error={wrong.length === 0 ? undefined : t('plainMark', { marks: wrong.slice(0, 5).join(' ') })}
      />
      <Text size="xs" c="dimmed">
        {variables.length === 0 ? t('noVariables') : t('variables', { names: variables.join(', ') })}
      </Text>
    </>
  )
}
