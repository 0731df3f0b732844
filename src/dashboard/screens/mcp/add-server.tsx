import { Button, Drawer, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { appendToml } from '../../components/config-file/toml-edit.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

/** Makes the lines for the configuration. Saving them starts nothing: the server is trusted afterwards, on its own page. */
export function AddServer({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useWords(words)
  const [name, setName] = useState('')
  const [command, setCommand] = useState('')
  const [address, setAddress] = useState('')
  const [reviewing, setReviewing] = useState(false)
  const parsed = toWords(command)
  const isReady = /^[A-Za-z][\w-]*$/.test(name) && parsed.length > 0 !== (address !== '')
  const toml = [
    `[mcp.${name}]`,
    parsed.length > 0 ? `command = ${JSON.stringify(parsed)}` : `url = ${JSON.stringify(address)}`,
    '',
  ].join('\n')
  return (
    <>
      <Drawer opened={opened && !reviewing} onClose={onClose} title={t('add')}>
        <Stack>
          <Text size="sm">{t('either')}</Text>
          <TextInput
            label={t('name')}
            value={name}
            onChange={event => setName(event.currentTarget.value)}
            required
          />
          <TextInput
            label={t('command')}
            description={t('commandHint')}
            placeholder="npx -y @modelcontextprotocol/server-filesystem ."
            value={command}
            onChange={event => setCommand(event.currentTarget.value)}
          />
          <TextInput
            label={t('address')}
            placeholder="https://mcp.example.com/mcp"
            value={address}
            onChange={event => setAddress(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button disabled={!isReady} onClick={() => setReviewing(true)}>
              {t('next')}
            </Button>
          </Group>
        </Stack>
      </Drawer>
      <ConfigFileDrawer
        layer="user"
        opened={opened && reviewing}
        onClose={() => {
          setReviewing(false)
          onClose()
        }}
        propose={text => appendToml(text, toml)}
      />
    </>
  )
}

/** Words of a command line; quotes keep spaces together, and nothing else means anything. */
function toWords(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
}
