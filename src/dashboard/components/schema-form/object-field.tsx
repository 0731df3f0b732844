import { Accordion, ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { isEnter } from '../is-enter.ts'
import { Untrusted } from '../untrusted.tsx'
import { type Field, isSchema, type Property } from './fields.ts'
import { type FieldProps, type InnerView, useForm } from './form-context.ts'
import { isFreeKey, otherKeys, startOf } from './values.ts'
import { words } from './words.ts'

type ObjectProps = FieldProps<Field & { kind: 'object' }> & InnerView

/** Its own fields, groups of rarer ones folded, then keys that somebody chose. */
export function ObjectField(props: ObjectProps) {
  const t = useWords(words)
  const { set } = useForm()
  const { field, name, path, value, required, View } = props
  if (value === undefined && !required)
    return (
      <Button variant="default" size="compact-sm" onClick={() => set(path, startOf(field))}>
        {t('set', { name: field.title ?? name })}
      </Button>
    )
  const groups = Map.groupBy(field.fields, ({ group }) => group)
  const show = (fields: readonly Property[]) =>
    fields.map(each => (
      <View
        key={each.name}
        field={each.field}
        name={each.name}
        path={[...path, each.name]}
        value={isSchema(value) && Object.hasOwn(value, each.name) ? value[each.name] : undefined}
        required={each.required}
      />
    ))
  const folded = [...groups].filter((entry): entry is [string, Property[]] => entry[0] !== null)
  return (
    <Stack gap="md">
      {show(groups.get(null) ?? [])}
      {folded.length > 0 && (
        <Accordion multiple variant="separated">
          {folded.map(([group, fields]) => (
            <Accordion.Item key={group} value={group}>
              <Accordion.Control>
                <Untrusted text={group} /> ({fields.length})
              </Accordion.Control>
              <Accordion.Panel>
                <Stack gap="md">{show(fields)}</Stack>
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
      <Keys {...props} />
    </Stack>
  )
}

/** The entries of a map; of any other object, keys that its schema does not name. */
function Keys({ field, name, path, value, View }: ObjectProps) {
  const t = useWords(words)
  const { set } = useForm()
  const keys = otherKeys(field, value)
  const entry: Field = field.extra ?? { kind: 'json', reason: 'unknown', nullable: false }
  if (keys.length === 0 && field.extra === null) return null
  return (
    <Stack gap="sm">
      {field.extra === null && (
        <Text size="sm" fw={600}>
          {t('otherKeys')}
        </Text>
      )}
      {keys.map(key => (
        <Group key={key} align="flex-end" wrap="nowrap" gap="xs">
          <div style={{ flex: 1, minWidth: 0 }}>
            <View
              field={entry}
              name={key}
              path={[...path, key]}
              value={isSchema(value) ? value[key] : undefined}
              required
            />
          </div>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t('remove', { name: key })}
            onClick={() => set([...path, key], undefined)}
          >
            <Trash2 size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {field.extra !== null && (
        <NewKey
          name={field.title ?? name}
          isFree={key => isFreeKey(field, value, key)}
          onAdd={key => set([...path, key], startOf(entry))}
        />
      )}
    </Stack>
  )
}

function NewKey({
  name,
  isFree,
  onAdd,
}: {
  name: string
  isFree: (key: string) => boolean
  onAdd: (key: string) => void
}) {
  const t = useWords(words)
  const [key, setKey] = useState('')
  const add = (): void => {
    if (!isFree(key)) return
    onAdd(key)
    setKey('')
  }
  return (
    <Group gap="xs" wrap="nowrap">
      <TextInput
        style={{ flex: 1 }}
        aria-label={t('addKey', { name })}
        placeholder={t('addKey', { name })}
        value={key}
        onChange={event => setKey(event.currentTarget.value)}
        onKeyDown={event => {
          if (!isEnter(event.nativeEvent)) return
          event.preventDefault()
          add()
        }}
      />
      <Button
        variant="default"
        leftSection={<Plus size={14} aria-hidden />}
        disabled={!isFree(key)}
        onClick={add}
      >
        {t('add')}
      </Button>
    </Group>
  )
}
