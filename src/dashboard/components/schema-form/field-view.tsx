import { ActionIcon, Box, Fieldset, Group, Input, NativeSelect, Stack, Text, Tooltip } from '@mantine/core'
import { Undo2 } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { cutGraphemes, Untrusted, visibleLine } from '../untrusted.tsx'
import type { Field } from './fields.ts'
import { type FieldProps, useForm } from './form-context.ts'
import { ListField } from './list-field.tsx'
import { ObjectField } from './object-field.tsx'
import { JsonField, ScalarField } from './scalar-field.tsx'
import { nameOfOption, optionOf, startOf, toPointer } from './values.ts'
import { words } from './words.ts'

/** Any field, by its kind. */
export function FieldView(props: FieldProps) {
  const { field, name, path, value, bare = false } = props
  if (field.kind === 'object') {
    const inner = <ObjectField {...props} field={field} View={FieldView} />
    return bare ? inner : <Frame {...props}>{inner}</Frame>
  }
  if (field.kind === 'list' && !isTags(field, value)) {
    const inner = <ListField {...props} field={field} View={FieldView} />
    return bare ? inner : <Frame {...props}>{inner}</Frame>
  }
  if (field.kind === 'union') {
    return (
      <Frame {...props}>
        <UnionField field={field} name={name} path={path} value={value} required />
      </Frame>
    )
  }
  return (
    <Labelled {...props}>
      {id => (field.kind === 'json' ? <JsonField {...props} id={id} /> : <ScalarField {...props} id={id} />)}
    </Labelled>
  )
}

/** Short texts are written as tags. A reference to a whole list is a text. */
function isTags(field: Field & { kind: 'list' }, value: unknown): boolean {
  if (typeof value === 'string') return true
  const { items } = field
  return items.kind === 'text' && (value === undefined || (Array.isArray(value) && value.every(isText)))
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/** What a field is called, what it is for, what it is when it is not set, and what is wrong with it. */
function Labelled({
  field,
  name,
  path,
  value,
  required,
  bare = false,
  children,
}: FieldProps & { children: (id: string) => ReactNode }) {
  const id = useId()
  const { mistakes } = useForm()
  const mistake = mistakes.get(toPointer(path))
  const error = mistake === undefined ? undefined : visibleLine(mistake)
  if (bare)
    return (
      <Input.Wrapper error={error} data-pointer={toPointer(path)}>
        {children(id)}
      </Input.Wrapper>
    )
  return (
    <Box data-pointer={toPointer(path)}>
      <Group justify="space-between" gap="xs" wrap="nowrap" mih={26}>
        <Input.Label htmlFor={id} required={required}>
          <Untrusted text={field.title ?? name} />
        </Input.Label>
        <Unset field={field} name={name} path={path} value={value} required={required} />
      </Group>
      {children(id)}
      {field.description !== undefined && (
        <Text size="xs" c="dimmed" mt={4} id={`${id}-about`}>
          <Untrusted text={field.description} most={600} />
        </Text>
      )}
      {error !== undefined && (
        <Input.Error mt={4} id={`${id}-error`}>
          {error}
        </Input.Error>
      )}
    </Box>
  )
}

function Frame({ field, name, path, value, required, children }: FieldProps & { children: ReactNode }) {
  const { mistakes } = useForm()
  const mistake = mistakes.get(toPointer(path))
  const error = mistake === undefined ? undefined : visibleLine(mistake)
  return (
    <Fieldset
      data-pointer={toPointer(path)}
      legend={
        <Group gap={6} wrap="nowrap">
          <Text size="sm" fw={600} component="span">
            <Untrusted text={field.title ?? name} />
            {required && ' *'}
          </Text>
          <Unset field={field} name={name} path={path} value={value} required={required} />
        </Group>
      }
      p="sm"
    >
      {field.description !== undefined && (
        <Text size="xs" c="dimmed" mb="xs">
          <Untrusted text={field.description} most={600} />
        </Text>
      )}
      {children}
      {error !== undefined && <Input.Error mt={4}>{error}</Input.Error>}
    </Fieldset>
  )
}

/** What holds when it is not set; or the way back there. */
function Unset({ field, name, path, value, required }: FieldProps) {
  const t = useWords(words)
  const { set } = useForm()
  if (value === undefined) {
    if (required && field.default === undefined) return null
    return (
      <Text size="xs" c="dimmed" component="span">
        {field.default === undefined ? (
          t('notSet')
        ) : (
          <Untrusted text={t('defaultIs', { value: cutGraphemes(JSON.stringify(field.default), 60) })} />
        )}
      </Text>
    )
  }
  if (path.length === 0) return null
  const label = t('unset', { name: field.title ?? name })
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={label}
        onClick={() => set(path, undefined)}
      >
        <Undo2 size={14} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function UnionField({ field, name, path, value }: FieldProps<Field & { kind: 'union' }>) {
  const t = useWords(words)
  const { set } = useForm()
  const index = optionOf(field.options, value)
  const option = field.options[index]
  return (
    <Stack gap="sm">
      <NativeSelect
        aria-label={t('option', { name })}
        value={value === null ? 'null' : String(index)}
        onChange={event => {
          const chosen = event.currentTarget.value
          const next = field.options[Number(chosen)]
          set(path, chosen === 'null' ? null : next === undefined ? undefined : startOf(next))
        }}
        data={[
          { value: '-1', label: t('notSet') },
          ...(field.nullable ? [{ value: 'null', label: t('isNull') }] : []),
          ...field.options.map((each, number) => ({
            value: String(number),
            label: visibleLine(nameOfOption(each, number), 120),
          })),
        ]}
      />
      {option !== undefined && (
        <FieldView field={option} name={name} path={path} value={value} required bare />
      )}
    </Stack>
  )
}
