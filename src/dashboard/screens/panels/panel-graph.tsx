import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import { useGet } from '../../api/api.ts'
import { DataRegion } from '../../components/data-region.tsx'
import GraphView from '../../components/graph/graph-view.tsx'
import { PanelKindName } from '../../components/panel-kind/panel-kind.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { type Feed, type FeedingPipeline, feedsOf } from './feeds.ts'
import type { Panel } from './types.ts'
import { words } from './words.ts'

/** The panels, and which of them feed which through pipelines. */
export default function PanelGraph({ panels }: { panels: readonly Panel[] }) {
  const pipelines = useGet<FeedingPipeline[]>('pipelines', '/api/pipelines')
  return (
    <DataRegion query={pipelines}>{found => <Graph panels={panels} feeds={feedsOf(found)} />}</DataRegion>
  )
}

function Graph({ panels, feeds }: { panels: readonly Panel[]; feeds: readonly Feed[] }) {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const connected = new Set(feeds.flatMap(({ from, to }) => [from, to]))
  const inside = panels.filter(({ name }) => connected.has(name))
  const outside = panels.filter(({ name }) => !connected.has(name))
  return (
    <Stack gap="sm">
      {inside.length > 0 && (
        <>
          <GraphView
            label={t('graph')}
            nodes={inside.map(panel => ({ id: panel.name, content: <Node panel={panel} /> }))}
            ways={feeds}
            onSelect={name => navigate(routes.panel(name))}
          />
          <Text size="xs" c="dimmed">
            {t('graphAbout')}
          </Text>
        </>
      )}
      {outside.length > 0 && (
        <section>
          <Title order={2} mb="xs">
            {t('alone')}
          </Title>
          <Group gap="lg">
            {outside.map(({ name }) => (
              <Anchor key={name} component={Link} href={routes.panel(name)} size="sm">
                <Untrusted text={name} most={60} />
              </Anchor>
            ))}
          </Group>
        </section>
      )}
    </Stack>
  )
}

function Node({ panel: { name, kind } }: { panel: Panel }) {
  return (
    <>
      <Text size="sm" fw={600} component="div">
        <Untrusted text={name} most={60} />
      </Text>
      {kind !== null && (
        <Text size="xs" c="dimmed" component="div">
          <PanelKindName kind={kind} />
        </Text>
      )}
    </>
  )
}
