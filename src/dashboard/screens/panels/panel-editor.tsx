import { Group, Stack, Tabs } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useGet } from '../../api/api.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { MoreMenu } from '../../components/saved/more-menu.tsx'
import { SaveButtons, SaveNotices } from '../../components/saved/saved-bar.tsx'
import { Problems, TomlEditor } from '../../components/saved/toml-editor.tsx'
import { TrustNotice } from '../../components/saved/trust-notice.tsx'
import { type Editing, useSavedFile } from '../../components/saved/use-saved-file.ts'
import { Versions } from '../../components/saved/versions.tsx'
import { type Changes, withChanges } from '../../components/saved/with-changes.ts'
import { words as savedWords } from '../../components/saved/words.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { Limits, ModelSection, Orchestration } from './model-section.tsx'
import { PanelRuns } from './panel-runs.tsx'
import { Prompts } from './prompts.tsx'
import { ToolsSection } from './tools-section.tsx'
import { TrustBadge } from './trust-badge.tsx'
import { TryIt } from './try-it.tsx'
import type { Panel, PanelSettings } from './types.ts'
import { words } from './words.ts'

export function PanelEditor({ name }: { name: string }) {
  const panel = useGet<Panel>('panels', panelPath(name))
  return <DataRegion query={panel}>{found => <Editor panel={found} />}</DataRegion>
}

function panelPath(name: string): string {
  return `/api/panels/${encodeURIComponent(name)}`
}

function Editor({ panel }: { panel: Panel }) {
  const t = useWords(words)
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
          <TrustBadge state={panel.state} />
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
      <Layout
        panel={panel}
        editing={editing}
        labels={{ prompt: t('prompt'), model: t('model'), tools: t('tools'), try: t('tryIt') }}
      />
    </Page>
  )
}

type Labels = Readonly<Record<'prompt' | 'model' | 'tools' | 'try', string>>

/** Two columns where there is room; on less, one tab for each part. */
function Layout({
  panel,
  editing,
  labels,
}: {
  panel: Panel
  editing: Editing<PanelSettings>
  labels: Labels
}) {
  const isWide = useMediaQuery('(min-width: 1100px)', true, { getInitialValueInEffect: false })
  const [part, setPart] = useUrlState('part', 'prompt')
  const { content, change } = editing
  const update = (values: Changes<PanelSettings>): void =>
    change(withChanges<PanelSettings>(content ?? {}, values))
  const parts: Readonly<Record<keyof Labels, ReactNode>> = {
    prompt: content === null ? null : <Prompts settings={content} onChange={update} />,
    model:
      content === null ? null : (
        <Stack gap="lg">
          <ModelSection settings={content} onChange={update} />
          <Orchestration settings={content} onChange={update} />
          <Limits settings={content} onChange={update} />
        </Stack>
      ),
    tools: content === null ? null : <ToolsSection settings={content} onChange={update} />,
    try: <Side panel={panel} editing={editing} />,
  }
  if (isWide)
    return (
      <div style={{ display: 'grid', gridTemplateColumns: 'minmax(0, 1.15fr) minmax(0, 1fr)', gap: 24 }}>
        <Stack gap="lg">
          {parts.prompt}
          {parts.model}
          {parts.tools}
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
          {parts.try}
        </div>
      </div>
    )
  return (
    <Tabs value={part} onChange={value => setPart(value ?? '')} keepMounted={false}>
      <Tabs.List mb="md">
        {(['prompt', 'model', 'tools', 'try'] as const).map(key => (
          <Tabs.Tab key={key} value={key}>
            {labels[key]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {(['prompt', 'model', 'tools', 'try'] as const).map(key => (
        <Tabs.Panel key={key} value={key}>
          {parts[key]}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

function Side({ panel, editing }: { panel: Panel; editing: Editing<PanelSettings> }) {
  const t = useWords(words)
  const [tab, setTab] = useUrlState('tab', 'try')
  return (
    <Tabs value={tab} onChange={value => setTab(value ?? '')} keepMounted={false}>
      <Tabs.List mb="sm">
        <Tabs.Tab value="try">{t('tryIt')}</Tabs.Tab>
        <Tabs.Tab value="runs">{t('runs')}</Tabs.Tab>
        <Tabs.Tab value="versions">{t('versions')}</Tabs.Tab>
        <Tabs.Tab value="toml">TOML</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="try">
        <TryIt panel={panel} editing={editing} />
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
