import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { Fragment, useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { words } from '../words.ts'
import { JsonField } from './json-field.tsx'
import { type Field, isSchema, type Property, type Schema } from './read-schema.ts'
import type { SchemaFieldProps } from './schema-field.tsx'

export function ObjectField({
  context,
  pointer,
  value,
  onChange,
  field,
}: SchemaFieldProps & { field: Extract<Field, { kind: 'object' }> }) {
  const now: Readonly<Record<string, unknown>> = isSchema(value) ? value : {}
  const set = (name: string, next: unknown): void => {
    const { [name]: _, ...others } = now
    const all = next === undefined ? others : { ...now, [name]: next }
    onChange(Object.keys(all).length === 0 && pointer !== '' ? undefined : all)
  }
  const known = new Set(field.properties.map(({ name }) => name))
  const unknown = Object.keys(now).filter(name => !known.has(name))
  const one = ({ name, schema, required }: Property) => (
    <Fragment key={name}>
      {context.render({
        ...{ context, schema, name, required },
        pointer: `${pointer}/${name}`,
        value: now[name],
        onChange: next => set(name, next),
      })}
    </Fragment>
  )
  return (
    <Stack gap="sm">
      {field.properties.map(one)}
      {field.rest === undefined ? (
        <Unknown names={unknown} value={now} onChange={set} />
      ) : (
        <Stack gap="sm">
          {unknown.map(name => one({ name, schema: field.rest ?? {}, required: false }))}
          <AddKey
            schema={field.rest}
            taken={Object.keys(now)}
            onAdd={name => set(name, startOf(field.rest))}
          />
        </Stack>
      )}
    </Stack>
  )
}

/** Keys that the schema does not have are kept and shown, never dropped. */
function Unknown({
  names,
  value,
  onChange,
}: {
  names: readonly string[]
  value: Readonly<Record<string, unknown>>
  onChange: (name: string, value: unknown) => void
}) {
  const t = useWords(words)
  if (names.length === 0) return null
  return (
    <>
      <Text size="sm" c="dimmed">
        {t('otherKeys')}
      </Text>
      {names.map(name => (
        <JsonField
          key={name}
          label={name}
          rows={1}
          value={value[name]}
          onChange={next => onChange(name, next)}
        />
      ))}
    </>
  )
}

function AddKey({
  taken,
  onAdd,
}: {
  schema: Schema
  taken: readonly string[]
  onAdd: (name: string) => void
}) {
  const t = useWords(words)
  const [name, setName] = useState('')
  return (
    <Group gap="xs" align="flex-end">
      <TextInput aria-label={t('add')} value={name} onChange={event => setName(event.currentTarget.value)} />
      <Button
        variant="default"
        disabled={name === '' || taken.includes(name)}
        onClick={() => {
          onAdd(name)
          setName('')
        }}
      >
        {t('add')}
      </Button>
    </Group>
  )
}

export function startOf(schema: Schema | undefined): unknown {
  if (schema?.default !== undefined) return schema.default
  switch (schema?.type) {
    case 'object':
      return {}
    case 'array':
      return []
    case 'number':
    case 'integer':
      return 0
    case 'boolean':
      return false
    default:
      return ''
  }
}
