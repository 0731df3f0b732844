import { Alert, Stack, Text } from '@mantine/core'
import { Boxes } from 'lucide-react'
import { useGet } from '../../api/api.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { Author, Score, StatusBadge, sayTests } from './dynamic-badges.tsx'
import type { DynamicTool, DynamicList as Loaded } from './types.ts'
import { words } from './words.ts'

export function DynamicList() {
  const t = useWords(words)
  const format = useFormat()
  const made = useGet<Loaded>('tools', '/api/dynamic-tools')
  const columns: readonly Column<DynamicTool>[] = [
    { key: 'name', label: t('name'), phone: 'title', render: ({ name }) => <Untrusted text={name} /> },
    { key: 'version', label: t('version'), align: 'right', phone: 'hide', render: tool => tool.version },
    { key: 'state', label: t('state'), render: ({ status }) => <StatusBadge status={status} /> },
    { key: 'safety', label: t('safety'), align: 'right', render: ({ safety }) => <Score value={safety} /> },
    {
      key: 'quality',
      label: t('quality'),
      align: 'right',
      render: ({ quality }) => <Score value={quality} />,
    },
    { key: 'tests', label: t('tests'), align: 'right', render: tool => sayTests(tool) ?? t('notMeasured') },
    {
      key: 'uses',
      label: t('uses30'),
      align: 'right',
      phone: 'hide',
      render: tool => format.number(tool.uses_30d),
    },
    {
      key: 'errors',
      label: t('errorRate'),
      align: 'right',
      phone: 'hide',
      render: ({ metrics }) =>
        metrics.successRate === null ? t('notMeasured') : format.percent(1 - metrics.successRate),
    },
    {
      key: 'times',
      label: t('times'),
      align: 'right',
      phone: 'hide',
      render: ({ metrics }) =>
        metrics.medianMs === null
          ? t('notMeasured')
          : `${format.duration(metrics.medianMs)} / ${format.duration(metrics.p95Ms ?? metrics.medianMs)}`,
    },
    { key: 'author', label: t('author'), phone: 'hide', render: tool => <Author tool={tool} /> },
    { key: 'changed', label: t('changed'), phone: 'hide', render: tool => format.ago(tool.updated_at) },
  ]
  return (
    <DataRegion
      query={made}
      isEmpty={({ items, problems }) => items.length === 0 && problems.length === 0}
      empty={<NoTools enabled={made.data?.enabled === true} />}
    >
      {({ items, problems }) => (
        <Stack gap="sm">
          {problems.length > 0 && (
            <Alert color="yellow">
              {problems.map(problem => (
                <Text size="sm" key={problem}>
                  <Untrusted text={problem} most={600} />
                </Text>
              ))}
            </Alert>
          )}
          <DataTable
            label={t('dynamic')}
            columns={columns}
            rows={items}
            rowKey={({ id }) => id}
            href={({ name }) => routes.tool(name)}
          />
        </Stack>
      )}
    </DataRegion>
  )
}

function NoTools({ enabled }: { enabled: boolean }) {
  const t = useWords(words)
  return (
    <Empty
      icon={<Boxes size={32} aria-hidden />}
      title={enabled ? t('none') : t('offTitle')}
      guide="dynamic-tools"
    >
      {enabled ? t('noneHint') : t('offHint')}
    </Empty>
  )
}
