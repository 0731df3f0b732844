import { Alert, List, Text, Textarea } from '@mantine/core'
import { useWords } from '../../i18n/language.tsx'
import { Untrusted } from '../untrusted.tsx'
import { words } from './words.ts'

export interface TomlEditorProps {
  readonly file: string
  readonly text: string
  readonly onChange: (text: string) => void
}

/** The file as it will be saved. */
export function TomlEditor({ file, text, onChange }: TomlEditorProps) {
  const t = useWords(words)
  return (
    <Textarea
      label={
        <Text ff="monospace" size="sm" component="span">
          <Untrusted text={file} />
        </Text>
      }
      description={t('tomlAbout')}
      autosize
      minRows={14}
      maxRows={40}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
      value={text}
      onChange={event => onChange(event.currentTarget.value)}
    />
  )
}

/** What keeps it from being saved or from running, in the server's words. */
export function Problems({ problems, title }: { problems: readonly string[]; title: string }) {
  if (problems.length === 0) return null
  return (
    <Alert color="red" title={title} role="alert">
      <List size="sm">
        {problems.map(problem => (
          <List.Item key={problem}>
            <Untrusted text={problem} most={500} />
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
