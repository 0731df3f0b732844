import { Group, NativeSelect, NumberInput, Stack, Switch, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { type Reference, ReferenceInput } from '../../components/reference-input.tsx'
import type { Changes } from '../../components/saved/with-changes.ts'
import { words as showWords } from '../../components/show/words.ts'
import { useWords } from '../../i18n/language.tsx'
import { Connections } from './connections.tsx'
import { changeStep, pathsIn, pathsOfSchema, stepsBefore } from './definition.ts'
import { words as flow } from './flow/words.ts'
import { words as pinWords } from './pin/words.ts'
import { PinnedOutput } from './pinned-output.tsx'
import { RunFromHere } from './run-from-here.tsx'
import { Work } from './step-work.tsx'
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
  const say = useWords(flow)
  const shown = useWords(showWords)
  const pin = useWords(pinWords)
  const tools = useGet<Tool[]>('tools', '/api/tools').data ?? []
  const references = referencesFor(definition, step, { run, tools })
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
      <Work step={step} definition={definition} references={references} set={set} />
      {canRepeat(step) && (
        <ReferenceInput
          label={say('forEach')}
          description={say('forEachAbout')}
          references={references}
          value={step.for_each ?? ''}
          onChange={text => set({ for_each: text === '' ? undefined : text }, 'for_each')}
        />
      )}
      <NativeSelect
        label={shown('show')}
        value={step.show ?? ''}
        onChange={event => set({ show: SHOWN.find(each => each === event.currentTarget.value) })}
        data={[
          { value: '', label: shown('showText') },
          { value: 'table', label: shown('showTable') },
          { value: 'chart', label: shown('showChart') },
          { value: 'diagram', label: shown('showDiagram') },
        ]}
      />
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
            set(
              event.currentTarget.value === 'continue'
                ? { on_error: 'continue' }
                : { on_error: undefined, default: undefined },
            )
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
      {step.on_error === 'continue' && (
        <TextInput
          label={pin('default')}
          description={pin('defaultAbout')}
          value={
            step.default === undefined || typeof step.default === 'string'
              ? (step.default ?? '')
              : JSON.stringify(step.default)
          }
          onChange={event => set({ default: event.currentTarget.value || undefined }, 'default')}
        />
      )}
      {(step.tool !== undefined || step.panel !== undefined) && (
        <PinnedOutput {...{ step, definition, set }} last={run?.steps[step.id]} />
      )}
      <Connections definition={definition} step={step.id} onChange={onChange} />
      {run !== undefined && <RunFromHere name={definition.name} run={run} step={step.id} />}
    </Stack>
  )
}

const SHOWN = ['table', 'chart', 'diagram'] as const

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

function canRepeat({ tool, panel, pipeline }: Step): boolean {
  return (tool ?? panel ?? pipeline) !== undefined
}

/** What can stand in `{{…}}`: the inputs, facts of the run, and outputs of the steps before, as they were or are declared. */
function referencesFor(
  definition: Definition,
  step: Step,
  { run, tools }: { run: PipelineRun | undefined; tools: readonly Tool[] },
): Reference[] {
  const inputs = Object.entries(definition.input ?? {}).map(([name, { description = '' }]) => ({
    path: `input.${name}`,
    about: description,
  }))
  const outputs = stepsBefore(definition, step.id).flatMap(id => {
    const last = run?.steps[id]
    const { tool = '', for_each } = definition.step.find(each => each.id === id) ?? {}
    const schema = tools.find(({ name, aliases }) => name === tool || aliases.includes(tool))?.definition
    const seen = [
      { path: `steps.${id}.text`, about: last?.text ?? '' },
      ...pathsIn(last?.data, `steps.${id}`),
    ]
    const declared =
      for_each === undefined
        ? pathsOfSchema(schema?.output_schema, `steps.${id}`)
        : [{ path: `steps.${id}.items`, about: '' }]
    return [...seen, ...declared.filter(({ path }) => seen.every(each => each.path !== path))]
  })
  const items = step.for_each === undefined ? [] : [{ path: 'item' }, { path: 'index' }]
  return [
    ...items,
    ...inputs,
    ...outputs,
    ...['id', 'date', 'month', 'week'].map(name => ({ path: `run.${name}` })),
  ]
}
