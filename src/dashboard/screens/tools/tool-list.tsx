import { Badge, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { OutcomeBadge, ToolRiskBadge } from '../../components/badges.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import type { Verdict } from './types.ts'
import { words } from './words.ts'

export function ToolList() {
  const t = useWords(words)
  const tools = useGet<Tool[]>('tools', '/api/tools')
  const verdicts = useGet<Verdict[]>('tools', '/api/tools/verdicts')
  const [text, setText] = useUrlState('text')
  const [provider, setProvider] = useUrlState('from')
  const columns: readonly Column<Tool>[] = [
    { key: 'name', label: t('name'), phone: 'title', render: ({ name }) => <Untrusted text={name} /> },
    { key: 'category', label: t('category'), render: ({ title }) => <Untrusted text={title} most={80} /> },
    { key: 'risk', label: t('risk'), phone: 'hide', render: ({ risk }) => <ToolRiskBadge risk={risk} /> },
    {
      key: 'rules',
      label: t('rules'),
      render: ({ name }) => {
        const found = verdicts.data?.find(({ tool }) => tool === name)
        return found === undefined ? null : <OutcomeBadge outcome={found.outcome} />
      },
    },
    { key: 'from', label: t('provider'), phone: 'hide', render: tool => <Untrusted text={tool.provider} /> },
    {
      key: 'state',
      label: t('state'),
      render: ({ enabled }) => (
        <Badge color={enabled ? 'green' : 'gray'}>{enabled ? t('enabled') : t('disabled')}</Badge>
      ),
    },
  ]
  return (
    <DataRegion query={tools}>
      {list => {
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
                data={[{ value: '', label: t('all') }, ...providers.map(value => ({ value, label: value }))]}
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
