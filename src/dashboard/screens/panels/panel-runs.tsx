import { Activity } from 'lucide-react'
import { useGet } from '../../api/api.ts'
import type { Page, Run } from '../../api/types.ts'
import { RunBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes } from '../../routes.ts'
import { words } from './words.ts'

export function PanelRuns({ name }: { name: string }) {
  const t = useWords(words)
  const format = useFormat()
  const runs = useGet<Page<Run>>('runs', `/api/runs?agent=${inAddress(name)}&limit=20`)
  return (
    <DataRegion
      query={runs}
      isEmpty={({ items }) => items.length === 0}
      empty={<Empty icon={<Activity size={28} aria-hidden />} title={t('noRuns')} guide="agents" />}
    >
      {({ items }) => (
        <DataTable
          label={t('runs')}
          rows={items}
          rowKey={({ id }) => id}
          href={({ id }) => routes.run(id)}
          columns={[
            {
              key: 'task',
              label: t('task'),
              phone: 'title',
              render: ({ task }) => <Untrusted text={task} most={60} />,
            },
            { key: 'state', label: t('state'), render: run => <RunBadge run={run} /> },
            {
              key: 'cost',
              label: t('cost'),
              align: 'right',
              render: ({ cost_usd }) => format.money(cost_usd, t('unknownCost')),
            },
            {
              key: 'at',
              label: t('started'),
              align: 'right',
              render: ({ created_at }) => format.ago(created_at),
            },
          ]}
        />
      )}
    </DataRegion>
  )
}
