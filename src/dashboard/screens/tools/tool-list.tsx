import { Anchor, Badge, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { Plug } from 'lucide-react'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { OutcomeBadge, ToolRiskBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted, visibleLine } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import type { DynamicList, Verdict } from './types.ts'
import { words } from './words.ts'

/** Those of MCP servers, or all that are there without one. What models made has a list of its own. */
export function ToolList({ from }: { from: 'kogu' | 'servers' }) {
  const t = useWords(words)
  const tools = useGet<Tool[]>('tools', '/api/tools')
  const made = useGet<DynamicList>('tools', '/api/dynamic-tools')
  const isMade = (name: string): boolean => made.data?.items.some(tool => tool.name === name) === true
  const verdicts = useGet<Verdict[]>('tools', '/api/tools/verdicts')
  const [text, setText] = useUrlState('text')
  const [provider, setProvider] = useUrlState('from')
  const isHere = ({ provider: of, name }: Tool): boolean =>
    isOfServer(of) === (from === 'servers') && !(of === 'dynamic' && isMade(name))
  const sourceOf = (id: string): string => (isSource(id) ? t(id) : id.replace(/^mcp:/, ''))
  const columns: readonly Column<Tool>[] = [
    { key: 'name', label: t('name'), phone: 'title', render: ({ name }) => <Untrusted text={name} /> },
    { key: 'does', label: t('does'), render: ({ title }) => <Untrusted text={title} most={80} /> },
    { key: 'risk', label: t('risk'), phone: 'hide', render: ({ risk }) => <ToolRiskBadge risk={risk} /> },
    {
      key: 'rules',
      label: t('rules'),
      render: ({ name }) => {
        const found = verdicts.data?.find(({ tool }) => tool === name)
        return found === undefined ? null : <OutcomeBadge outcome={found.outcome} />
      },
    },
    {
      key: 'from',
      label: t('provider'),
      phone: 'hide',
      render: tool => <Untrusted text={sourceOf(tool.provider)} />,
    },
    {
      key: 'state',
      label: t('state'),
      render: ({ enabled }) => (
        <Badge color={enabled ? 'green' : 'gray'}>{enabled ? t('enabled') : t('disabled')}</Badge>
      ),
    },
  ]
  return (
    <DataRegion query={tools} isEmpty={all => all.filter(isHere).length === 0} empty={<NoServers />}>
      {all => {
        const list = all.filter(isHere)
        const providers = [...new Set(list.map(tool => tool.provider))]
        const wanted = list
          .filter(tool => provider === '' || tool.provider === provider)
          .filter(({ name, aliases, title }) =>
            [name, title, ...aliases].some(word => word.toLowerCase().includes(text.toLowerCase())),
          )
        return (
          <Stack gap="sm">
            <Group>
              <TextInput
                aria-label={t('search')}
                placeholder={t('search')}
                value={text}
                onChange={event => setText(event.currentTarget.value, { replace: true })}
                style={{ flex: '1 1 240px' }}
                data-filter
              />
              <Select
                aria-label={t('provider')}
                data={[
                  { value: '', label: t('all') },
                  ...providers.map(value => ({ value, label: visibleLine(sourceOf(value), 60) })),
                ]}
                value={provider}
                onChange={value => setProvider(value ?? '')}
                allowDeselect={false}
              />
            </Group>
            {wanted.length === 0 ? (
              <Text c="dimmed">{t('noMatch')}</Text>
            ) : (
              <DataTable
                label={t('title')}
                columns={columns}
                rows={wanted}
                rowKey={({ name }) => name}
                href={({ name }) => routes.tool(name)}
              />
            )}
          </Stack>
        )
      }}
    </DataRegion>
  )
}

/** Providers that Kogu brings along, by their ids. */
const SOURCES = ['builtin', 'custom', 'script', 'cli', 'dynamic'] as const

function isSource(id: string): id is (typeof SOURCES)[number] {
  return SOURCES.some(source => source === id)
}

function isOfServer(provider: string): boolean {
  return provider.startsWith('mcp:')
}

function NoServers() {
  const t = useWords(words)
  return (
    <Empty
      icon={<Plug size={32} aria-hidden />}
      title={t('noServers')}
      guide="mcp"
      action={
        <Anchor component={Link} href={routes.mcp()}>
          {t('toServers')}
        </Anchor>
      }
    >
      {t('noServersHint')}
    </Empty>
  )
}
