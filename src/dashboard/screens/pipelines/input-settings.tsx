import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  NativeSelect,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { withChanges } from '../../components/saved/with-changes.ts'
import { useWords } from '../../i18n/language.tsx'
import type { Definition, InputField } from './types.ts'
import { words } from './words.ts'

/** The pipeline itself: what it is for, and what it is given with each run. */
export function InputSettings({
  definition,
  onChange,
}: {
  definition: Definition
  onChange: (next: Definition, burst?: string) => void
}) {
  const t = useWords(words)
  const inputs = Object.entries(definition.input ?? {})
  const setInputs = (next: Readonly<Record<string, InputField>>, burst?: string): void =>
    onChange(withChanges(definition, { input: Object.keys(next).length === 0 ? undefined : next }), burst)
  const set = (name: string, values: InputField, burst: string): void =>
    setInputs(Object.fromEntries(inputs.map(([key, field]) => [key, key === name ? values : field])), burst)
  return (
    <Stack gap="md">
      <TextInput
        label={t('description')}
        value={definition.description ?? ''}
        onChange={event =>
          onChange(
            withChanges(definition, { description: event.currentTarget.value || undefined }),
            'description',
          )
        }
      />
      <Title order={2}>{t('inputs')}</Title>
      <Text size="sm" c="dimmed">
        {t('inputsAbout')}
      </Text>
      {inputs.map(([name, field]) => (
        <div key={name} className="kogu-card" style={{ padding: 12 }}>
          <Group justify="space-between" mb={6}>
            <Text ff="monospace" size="sm" fw={600}>{`{{input.${name}}}`}</Text>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('remove', { id: name })}
              onClick={() => setInputs(Object.fromEntries(inputs.filter(([key]) => key !== name)))}
            >
              <Trash2 size={15} aria-hidden />
            </ActionIcon>
          </Group>
          <Group gap="sm" grow>
            <NativeSelect
              label={t('type')}
              value={field.type ?? 'string'}
              onChange={event => {
                const type = TYPES.find(each => each === event.currentTarget.value) ?? 'string'
                set(name, withChanges(field, { type, default: undefined }), '')
              }}
              data={[
                { value: 'string', label: t('typeText') },
                { value: 'number', label: t('typeNumber') },
                { value: 'boolean', label: t('typeBoolean') },
              ]}
            />
            <TextInput
              label={t('default')}
              value={field.default === undefined ? '' : String(field.default)}
              onChange={event =>
                set(
                  name,
                  withChanges(field, { default: toDefault(field, event.currentTarget.value) }),
                  `${name}.default`,
                )
              }
            />
          </Group>
          <TextInput
            mt="xs"
            label={t('description')}
            value={field.description ?? ''}
            onChange={event =>
              set(
                name,
                withChanges(field, { description: event.currentTarget.value || undefined }),
                `${name}.about`,
              )
            }
          />
          <Checkbox
            mt="sm"
            label={t('required')}
            checked={field.required === true}
            onChange={event =>
              set(name, withChanges(field, { required: event.currentTarget.checked || undefined }), '')
            }
          />
        </div>
      ))}
      <NewInput
        taken={inputs.map(([name]) => name)}
        onAdd={name => setInputs({ ...definition.input, [name]: {} })}
      />
    </Stack>
  )
}

const TYPES = ['string', 'number', 'boolean'] as const

function toDefault({ type = 'string' }: InputField, text: string): string | number | boolean | undefined {
  if (text === '') return undefined
  if (type === 'boolean') return text === 'true'
  return type === 'number' && !Number.isNaN(Number(text)) ? Number(text) : text
}

function NewInput({ taken, onAdd }: { taken: readonly string[]; onAdd: (name: string) => void }) {
  const t = useWords(words)
  const [name, setName] = useState('')
  const isValid = /^[A-Za-z_]\w*$/.test(name) && !taken.includes(name)
  return (
    <Group
      component="form"
      gap="xs"
      onSubmit={event => {
        event.preventDefault()
        if (!isValid) return
        onAdd(name)
        setName('')
      }}
    >
      <TextInput
        style={{ flex: 1 }}
        aria-label={t('newInput')}
        placeholder={t('newInput')}
        value={name}
        onChange={event => setName(event.currentTarget.value)}
      />
      <Button
        type="submit"
        variant="default"
        disabled={!isValid}
        leftSection={<Plus size={14} aria-hidden />}
      >
        {t('add')}
      </Button>
    </Group>
  )
}
