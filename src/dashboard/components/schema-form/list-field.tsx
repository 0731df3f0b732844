import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core'
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import { useWords } from '../../i18n/language.tsx'
import type { Field } from './fields.ts'
import { type FieldProps, type InnerView, useForm } from './form-context.ts'
import { startOf } from './values.ts'
import { words } from './words.ts'

/** One card for each item, moved by buttons. */
export function ListField({
  field,
  name,
  path,
  value,
  View,
}: FieldProps<Field & { kind: 'list' }> & InnerView) {
  const t = useWords(words)
  const { set } = useForm()
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  const replace = (next: readonly unknown[]): void => set(path, next)
  const move = (from: number, to: number): void => {
    const others = items.filter((_, index) => index !== from)
    replace(others.toSpliced(to, 0, items[from]))
  }
  return (
    <Stack gap="xs">
      {items.map((item, index) => {
        const own = t('item', { name, number: index + 1 })
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place; it has no other name
          <div key={index} className="kogu-card" style={{ padding: 10 }}>
            <Group justify="space-between" mb={6} wrap="nowrap">
              <Text size="xs" c="dimmed">
                {own}
              </Text>
              <Group gap={2} wrap="nowrap">
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('up', { name: own })}
                  disabled={index === 0}
                  onClick={() => move(index, index - 1)}
                >
                  <ArrowUp size={14} aria-hidden />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('down', { name: own })}
                  disabled={index === items.length - 1}
                  onClick={() => move(index, index + 1)}
                >
                  <ArrowDown size={14} aria-hidden />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('remove', { name: own })}
                  onClick={() => replace(items.filter((_, other) => other !== index))}
                >
                  <Trash2 size={14} aria-hidden />
                </ActionIcon>
              </Group>
            </Group>
            <View field={field.items} name={own} path={[...path, index]} value={item} required bare />
          </div>
        )
      })}
      <Button
        variant="default"
        size="compact-sm"
        style={{ alignSelf: 'flex-start' }}
        leftSection={<Plus size={14} aria-hidden />}
        disabled={field.max !== undefined && items.length >= field.max}
        onClick={() => replace([...items, startOf(field.items)])}
      >
        {t('addTo', { name })}
      </Button>
    </Stack>
  )
}
