import {
  ActionIcon,
  Fieldset,
  Group,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { RotateCcw } from 'lucide-react'
import type { ReactNode } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { Untrusted } from '../untrusted.tsx'
import { words } from '../words.ts'
import { JsonField } from './json-field.tsx'
import { ListField } from './list-field.tsx'
import { ObjectField } from './object-field.tsx'
import { OptionsField } from './options-field.tsx'
import { type Field, readSchema, type Schema } from './read-schema.ts'
import type { FieldErrors } from './schema-form.tsx'

export interface FormContext {
  readonly root: Schema
  readonly errors: FieldErrors
  /** How a field inside a field is shown. */
  readonly render: (props: SchemaFieldProps) => ReactNode
  readonly onValid?: (valid: boolean) => void
}

export interface SchemaFieldProps {
  readonly context: FormContext
  readonly schema: Schema
  readonly pointer: string
  readonly name: string
  readonly required: boolean
  /** Undefined: not set. */
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

/** One value of any kind. */
export function SchemaField(props: SchemaFieldProps) {
  const { context, schema, pointer, name, value } = props
  const field = readSchema(schema, context.root)
  const label = field.title ?? name
  const error = context.errors.find(each => each.pointer === pointer)?.message
  const shared = { label: <Untrusted text={label} />, description: <Hint field={field} />, error }
  switch (field.kind) {
    case 'object':
      return name === '' ? (
        <ObjectField {...props} field={field} />
      ) : (
        <Fieldset legend={<Untrusted text={label} />}>
          <ObjectField {...props} field={field} />
        </Fieldset>
      )
    case 'list':
      return <ListField {...props} item={field.item} label={label} />
    case 'options':
      return <OptionsField {...props} options={field.options} label={label} />
    case 'constant':
      return (
        <Text size="sm">
          <Untrusted text={`${label}: ${JSON.stringify(field.value)}`} />
        </Text>
      )
    case 'json':
      return (
        <JsonField
          label={label}
          value={value}
          error={error}
          onChange={props.onChange}
          {...(context.onValid === undefined ? {} : { onValid: context.onValid })}
        />
      )
    default:
      return (
        <Resettable {...props} field={field}>
          <Scalar {...props} field={field} shared={shared} />
        </Resettable>
      )
  }
}

type ScalarField = Extract<Field, { kind: 'text' | 'choice' | 'number' | 'boolean' | 'texts' }>

interface Shared {
  readonly label: ReactNode
  readonly description: ReactNode
  readonly error: string | undefined
}

function Scalar({
  field,
  shared,
  value,
  required,
  onChange,
}: SchemaFieldProps & { field: ScalarField; shared: Shared }) {
  const t = useWords(words)
  const placeholder = field.defaultValue === undefined ? t('notSet') : shortJson(field.defaultValue)
  const common = { ...shared, required, placeholder }
  switch (field.kind) {
    case 'boolean':
      return (
        <Switch
          label={shared.label}
          description={shared.description}
          error={shared.error}
          checked={Boolean(value ?? field.defaultValue ?? false)}
          onChange={event => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <Select
          {...common}
          clearable={!required}
          data={field.options.map(option => ({ value: JSON.stringify(option), label: shortJson(option) }))}
          value={value === undefined ? null : JSON.stringify(value)}
          onChange={next => onChange(next === null ? undefined : JSON.parse(next))}
        />
      )
    case 'number':
      return (
        <NumberInput
          {...common}
          allowDecimal={!field.integer}
          {...(field.min === undefined ? {} : { min: field.min })}
          {...(field.max === undefined ? {} : { max: field.max })}
          value={typeof value === 'number' ? value : ''}
          onChange={next => onChange(typeof next === 'number' ? next : undefined)}
        />
      )
    case 'texts':
      return (
        <TagsInput
          {...common}
          placeholder={t('add')}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={next => onChange(next.length === 0 ? undefined : next)}
        />
      )
    default: {
      const Input = field.secret ? PasswordInput : TextInput
      return (
        <Input
          {...common}
          autoComplete="off"
          value={typeof value === 'string' ? value : ''}
          onChange={event =>
            onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)
          }
        />
      )
    }
  }
}

function Hint({ field }: { field: Field }) {
  const t = useWords(words)
  const parts = [
    field.description,
    field.defaultValue === undefined ? undefined : t('defaultIs', { value: shortJson(field.defaultValue) }),
  ].filter(part => part !== undefined)
  return parts.length === 0 ? undefined : <Untrusted text={parts.join(' · ')} most={600} />
}

/** Back to not being set, and null where null is a value. */
function Resettable({
  field,
  value,
  onChange,
  children,
}: SchemaFieldProps & { field: Field; children: ReactNode }) {
  const t = useWords(words)
  return (
    <Group gap="xs" wrap="nowrap" align="flex-end">
      <Stack style={{ flex: 1, minWidth: 0 }} gap={4}>
        {children}
        {field.nullable && (
          <Switch
            size="xs"
            label="null"
            checked={value === null}
            onChange={event => onChange(event.currentTarget.checked ? null : undefined)}
          />
        )}
      </Stack>
      {value !== undefined && (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('reset')}
          onClick={() => onChange(undefined)}
        >
          <RotateCcw size={16} aria-hidden />
        </ActionIcon>
      )}
    </Group>
  )
}

function shortJson(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '').slice(0, 80)
}
