import { Alert, Button, Group, Text } from '@mantine/core'
import { Download, Plug, Plus } from 'lucide-react'
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
import { ImportServers } from './import-servers.tsx'
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
  const [importing, setImporting] = useState(false)
  const total = (servers.data ?? []).reduce((sum, { tokens }) => sum + tokens, 0)
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
    {
      key: 'tools',
      label: t('tools'),
      align: 'right',
      render: ({ tools, off }) =>
        off === 0 ? format.number(tools) : `${format.number(tools)} (${t('toolsOff', { count: off })})`,
    },
    {
      key: 'p50',
      label: t('p50'),
      align: 'right',
      phone: 'hide',
      render: ({ p50Ms }) => (p50Ms === null ? '–' : format.duration(p50Ms)),
    },
    {
      key: 'cost',
      label: t('cost'),
      align: 'right',
      phone: 'hide',
      render: ({ tokens }) =>
        total === 0
          ? t('tokens', { count: tokens })
          : `${t('tokens', { count: tokens })} · ${t('share', { percent: format.percent(tokens / total) })}`,
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
    <Group gap="xs">
      <Button
        variant="default"
        leftSection={<Download size={16} aria-hidden />}
        onClick={() => setImporting(true)}
      >
        {t('import')}
      </Button>
      <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
        {t('add')}
      </Button>
    </Group>
  )
  const url = `${window.location.origin}/mcp`
  return (
    <Page title={t('title')} intro={t('intro')} actions={add}>
      <DataRegion
        query={servers}
        isEmpty={list => list.length === 0}
        empty={
          <Empty icon={<Plug size={32} aria-hidden />} title={t('empty')} action={add} guide="mcp">
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
      {total > 0 && (
        <Text size="sm" c="dimmed">
          {t('totalCost', { count: total })}
        </Text>
      )}
      <Alert color="gray" title={t('connect')}>
        <Text size="sm" mb="xs">
          {t('connectHint', { url })}
        </Text>
        <CopyText text={url} />
      </Alert>
      <ImportServers opened={importing} onClose={() => setImporting(false)} />
      <AddServer opened={adding} onClose={() => setAdding(false)} />
    </Page>
  )
}
