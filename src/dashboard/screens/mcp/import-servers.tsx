import { Button, Drawer, Group, List, Stack, Text, Textarea, Title } from '@mantine/core'
import { useState } from 'react'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { appendToml } from '../../components/config-file/toml-edit.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

interface Imported {
  readonly name: string
  readonly about: string
  readonly toml: string
  readonly left_out: readonly string[]
}

/** Servers of other clients, pasted or found. Saving their lines starts nothing: each is trusted afterwards, on its own page. */
export function ImportServers({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useWords(words)
  const [text, setText] = useState('')
  const [chosen, choose] = useState<Imported>()
  const found = useGet<{ path: string; servers: Imported[] }[]>('mcp', '/api/mcp/import/found', {
    enabled: opened,
  })
  const read = useAction(() => request<Imported[]>('POST', '/api/mcp/import', { text }), {
    topics: [],
    quiet: true,
  })
  const close = (): void => {
    choose(undefined)
    onClose()
  }
  return (
    <>
      <Drawer
        opened={opened && chosen === undefined}
        onClose={onClose}
        size="lg"
        title={t('importTitle')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Stack>
          <Textarea
            label={t('pasted')}
            description={t('importHint')}
            placeholder={'{ "mcpServers": { … } }'}
            value={text}
            onChange={event => setText(event.currentTarget.value)}
            autosize
            minRows={6}
            maxRows={16}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
          />
          <Group justify="flex-end">
            <Button disabled={text.trim() === ''} loading={read.isPending} onClick={() => read.mutate()}>
              {t('read')}
            </Button>
          </Group>
          {read.error !== null && <ErrorCard error={read.error} />}
          {read.data !== undefined && <Servers servers={read.data} onChoose={choose} />}
          {(found.data ?? []).length > 0 && <Title order={2}>{t('found')}</Title>}
          {(found.data ?? []).map(({ path, servers }) => (
            <section key={path} aria-label={path}>
              <Text size="sm" c="dimmed">
                <Untrusted text={path} />
              </Text>
              <Servers servers={servers} onChoose={choose} />
            </section>
          ))}
        </Stack>
      </Drawer>
      <ConfigFileDrawer
        layer="user"
        opened={opened && chosen !== undefined}
        onClose={close}
        propose={before => appendToml(before, chosen?.toml ?? '')}
      />
    </>
  )
}

function Servers({
  servers,
  onChoose,
}: {
  servers: readonly Imported[]
  onChoose: (server: Imported) => void
}) {
  const t = useWords(words)
  if (servers.length === 0) return <Text size="sm">{t('noServers')}</Text>
  return servers.map(server => (
    <div key={server.name} className="kogu-card" style={{ padding: 'var(--mantine-spacing-sm)' }}>
      <Group justify="space-between">
        <Text fw={600} size="sm">
          <Untrusted text={server.name} />
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`${t('take')} ${server.name}`}
          onClick={() => onChoose(server)}
        >
          {t('take')}
        </Button>
      </Group>
      <UntrustedBlock text={server.about} label={server.name} />
      {server.left_out.length > 0 && (
        <>
          <Text size="sm">{t('leftOut')}</Text>
          <List size="sm">
            {server.left_out.map(line => (
              <List.Item key={line}>
                <Untrusted text={line} />
              </List.Item>
            ))}
          </List>
        </>
      )}
    </div>
  ))
}
