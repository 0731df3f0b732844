import { ActionIcon, Alert, Drawer, Group, List, Tooltip } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { Redo2, Undo2 } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { useGet } from '../../api/api.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { useListOrGraph } from '../../components/list-or-graph.tsx'
import { Page } from '../../components/page.tsx'
import { MoreMenu } from '../../components/saved/more-menu.tsx'
import { SavedAs } from '../../components/saved/saved-as.tsx'
import { SaveButtons, SaveNotices } from '../../components/saved/saved-bar.tsx'
import { Problems } from '../../components/saved/toml-editor.tsx'
import { TrustNotice } from '../../components/saved/trust-notice.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes, useUrlState } from '../../routes.ts'
import { StateBadge } from './pipeline-list.tsx'
import { RunBar, RunButton } from './run-bar.tsx'
import { SidePane } from './side-pane.tsx'
import { INPUT, StepList } from './step-list.tsx'
import type { Pipeline, PipelineRun } from './types.ts'
import { type PipelineEditing, pipelinePath, usePipelineEditing } from './use-editing.ts'
import { words } from './words.ts'

const PipelineGraph = lazy(() => import('./pipeline-graph.tsx'))

export function PipelineEditor({ name }: { name: string }) {
  const pipeline = useGet<Pipeline>('pipelines', pipelinePath(name))
  return <DataRegion query={pipeline}>{found => <Editor pipeline={found} />}</DataRegion>
}

function Editor({ pipeline }: { pipeline: Pipeline }) {
  const t = useWords(words)
  const editing = usePipelineEditing(pipeline)
  const run = useShownRun(pipeline.name)
  const { isGraph, choice } = useListOrGraph()
  return (
    <Page
      title={pipeline.name}
      intro={
        <Group gap="xs">
          <StateBadge pipeline={pipeline} />
          <SavedAs topic="pipelines" path={pipelinePath(pipeline.name)} hash={pipeline.hash} />
          {pipeline.definition?.description !== undefined && (
            <Untrusted text={pipeline.definition.description} />
          )}
        </Group>
      }
      actions={
        <>
          {choice}
          <HistoryButtons editing={editing} />
          <SaveButtons editing={editing} />
          <RunButton pipeline={pipeline} editing={editing} />
          <MoreMenu
            {...{ name: pipeline.name, path: pipelinePath(pipeline.name), hash: pipeline.hash }}
            topic="pipelines"
            list={routes.pipelines()}
          />
        </>
      }
    >
      <SaveNotices editing={editing} />
      {pipeline.state === 'untrusted' && !editing.isDirty && (
        <TrustNotice
          path={pipelinePath(pipeline.name)}
          hash={pipeline.whole?.hash ?? pipeline.hash}
          inside={[...(pipeline.whole?.pipelines ?? []), ...(pipeline.whole?.panels ?? [])]}
          topics={['pipelines', 'panels']}
        />
      )}
      <Problems problems={editing.problems} title={t('cannotRun')} />
      <Warnings warnings={editing.warnings} />
      {run !== undefined && <RunBar pipeline={pipeline} run={run} />}
      {editing.content === null ? (
        <SidePane pipeline={pipeline} editing={editing} run={run} />
      ) : (
        <Panes pipeline={pipeline} editing={editing} run={run} isGraph={isGraph} />
      )}
    </Page>
  )
}

interface PaneProps {
  readonly pipeline: Pipeline
  readonly editing: PipelineEditing
  readonly run: PipelineRun | undefined
}

/** The flow beside the settings of what is selected; one below the other where there is less room, a sheet of its own on a phone. */
function Panes({ isGraph, ...props }: PaneProps & { isGraph: boolean }) {
  const t = useWords(words)
  const isWide = useMediaQuery('(min-width: 1100px)', true, { getInitialValueInEffect: false })
  const isPhone = useMediaQuery('(max-width: 767px)', false, { getInitialValueInEffect: false })
  const [selected, select] = useUrlState('step')
  const side = <SidePane {...props} />
  return (
    <div
      style={{
        display: 'grid',
        gridTemplateColumns: isWide ? 'minmax(0, 1fr) minmax(0, 1.1fr)' : 'minmax(0, 1fr)',
        gap: 24,
      }}
    >
      {isGraph ? (
        <Suspense fallback={null}>
          <PipelineGraph {...props} />
        </Suspense>
      ) : (
        <StepList {...props} />
      )}
      <div
        style={
          isWide
            ? {
                position: 'sticky',
                top: 64,
                alignSelf: 'start',
                maxHeight: 'calc(100vh - 80px)',
                overflowY: 'auto',
              }
            : {}
        }
      >
        {isPhone && selected !== '' ? (
          <Drawer
            opened
            size="100%"
            title={selected === INPUT ? t('inputs') : <Untrusted text={selected} most={60} />}
            closeButtonProps={{ 'aria-label': t('close') }}
            onClose={() => select('')}
          >
            {side}
          </Drawer>
        ) : (
          side
        )}
      </div>
    </div>
  )
}

/** The run in the address, or the last one. */
function useShownRun(name: string): PipelineRun | undefined {
  const [id] = useUrlState('run')
  const latest = useGet<PipelineRun[]>('pipelines', `/api/pipeline-runs?pipeline=${inAddress(name)}&limit=20`)
  return id === '' ? latest.data?.[0] : latest.data?.find(run => run.id === id)
}

function HistoryButtons({ editing }: { editing: PipelineEditing }) {
  const t = useWords(words)
  return (
    <Group gap={2}>
      <Tooltip label={t('undo')}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('undo')}
          aria-keyshortcuts="Control+Z"
          disabled={editing.undo === undefined}
          onClick={() => editing.undo?.()}
        >
          <Undo2 size={18} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={t('redo')}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('redo')}
          aria-keyshortcuts="Control+Shift+Z"
          disabled={editing.redo === undefined}
          onClick={() => editing.redo?.()}
        >
          <Redo2 size={18} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </Group>
  )
}

function Warnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null
  return (
    <Alert color="yellow" py="xs">
      <List size="sm">
        {warnings.map(warning => (
          <List.Item key={warning}>
            <Untrusted text={warning} most={500} />
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
