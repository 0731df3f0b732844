import { ActionIcon, Button, Fieldset, Group, Stack } from '@mantine/core'
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import { useWords } from '../../i18n/language.tsx'
import { Untrusted } from '../untrusted.tsx'
import { words } from '../words.ts'
import { startOf } from './object-field.tsx'
import type { Schema } from './read-schema.ts'
import type { SchemaFieldProps } from './schema-field.tsx'

export function ListField({
  context,
  pointer,
  value,
  onChange,
  item,
  label,
}: SchemaFieldProps & { item: Schema; label: string }) {
  const t = useWords(words)
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  const replace = (next: readonly unknown[]): void => onChange(next.length === 0 ? undefined : next)
  const move = (from: number, to: number): void => {
    const next = [...items]
    next.splice(to, 0, ...next.splice(from, 1))
    replace(next)
  }
  return (
    <Fieldset legend={<Untrusted text={label} />}>
      <Stack gap="sm">
        {items.map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no id but their place
          <Group key={index} wrap="nowrap" align="flex-start" gap="xs">
            <div style={{ flex: 1, minWidth: 0 }}>
              {context.render({
                ...{ context, schema: item, required: true },
                name: String(index + 1),
                pointer: `${pointer}/${index}`,
                value: each,
                onChange: next => replace(items.with(index, next)),
              })}
            </div>
            <Stack gap={4}>
              <ActionIcon
                variant="default"
                disabled={index === 0}
                aria-label={t('up')}
                onClick={() => move(index, index - 1)}
              >
                <ArrowUp size={14} aria-hidden />
              </ActionIcon>
              <ActionIcon
                variant="default"
                disabled={index === items.length - 1}
                aria-label={t('down')}
                onClick={() => move(index, index + 1)}
              >
                <ArrowDown size={14} aria-hidden />
              </ActionIcon>
              <ActionIcon
                variant="default"
                aria-label={t('remove')}
                onClick={() => replace(items.toSpliced(index, 1))}
              >
                <Trash2 size={14} aria-hidden />
              </ActionIcon>
            </Stack>
          </Group>
        ))}
        <Button
          variant="default"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => replace([...items, startOf(item)])}
        >
          {t('add')}
        </Button>
      </Stack>
    </Fieldset>
  )
}
