import { Button, Group, Text } from '@mantine/core'
import { PanelsTopLeft, Play } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import type { Run } from '../../api/types.ts'
import { RunBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { useListOrGraph } from '../../components/list-or-graph.tsx'
import { Page } from '../../components/page.tsx'
import { PanelKindName } from '../../components/panel-kind/panel-kind.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { NewPanel } from './new-panel.tsx'
import { TrustBadge } from './trust-badge.tsx'
import type { Panel } from './types.ts'
import { words } from './words.ts'

const PanelGraph = lazy(() => import('./panel-graph.tsx'))

export function PanelList() {
  const t = useWords(words)
  const panels = useGet<Panel[]>('panels', '/api/panels')
  const { isGraph, choice } = useListOrGraph()
  return (
    <Page
      title={t('panels')}
      intro={t('intro')}
      actions={
        <>
          {choice}
          <NewPanel />
        </>
      }
    >
      <DataRegion
        query={panels}
        isEmpty={list => list.length === 0}
        empty={
          <Empty
            icon={<PanelsTopLeft size={32} aria-hidden />}
            title={t('intro')}
            guide="agents"
            action={
              <Group justify="center">
                <NewPanel withTemplates />
              </Group>
            }
          />
        }
      >
        {list =>
          isGraph ? (
            <Suspense fallback={null}>
              <PanelGraph panels={list} />
            </Suspense>
          ) : (
            <PanelTable panels={list} />
          )
        }
      </DataRegion>
    </Page>
  )
}

function PanelTable({ panels }: { panels: readonly Panel[] }) {
  const t = useWords(words)
  const format = useFormat()
  const columns: readonly Column<Panel>[] = [
    {
      key: 'name',
      label: t('name'),
      phone: 'title',
      render: ({ name }) => <Untrusted text={name} />,
      below: panel =>
        panel.kind === 'ai' && <Untrusted text={panel.settings?.model ?? t('defaultModel')} most={60} />,
    },
    {
      key: 'kind',
      label: t('kind'),
      render: ({ kind }) => (kind === null ? '–' : <PanelKindName kind={kind} />),
    },
    { key: 'state', label: t('state'), render: ({ state }) => <TrustBadge state={state} /> },
    {
      key: 'orchestration',
      label: t('orchestration'),
      phone: 'hide',
      render: panel => ofModel(panel, t(panel.settings?.orchestration ?? 'none')),
    },
    {
      key: 'tools',
      label: t('tools'),
      phone: 'hide',
      align: 'right',
      render: panel => ofModel(panel, format.number(enabledTools(panel))),
    },
    {
      key: 'last',
      label: t('lastRun'),
      render: panel => ofModel(panel, <LastRun run={panel.last_run} />),
    },
    {
      key: 'run',
      label: t('run'),
      phone: 'hide',
      align: 'right',
      render: panel =>
        panel.kind === 'ai' &&
        panel.state === 'trusted' && (
          <Button
            component={Link}
            href={routes.panel(panel.name, { part: 'try' })}
            size="compact-sm"
            variant="default"
            aria-label={t('runPanel', { name: panel.name })}
            leftSection={<Play size={13} aria-hidden />}
          >
            {t('run')}
          </Button>
        ),
    },
  ]
  return (
    <DataTable
      label={t('panels')}
      columns={columns}
      rows={panels}
      rowKey={({ name }) => name}
      href={({ name }) => routes.panel(name)}
    />
  )
}

/** What only panels with a model have. */
function ofModel<T>({ kind }: Panel, shown: T): T | string {
  return kind === 'ai' || kind === null ? shown : '–'
}

function enabledTools({ settings }: Panel): number {
  return Object.values(settings?.tools ?? {}).filter(({ enabled }) => enabled !== false).length
}

function LastRun({ run }: { run: Run | null }) {
  const t = useWords(words)
  const format = useFormat()
  if (run === null) return t('never')
  const { created_at: from, completed_at: to, cost_usd } = run
  return (
    <Group gap={6} wrap="nowrap">
      <RunBadge run={run} />
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {to !== null && `${format.duration(Date.parse(to) - Date.parse(from))} · `}
        {format.money(cost_usd, t('unknownCost'))}
      </Text>
    </Group>
  )
}
