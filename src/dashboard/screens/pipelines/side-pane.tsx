import { Tabs, Text } from '@mantine/core'
import { drawnAs } from '../../components/panel-kind/panel-kind.tsx'
import { TomlEditor } from '../../components/saved/toml-editor.tsx'
import { Versions } from '../../components/saved/versions.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlChoice, useUrlState } from '../../routes.ts'
import { Changes } from '../runs/changes.tsx'
import { InputSettings } from './input-settings.tsx'
import { RunList } from './run-bar.tsx'
import { Schedules } from './schedule/schedules.tsx'
import { INPUT } from './step-list.tsx'
import { StepOutput } from './step-output.tsx'
import { StepSettings } from './step-settings.tsx'
import type { Pipeline, PipelineRun } from './types.ts'
import { type PipelineEditing, pipelinePath } from './use-editing.ts'
import { usePanels } from './use-panels.ts'
import { words } from './words.ts'

export interface SidePaneProps {
  readonly pipeline: Pipeline
  readonly editing: PipelineEditing
  readonly run: PipelineRun | undefined
}

const TABS = ['settings', 'output', 'runs', 'schedule', 'versions', 'toml'] as const

/** What is selected: its settings and its last output; beside that the pipeline's runs, versions and file. */
export function SidePane({ pipeline, editing, run }: SidePaneProps) {
  const t = useWords(words)
  const tabs = run === undefined ? TABS : ([...TABS, 'changes'] as const)
  const [tab, setTab] = useUrlChoice('tab', tabs, 'settings')
  const [selected] = useUrlState('step')
  const step = editing.content?.step.find(({ id }) => id === selected)
  const definition = editing.content
  const panels = usePanels()
  return (
    <Tabs value={tab} onChange={value => setTab(value ?? '')} keepMounted={false}>
      <Tabs.List mb="sm">
        <Tabs.Tab value="settings">{t('settings')}</Tabs.Tab>
        <Tabs.Tab value="output">{t('lastOutput')}</Tabs.Tab>
        <Tabs.Tab value="runs">{t('runs')}</Tabs.Tab>
        <Tabs.Tab value="schedule">{t('schedule')}</Tabs.Tab>
        {run !== undefined && <Tabs.Tab value="changes">{t('changes')}</Tabs.Tab>}
        <Tabs.Tab value="versions">{t('versions')}</Tabs.Tab>
        <Tabs.Tab value="toml">TOML</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="settings">
        {definition !== null && (selected === INPUT || step === undefined) ? (
          <InputSettings definition={definition} onChange={editing.edit} />
        ) : definition !== null && step !== undefined ? (
          <StepSettings key={step.id} definition={definition} step={step} run={run} onChange={editing.edit} />
        ) : null}
      </Tabs.Panel>
      <Tabs.Panel value="output">
        {run === undefined || step === undefined ? (
          <Text c="dimmed" size="sm">
            {t('noOutput')}
          </Text>
        ) : (
          <StepOutput
            run={run}
            step={step.id}
            show={step.show ?? drawnAs(panels?.find(({ name }) => name === step.panel)?.kind)}
          />
        )}
      </Tabs.Panel>
      <Tabs.Panel value="runs">
        <RunList name={pipeline.name} />
      </Tabs.Panel>
      <Tabs.Panel value="schedule">{definition !== null && <Schedules definition={definition} />}</Tabs.Panel>
      <Tabs.Panel value="changes">{run !== undefined && <Changes run={run.id} />}</Tabs.Panel>
      <Tabs.Panel value="versions">
        <Versions
          topic="pipelines"
          path={pipelinePath(pipeline.name)}
          hash={pipeline.hash}
          onRestore={text => {
            editing.changeText(text)
            setTab('toml')
          }}
        />
      </Tabs.Panel>
      <Tabs.Panel value="toml">
        <TomlEditor
          file={`.kogu/pipelines/${pipeline.name}.toml`}
          text={editing.text}
          onChange={editing.changeText}
        />
      </Tabs.Panel>
    </Tabs>
  )
}
