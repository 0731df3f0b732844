import { Group } from '@mantine/core'
import { PanelsTopLeft } from 'lucide-react'
import { useGet } from '../../api/api.ts'
import { RunBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { NewPanel } from './new-panel.tsx'
import { TrustBadge } from './trust-badge.tsx'
import type { Panel } from './types.ts'
import { words } from './words.ts'

export function PanelList() {
  const t = useWords(words)
  const format = useFormat()
  const panels = useGet<Panel[]>('panels', '/api/panels')
  const columns: readonly Column<Panel>[] = [
    { key: 'name', label: t('name'), phone: 'title', render: ({ name }) => <Untrusted text={name} /> },
    { key: 'state', label: t('state'), render: ({ state }) => <TrustBadge state={state} /> },
    {
      key: 'model',
      label: t('model'),
      render: ({ settings }) => <Untrusted text={settings?.model ?? t('defaultModel')} />,
    },
    {
      key: 'orchestration',
      label: t('orchestration'),
      phone: 'hide',
      render: ({ settings }) => t(settings?.orchestration ?? 'none'),
    },
    {
      key: 'tools',
      label: t('tools'),
      phone: 'hide',
      align: 'right',
      render: ({ settings }) =>
        format.number(Object.values(settings?.tools ?? {}).filter(({ enabled }) => enabled !== false).length),
    },
    {
      key: 'last',
      label: t('lastRun'),
      render: ({ last_run: run }) => (run === null ? t('never') : <RunBadge run={run} />),
    },
  ]
  return (
    <Page title={t('panels')} intro={t('intro')} actions={<NewPanel />}>
      <DataRegion
        query={panels}
        isEmpty={list => list.length === 0}
        empty={
          <Empty
            icon={<PanelsTopLeft size={32} aria-hidden />}
            title={t('intro')}
            action={
              <Group justify="center">
                <NewPanel withTemplates />
              </Group>
            }
          />
        }
      >
        {list => (
          <DataTable
            label={t('panels')}
            columns={columns}
            rows={list}
            rowKey={({ name }) => name}
            href={({ name }) => routes.panel(name)}
          />
        )}
      </DataRegion>
    </Page>
  )
}
