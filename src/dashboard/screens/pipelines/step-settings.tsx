import {
  Anchor,
  Group,
  NativeSelect,
  NumberInput,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { type Reference, ReferenceInput } from '../../components/reference-input.tsx'
import type { Changes } from '../../components/saved/with-changes.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { Connections } from './connections.tsx'
import { changeStep, kindOf, pathsIn, stepsBefore } from './definition.ts'
import { RunFromHere } from './run-from-here.tsx'
import type { Definition, PipelineRun, Step } from './types.ts'
import { words } from './words.ts'

export interface StepSettingsProps {
  readonly definition: Definition
  readonly step: Step
  readonly run: PipelineRun | undefined
  readonly onChange: (next: Definition, burst?: string) => void
}

export function StepSettings({ definition, step, run, onChange }: StepSettingsProps) {
  const t = useWords(words)
  const references = referencesFor(definition, step, run)
  const set = (values: Changes<Step>, burst = ''): void =>
    onChange(changeStep(definition, step.id, values), burst === '' ? '' : `${step.id}.${burst}`)
  return (
    <Stack gap="md">
      <Group grow align="flex-start">
        <IdField key={step.id} definition={definition} step={step} onRename={id => set({ id })} />
        <TextInput
          label={t('title')}
          value={step.title ?? ''}
          onChange={event => set({ title: event.currentTarget.value || undefined }, 'title')}
        />
      </Group>
      <Work step={step} references={references} set={set} />
      <Title order={2}>{t('howItRuns')}</Title>
      <Switch
        label={t('gateLabel')}
        description={t('gateAbout')}
        checked={step.gate === 'approval'}
        onChange={event => set({ gate: event.currentTarget.checked ? 'approval' : undefined })}
      />
      <Group grow>
        <NativeSelect
          label={t('onError')}
          value={step.on_error ?? 'stop'}
          onChange={event =>
            set({ on_error: event.currentTarget.value === 'continue' ? 'continue' : undefined })
          }
          data={[
            { value: 'stop', label: t('onErrorStop') },
            { value: 'continue', label: t('onErrorContinue') },
          ]}
        />
        <NumberInput
          label={t('retry')}
          min={0}
          max={20}
          allowDecimal={false}
          value={step.retry ?? 0}
          onChange={value =>
            set({ retry: typeof value === 'number' && value > 0 ? value : undefined }, 'retry')
          }
        />
      </Group>
      <Connections definition={definition} step={step.id} onChange={onChange} />
      {run !== undefined && <RunFromHere name={definition.name} run={run} step={step.id} />}
    </Stack>
  )
}

/** Renamed when it is left, so that references are carried along once and not with every letter. */
function IdField({
  definition,
  step,
  onRename,
}: {
  definition: Definition
  step: Step
  onRename: (id: string) => void
}) {
  const t = useWords(words)
  const [id, setId] = useState(step.id)
  const isTaken = id !== step.id && definition.step.some(each => each.id === id)
  const isValid = /^[a-z][a-z0-9_-]{0,63}$/.test(id) && !isTaken
  return (
    <TextInput
      label={t('id')}
      description={t('idAbout')}
      value={id}
      error={isTaken ? t('idTaken') : isValid ? undefined : t('idInvalid')}
      onChange={event => setId(event.currentTarget.value)}
      onBlur={() => {
        if (isValid && id !== step.id) onRename(id)
      }}
    />
  )
}

interface WorkProps {
  readonly step: Step
  readonly references: readonly Reference[]
  readonly set: (values: Changes<Step>, burst?: string) => void
}

function Work({ step, references, set }: WorkProps) {
  const t = useWords(words)
  switch (kindOf(step)) {
    case 'tool':
      return <ToolWork step={step} references={references} set={set} />
    case 'panel':
      return <PanelWork step={step} references={references} set={set} />
    case 'folder':
      return (
        <ReferenceInput
          label={t('folder')}
          description={t('folderAbout')}
          references={references}
          value={step.folder ?? ''}
          onChange={folder => set({ folder }, 'folder')}
        />
      )
    case 'text':
      return (
        <ReferenceInput
          label={t('text')}
          description={t('referenceAbout')}
          minRows={4}
          references={references}
          value={step.text ?? ''}
          onChange={text => set({ text }, 'text')}
        />
      )
  }
}

function ToolWork({ step, references, set }: WorkProps) {
  const t = useWords(words)
  const tools = useGet<Tool[]>('tools', '/api/tools').data ?? []
  const tool = tools.find(({ name, aliases }) => name === step.tool || aliases.includes(step.tool ?? ''))
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t('tool')}
        value={tool?.name ?? step.tool ?? ''}
        error={tools.length > 0 && tool === undefined ? t('noTool') : undefined}
        onChange={event => set({ tool: event.currentTarget.value })}
        data={[...(tool === undefined ? [step.tool ?? ''] : []), ...tools.map(({ name }) => name)]}
      />
      <Text size="xs" c="dimmed">
        {t('referenceAbout')}
      </Text>
      {tool !== undefined && (
        <SchemaForm
          label={tool.name}
          schema={tool.definition.input_schema}
          value={step.args ?? {}}
          references={references}
          onChange={args => set({ args }, 'args')}
        />
      )}
    </Stack>
  )
}

