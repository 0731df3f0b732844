import { Alert, Button, Text } from '@mantine/core'
import { Plug, Plus } from 'lucide-react'
import { useState } from 'react'
import { useParams } from 'wouter'
import { useGet } from '../../api/api.ts'
import { CopyText } from '../../components/copy-text.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { AddServer } from './add-server.tsx'
import { ServerBadge } from './server-badge.tsx'
import { ServerView } from './server-view.tsx'
import type { McpServer } from './types.ts'
import { words } from './words.ts'

export default function McpScreen() {
  const { server } = useParams<{ server?: string }>()
  return server === undefined ? <ServerList /> : <ServerView key={server} name={server} />
}

function ServerList() {
  const t = useWords(words)
  const format = useFormat()
  const servers = useGet<McpServer[]>('mcp', '/api/mcp/servers')
  const [adding, setAdding] = useState(false)
  const columns: readonly Column<McpServer>[] = [
    { key: 'name', label: t('name'), phone: 'title', render: ({ name }) => <Untrusted text={name} /> },
    { key: 'state', label: t('state'), render: server => <ServerBadge server={server} /> },
    {
      key: 'kind',
      label: t('kind'),
      phone: 'hide',
      render: ({ kind, sandbox }) =>
        sandbox === null ? kind : `${kind} · ${sandbox ? t('sandbox') : t('noSandbox')}`,
    },
    { key: 'tools', label: t('tools'), align: 'right', render: ({ tools }) => format.number(tools) },
    {
      key: 'cost',
      label: t('cost'),
      align: 'right',
      phone: 'hide',
      render: ({ tokens }) => t('tokens', { count: tokens }),
    },
    {
      key: 'calls',
      label: t('calls'),
      align: 'right',
      phone: 'hide',
      render: ({ calls, failures }) =>
        failures === 0
          ? format.number(calls)
          : `${format.number(calls)} (${t('failures', { count: failures })})`,
    },
  ]
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      {t('add')}
    </Button>
  )
  const url = `${window.location.origin}/mcp`
  return (
    <Page title={t('title')} intro={t('intro')} actions={add}>
      <DataRegion
        query={servers}
        isEmpty={list => list.length === 0}
        empty={
          <Empty icon={<Plug size={32} aria-hidden />} title={t('empty')} action={add}>
            {t('emptyHint')}
          </Empty>
        }
      >
        {list => (
          <DataTable
            label={t('title')}
            columns={columns}
            rows={list}
            rowKey={({ name }) => name}
            href={({ name }) => routes.mcp(name)}
          />
        )}
      </DataRegion>
      <Alert color="gray" title={t('connect')}>
        <Text size="sm" mb="xs">
          {t('connectHint', { url })}
        </Text>
        <CopyText text={url} />
      </Alert>
      <AddServer opened={adding} onClose={() => setAdding(false)} />
    </Page>
  )
}
