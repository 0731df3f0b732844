import { Button, Drawer, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { appendToml } from '../../components/config-file/toml-edit.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

const KINDS = ['openai-compatible', 'anthropic', 'openai', 'google']

/** Where a key can be; the key itself is never asked for. */
const SOURCES = ['env', 'file', 'keychain', 'noKey'] as const
type Source = (typeof SOURCES)[number]
const EXAMPLES = { env: 'LOCAL_API_KEY', file: '~/.keys/local', keychain: 'kogu-local' } as const

/** Makes the lines for the configuration; they are reviewed as a difference before they are saved. */
export function AddProvider({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useWords(words)
  const [kind, setKind] = useState(KINDS[0] ?? '')
  const [source, setSource] = useState<Source>('env')
  const [fields, setFields] = useState({ name: '', address: '', key: '', model: '' })
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
          <Select
            label={t('keySource')}
            data={SOURCES.map(value => ({ value, label: t(value) }))}
            value={source}
            onChange={value => setSource(SOURCES.find(each => each === value) ?? source)}
            allowDeselect={false}
          />
          {source !== 'noKey' && (
            <TextInput
              label={t('keyName')}
              description={t('keyNameHint')}
              placeholder={EXAMPLES[source]}
              value={fields.key}
              onChange={set('key')}
            />
          )}
          <TextInput label={t('modelName')} value={fields.model} onChange={set('model')} />
          <Text size="sm" c="dimmed">
            {t('afterwards')}
          </Text>
          <Group justify="flex-end">
            <Button
              disabled={!isNamed || (source !== 'noKey' && fields.key === '')}
              onClick={() => setReviewing(true)}
            >
              {t('next')}
            </Button>
          </Group>
        </Stack>
      </Drawer>
      <ConfigFileDrawer
        layer="user"
        opened={opened && reviewing}
        onClose={close}
        propose={text => appendToml(text, toToml(kind, source, fields))}
      />
    </>
  )
}

function toToml(
  kind: string,
  source: Source,
  { name, address, key, model }: { name: string; address: string; key: string; model: string },
): string {
  return [
    `[providers.${name}]`,
    `kind = ${JSON.stringify(kind)}`,
    ...(address === '' ? [] : [`base_url = ${JSON.stringify(address)}`]),
    ...(source === 'noKey' ? [] : [`api_key = { ${source} = ${JSON.stringify(key)} }`]),
    ...(model === '' ? [] : ['', `[providers.${name}.models.${JSON.stringify(model)}]`, 'price = "unknown"']),
    '',
  ].join('\n')
}