function PanelWork({ step, references, set }: WorkProps) {
  const t = useWords(words)
  const panels =
    useGet<{ name: string; variables: string[]; state: string }[]>('panels', '/api/panels').data ?? []
  const panel = panels.find(({ name }) => name === step.panel)
  const vars = step.vars ?? {}
  const setVar = (name: string, text: string): void => {
    const { [name]: _before, ...others } = vars
    const next = text === '' ? others : { ...others, [name]: text }
    set({ vars: Object.keys(next).length === 0 ? undefined : next }, `vars.${name}`)
  }
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t('panel')}
        value={step.panel ?? ''}
        error={panels.length > 0 && panel === undefined ? t('noPanel') : undefined}
        description={panel !== undefined && panel.state !== 'trusted' ? t('panelUntrusted') : undefined}
        onChange={event => set({ panel: event.currentTarget.value })}
        data={[...(panel === undefined ? [step.panel ?? ''] : []), ...panels.map(({ name }) => name)]}
      />
      {panel !== undefined && (
        <Anchor component={Link} href={routes.panel(panel.name)} size="sm">
          {t('editPanel')}
        </Anchor>
      )}
      <ReferenceInput
        label={t('prompt')}
        description={t('promptAbout')}
        minRows={2}
        references={references}
        value={step.prompt ?? ''}
        onChange={text => set({ prompt: text === '' ? undefined : text }, 'prompt')}
      />
      {[...new Set([...(panel?.variables ?? []), ...Object.keys(vars)])].map(name => (
        <ReferenceInput
          key={name}
          label={name}
          references={references}
          value={
            typeof vars[name] === 'string'
              ? vars[name]
              : vars[name] === undefined
                ? ''
                : JSON.stringify(vars[name])
          }
          onChange={text => setVar(name, text)}
        />
      ))}
    </Stack>
  )
}

/** What can stand in `{{…}}`: the inputs, facts of the run, and outputs of the steps before, as they were the last time. */
function referencesFor(definition: Definition, step: Step, run: PipelineRun | undefined): Reference[] {
  const inputs = Object.entries(definition.input ?? {}).map(([name, { description = '' }]) => ({
    path: `input.${name}`,
    about: description,
  }))
  const outputs = stepsBefore(definition, step.id).flatMap(id => {
    const last = run?.steps[id]
    return [{ path: `steps.${id}.text`, about: last?.text ?? '' }, ...pathsIn(last?.data, `steps.${id}`)]
  })
  return [...inputs, ...outputs, ...['id', 'date', 'month', 'week'].map(name => ({ path: `run.${name}` }))]
}
