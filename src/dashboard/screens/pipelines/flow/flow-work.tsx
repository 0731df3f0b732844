import { Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useGet } from '../../../api/api.ts'
import { ReferenceInput } from '../../../components/reference-input.tsx'
import { toChoices } from '../../../components/untrusted.tsx'
import { useWords } from '../../../i18n/language.tsx'
import type { WorkProps } from '../step-work.tsx'
import type { Pipeline, Step } from '../types.ts'
import { words as editor } from '../words.ts'
import { words } from './words.ts'

/** Says yes or no about what came before, and where each leads. */
export function ConditionWork({ step, definition, references, set }: WorkProps) {
  const t = useWords(words)
  const say = useWords(editor)
  const others = definition.step.map(({ id }) => id).filter(id => id !== step.id)
  const branch = (key: 'if_true' | 'if_false', label: string) => (
    <NativeSelect
      label={label}
      value={step[key] ?? ''}
      onChange={event => set({ [key]: event.currentTarget.value || undefined })}
      data={[{ value: '', label: t('nextStep') }, ...toChoices(others)]}
    />
  )
  return (
    <Stack gap="sm">
      <TextInput
        label={t('condition')}
        description={say('whenAbout')}
        value={step.condition ?? ''}
        onChange={event => set({ condition: event.currentTarget.value }, 'condition')}
      />
      <ReferenceInput
        label={t('conditionValue')}
        description={t('conditionValueAbout')}
        references={references}
        value={step.value ?? ''}
        onChange={text => set({ value: text === '' ? undefined : text }, 'value')}
      />
      <Group grow>
        {branch('if_true', t('ifTrue'))}
        {branch('if_false', t('ifFalse'))}
      </Group>
    </Stack>
  )
}

/** A value made of others. What is no text is written as JSON, and kept as it was typed until it can be read. */
export function TransformWork({ step, references, set }: WorkProps) {
  const t = useWords(words)
  const [draft, setDraft] = useState<string>()
  const shown = typeof step.transform === 'string' ? step.transform : JSON.stringify(step.transform, null, 2)
  const change = (text: string): void => {
    const value = typeof step.transform === 'string' ? text : readJson(text)
    setDraft(value === undefined ? text : undefined)
    if (value !== undefined) set({ transform: value }, 'transform')
  }
  const text = (key: 'where' | 'join', label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      value={step[key] ?? ''}
      onChange={event => set({ [key]: event.currentTarget.value || undefined }, key)}
    />
  )
  return (
    <Stack gap="sm">
      <ReferenceInput
        label={t('transform')}
        description={t('transformValueAbout')}
        minRows={2}
        references={references}
        value={draft ?? shown}
        error={draft === undefined ? undefined : t('invalidJson')}
        onChange={change}
      />
      <NativeSelect
        label={t('parse')}
        value={step.parse ?? ''}
        onChange={event => set({ parse: (event.currentTarget.value || undefined) as Step['parse'] })}
        data={[
          { value: '', label: t('parseNothing') },
          { value: 'json', label: 'JSON' },
          { value: 'lines', label: t('parseLines') },
        ]}
      />
      {text('where', t('where'), t('whereAbout'))}
      {text('join', t('join'), t('joinAbout'))}
    </Stack>
  )
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Another pipeline of the workspace, with values for its inputs. */
export function PipelineWork({ step, definition, references, set }: WorkProps) {
  const t = useWords(words)
  const say = useWords(editor)
  const pipelines = useGet<Pipeline[]>('pipelines', '/api/pipelines').data ?? []
  const found = pipelines.find(({ name }) => name === step.pipeline)
  const given = step.input ?? {}
  const setInput = (name: string, text: string): void => {
    const { [name]: _before, ...others } = given
    const next = text === '' ? others : { ...others, [name]: text }
    set({ input: Object.keys(next).length === 0 ? undefined : next }, `input.${name}`)
  }
  const names = pipelines.map(({ name }) => name).filter(name => name !== definition.name)
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t('subPipeline')}
        value={step.pipeline ?? ''}
        error={pipelines.length > 0 && found === undefined ? t('noPipeline') : undefined}
        onChange={event => set({ pipeline: event.currentTarget.value })}
        data={toChoices([...new Set([step.pipeline ?? '', ...names])])}
      />
      <Text size="xs" c="dimmed">
        {say('referenceAbout')}
      </Text>
      {[...new Set([...Object.keys(found?.definition?.input ?? {}), ...Object.keys(given)])].map(name => (
        <ReferenceInput
          key={name}
          label={name}
          references={references}
          value={given[name] === undefined ? '' : String(given[name])}
          onChange={text => setInput(name, text)}
        />
      ))}
    </Stack>
  )
}
