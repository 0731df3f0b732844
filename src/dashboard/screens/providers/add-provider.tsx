import { Button, Drawer, Group, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { appendToml } from '../../components/config-file/toml-edit.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

const KINDS = ['openai-compatible', 'anthropic', 'openai', 'google']

/** Makes the lines for the configuration; they are reviewed as a difference before they are saved. */
export function AddProvider({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useWords(words)
  const [kind, setKind] = useState(KINDS[0] ?? '')
  const [fields, setFields] = useState({ name: '', address: '', variable: '', model: '' })
  const [reviewing, setReviewing] = useState(false)
  const set = (key: keyof typeof fields) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget
    setFields(before => ({ ...before, [key]: value }))
  }
  const isNamed = /^[A-Za-z][\w-]*$/.test(fields.name)
  const close = (): void => {
    setReviewing(false)
    onClose()
  }
  return (
    <>
      <Drawer opened={opened && !reviewing} onClose={onClose} title={t('add')}>
        <Stack>
          <TextInput label={t('name')} value={fields.name} onChange={set('name')} required />
          <Select
            label={t('kind')}
            data={KINDS}
            value={kind}
            onChange={value => setKind(value ?? kind)}
            allowDeselect={false}
          />
          <TextInput
            label={t('address')}
            description={t('addressHint')}
            placeholder="http://127.0.0.1:11434/v1"
            value={fields.address}
            onChange={set('address')}
          />
          <TextInput
            label={t('keyVariable')}
            description={t('keyVariableHint')}
            placeholder="LOCAL_API_KEY"
            value={fields.variable}
            onChange={set('variable')}
          />
          <TextInput label={t('modelName')} value={fields.model} onChange={set('model')} />
          <Group justify="flex-end">
            <Button disabled={!isNamed} onClick={() => setReviewing(true)}>
              {t('next')}
            </Button>
          </Group>
        </Stack>
      </Drawer>
      <ConfigFileDrawer
        layer="user"
        opened={opened && reviewing}
        onClose={close}
        propose={text => appendToml(text, toToml(kind, fields))}
      />
    </>
  )
}

function toToml(
  kind: string,
  { name, address, variable, model }: { name: string; address: string; variable: string; model: string },
): string {
  return [
    `[providers.${name}]`,
    `kind = ${JSON.stringify(kind)}`,
    ...(address === '' ? [] : [`base_url = ${JSON.stringify(address)}`]),
    ...(variable === '' ? [] : [`api_key = { env = ${JSON.stringify(variable)} }`]),
    ...(model === '' ? [] : ['', `[providers.${name}.models.${JSON.stringify(model)}]`, 'price = "unknown"']),
    '',
  ].join('\n')
}
