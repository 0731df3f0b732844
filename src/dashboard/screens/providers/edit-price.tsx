import { Button, Drawer, Group, NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { setTomlKey, toTomlKey } from '../../components/config-file/toml-edit.ts'
import { useWords } from '../../i18n/language.tsx'
import type { Model } from './types.ts'
import { words } from './words.ts'

const PARTS = ['input', 'cached', 'output'] as const

/** Makes the line for the person's own configuration; it is reviewed as a difference before it is saved. */
export function EditPrice({ model, onClose }: { model: Model | undefined; onClose: () => void }) {
  const t = useWords(words)
  return (
    <Drawer
      opened={model !== undefined}
      onClose={onClose}
      title={t('editPrice')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {model !== undefined && <PriceForm key={model.id} model={model} onClose={onClose} />}
    </Drawer>
  )
}

function PriceForm({ model, onClose }: { model: Model; onClose: () => void }) {
  const t = useWords(words)
  const [values, setValues] = useState<Readonly<Record<string, string | number>>>(() =>
    model.price === null ? {} : { ...model.price },
  )
  const [reviewing, setReviewing] = useState(false)
  const price = Object.fromEntries(PARTS.map(part => [part, Number(values[part] ?? Number.NaN)]))
  const isWhole = PARTS.every(part => values[part] !== '' && Number.isFinite(price[part]))
  const provider = model.id.slice(0, model.id.length - model.name.length - 1)
  return (
    <Stack>
      <Text size="sm">{t('perMillion')}</Text>
      {PARTS.map(part => (
        <NumberInput
          key={part}
          label={`${t(part)} (USD)`}
          min={0}
          decimalScale={6}
          hideControls
          value={values[part] ?? ''}
          onChange={value => setValues(before => ({ ...before, [part]: value }))}
        />
      ))}
      <Group justify="flex-end">
        <Button disabled={!isWhole} onClick={() => setReviewing(true)}>
          {t('next')}
        </Button>
      </Group>
      <ConfigFileDrawer
        layer="user"
        opened={reviewing}
        onClose={() => {
          setReviewing(false)
          onClose()
        }}
        propose={text =>
          setTomlKey(text, `providers.${toTomlKey(provider)}.models.${toTomlKey(model.name)}`, 'price', price)
        }
      />
    </Stack>
  )
}
