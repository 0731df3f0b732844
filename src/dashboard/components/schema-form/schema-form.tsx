import { Alert, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { words } from '../words.ts'
import { JsonField } from './json-field.tsx'
import { readSchema, type Schema } from './read-schema.ts'
import { SchemaField, type SchemaFieldProps } from './schema-field.tsx'

export type FieldErrors = readonly { readonly pointer: string; readonly message: string }[]

export interface SchemaFormProps {
  readonly schema: Schema
  readonly value: Readonly<Record<string, unknown>>
  readonly onChange: (value: Readonly<Record<string, unknown>>) => void
  /** From the server, by JSON Pointer. */
  readonly errors?: FieldErrors
  /** False while there is text that is no JSON: then nothing may be saved. */
  readonly onValid?: (valid: boolean) => void
}

/** A form made from a JSON Schema. What is not set is left out: never an empty text, an empty list or null in its place. */
export function SchemaForm({ schema, value, onChange, errors = [], onValid }: SchemaFormProps) {
  const t = useWords(words)
  const [view, setView] = useState('form')
  const field = readSchema(schema, schema)
  const general = errors.filter(({ pointer }) => pointer === '')
  return (
    <Stack gap="sm">
      <SegmentedControl
        size="xs"
        style={{ alignSelf: 'flex-end' }}
        value={view}
        onChange={setView}
        data={[
          { value: 'form', label: t('form') },
          { value: 'json', label: t('json') },
        ]}
      />
      {general.map(({ message }) => (
        <Alert key={message} color="red" role="alert">
          {message}
        </Alert>
      ))}
      {view === 'form' && field.kind === 'object' ? (
        <SchemaField
          context={{
            root: schema,
            errors,
            render: renderField,
            ...(onValid === undefined ? {} : { onValid }),
          }}
          schema={schema}
          pointer=""
          name=""
          required
          value={value}
          onChange={next => onChange(isRecord(next) ? next : {})}
        />
      ) : (
        <>
          {field.kind === 'json' && (
            <Text size="sm" c="dimmed">
              {t('asJson', { reason: field.reason })}
            </Text>
          )}
          <JsonField
            label={t('json')}
            value={value}
            rows={14}
            onChange={next => onChange(isRecord(next) ? next : {})}
            {...(onValid === undefined ? {} : { onValid })}
          />
        </>
      )}
    </Stack>
  )
}

function renderField(props: SchemaFieldProps) {
  return <SchemaField {...props} />
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
