import { Group, Stack, Tabs } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { Fragment, type ReactNode } from 'react'
import { useGet } from '../../api/api.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { PanelKindName } from '../../components/panel-kind/panel-kind.tsx'
import { MoreMenu } from '../../components/saved/more-menu.tsx'
import { SavedAs } from '../../components/saved/saved-as.tsx'
import { SaveButtons, SaveNotices } from '../../components/saved/saved-bar.tsx'
import { Problems, TomlEditor } from '../../components/saved/toml-editor.tsx'
import { TrustNotice } from '../../components/saved/trust-notice.tsx'
import { type Editing, useSavedFile } from '../../components/saved/use-saved-file.ts'
import { Versions } from '../../components/saved/versions.tsx'
import { type Changes, withChanges } from '../../components/saved/with-changes.ts'
import { words as savedWords } from '../../components/saved/words.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes, useUrlChoice, useUrlState } from '../../routes.ts'
import { ContentSection } from './content-section.tsx'
import { Limits } from './limits.tsx'
import { ModelSection, Orchestration } from './model-section.tsx'
import { PanelRuns } from './panel-runs.tsx'
import { Preview } from './preview.tsx'
import { Prompts } from './prompts.tsx'
import { ToolsSection } from './tools-section.tsx'
import { TrustBadge } from './trust-badge.tsx'
import { type SideProps, TryIt } from './try-it.tsx'
import type { Panel, PanelSettings } from './types.ts'
import { useGiven } from './value-fields.tsx'
import { words } from './words.ts'

export function PanelEditor({ name }: { name: string }) {
  const panel = useGet<Panel>('panels', panelPath(name))
  return <DataRegion query={panel}>{found => <Editor panel={found} />}</DataRegion>
}

function panelPath(name: string): string {
  return `/api/panels/${inAddress(name)}`
}

function Editor({ panel }: { panel: Panel }) {
  const saved = useWords(savedWords)
  const { name } = panel
  const editing = useSavedFile<Panel, PanelSettings>({
    topic: 'panels',
    path: panelPath(name),
    answer: panel,
    key: 'settings',
    toFile: ({ hash, text = '', settings }) => ({ hash, text, content: settings }),
  })
  return (
    <Page
      title={name}
      intro={
        <Group gap="xs">
          {panel.kind !== null && <PanelKindName kind={panel.kind} />}
          <TrustBadge state={panel.state} />
          <SavedAs topic="panels" path={panelPath(name)} hash={panel.hash} />
          <Untrusted text={panel.settings?.description ?? ''} />
        </Group>
      }
      actions={
        <>
          <SaveButtons editing={editing} />
          <MoreMenu
            {...{ name: panel.name, path: panelPath(panel.name), hash: panel.hash }}
            topic="panels"
            list={routes.panels()}
          />
        </>
      }
    >
      <SaveNotices editing={editing} />
      {(panel.state === 'new' || panel.state === 'changed') && !editing.isDirty && (
        <TrustNotice path={panelPath(panel.name)} hash={panel.hash} topics={['panels']} />
      )}
      <Problems problems={editing.problems} title={saved('problems')} />
      <Layout panel={panel} editing={editing} />
    </Page>
  )
}

interface Part {
  readonly key: string
  readonly label: string
  readonly content: ReactNode
}

function usePanelParts(name: string, editing: Editing<PanelSettings>): readonly Part[] {
  const t = useWords(words)
  const { content: settings, change } = editing
  if (settings === null) return []
  const onChange = (values: Changes<PanelSettings>): void =>
    change(withChanges<PanelSettings>(settings, values))
  const props = { settings, onChange }
  if (settings.kind !== undefined && settings.kind !== 'ai')
    return [{ key: 'content', label: t('content'), content: <ContentSection {...props} /> }]
  return [
    { key: 'prompt', label: t('prompt'), content: <Prompts {...props} /> },
    {
      key: 'model',
      label: t('model'),
      content: (
        <Stack gap="lg">
          <ModelSection {...props} />
          <Orchestration {...props} />
          <Limits {...props} />
        </Stack>
      ),
    },
    { key: 'tools', label: t('tools'), content: <ToolsSection {...props} name={name} /> },
  ]
}

/** Two columns where there is room; on less, one tab for each part. */
function Layout({ panel, editing }: { panel: Panel; editing: Editing<PanelSettings> }) {
  const t = useWords(words)
  const isWide = useMediaQuery('(min-width: 1100px)', true, { getInitialValueInEffect: false })
  const own = usePanelParts(panel.name, editing)
  const given = useGiven()
  const side = <Side panel={panel} editing={editing} given={given} />
  const tabs = [...own, { key: 'try', label: hasModel(editing) ? t('tryIt') : t('preview'), content: side }]
  const [part, setPart] = useUrlState('part', tabs[0]?.key)
  if (isWide)
    return (
      <div style={{ display: 'grid', gridTemplateColumns: 'minmax(0, 1.15fr) minmax(0, 1fr)', gap: 24 }}>
        <Stack gap="lg">
          {own.map(({ key, content }) => (
            <Fragment key={key}>{content}</Fragment>
          ))}
        </Stack>
        <div
          style={{
            position: 'sticky',
            top: 64,
            alignSelf: 'start',
            maxHeight: 'calc(100vh - 80px)',
            overflowY: 'auto',
          }}
        >
          {side}
        </div>
      </div>
    )
  return (
    <Tabs value={part} onChange={value => setPart(value ?? '')} keepMounted={false}>
      <Tabs.List mb="md">
        {tabs.map(({ key, label }) => (
          <Tabs.Tab key={key} value={key}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ key, content }) => (
        <Tabs.Panel key={key} value={key}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

function hasModel({ content }: Editing<PanelSettings>): boolean {
  return content?.kind === undefined || content.kind === 'ai'
}

function Side({ panel, editing, given }: SideProps) {
  const t = useWords(words)
  const isRun = hasModel(editing)
  const tabs = ['try', 'versions', 'toml', ...(isRun ? ['runs'] : [])]
  const [tab, setTab] = useUrlChoice('tab', tabs, 'try')
  return (
    <Tabs value={tab} onChange={value => setTab(value ?? '')} keepMounted={false}>
      <Tabs.List mb="sm">
        <Tabs.Tab value="try">{isRun ? t('tryIt') : t('preview')}</Tabs.Tab>
        {isRun && <Tabs.Tab value="runs">{t('runs')}</Tabs.Tab>}
        <Tabs.Tab value="versions">{t('versions')}</Tabs.Tab>
        <Tabs.Tab value="toml">TOML</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="try">
        {isRun ? (
          <TryIt panel={panel} editing={editing} given={given} />
        ) : (
          <Preview panel={panel} settings={editing.content ?? {}} given={given} />
        )}
      </Tabs.Panel>
      <Tabs.Panel value="runs">
        <PanelRuns name={panel.name} />
      </Tabs.Panel>
      <Tabs.Panel value="versions">
        <Versions
          topic="panels"
          path={panelPath(panel.name)}
          hash={panel.hash}
          onRestore={text => {
            editing.changeText(text)
            setTab('toml')
          }}
        />
      </Tabs.Panel>
      <Tabs.Panel value="toml">
        <TomlEditor
          file={`.kogu/panels/${panel.name}.toml`}
          text={editing.text}
          onChange={editing.changeText}
        />
      </Tabs.Panel>
    </Tabs>
  )
}
