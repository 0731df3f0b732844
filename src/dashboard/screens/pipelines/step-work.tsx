import { Anchor, NativeSelect, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { type Reference, ReferenceInput } from '../../components/reference-input.tsx'
import type { Changes } from '../../components/saved/with-changes.ts'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { toChoices, visibleLine } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { kindOf } from './definition.ts'
import { ConditionWork, PipelineWork, TransformWork } from './flow/flow-work.tsx'
import type { Definition, Step } from './types.ts'
import { usePanels } from './use-panels.ts'
import { words } from './words.ts'

export interface WorkProps {
  readonly step: Step
  readonly definition: Definition
  readonly references: readonly Reference[]
  readonly set: (values: Changes<Step>, burst?: string) => void
}

/** The settings of what a step does. */
export function Work(props: WorkProps) {
  const t = useWords(words)
  const { step, references, set } = props
  switch (kindOf(step)) {
    case 'tool':
      return <ToolWork {...props} />
    case 'panel':
      return <PanelWork {...props} />
    case 'pipeline':
      return <PipelineWork {...props} />
    case 'condition':
      return <ConditionWork {...props} />
    case 'transform':
      return <TransformWork {...props} />
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
        data={toChoices([...(tool === undefined ? [step.tool ?? ''] : []), ...tools.map(({ name }) => name)])}
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
  const panels = usePanels() ?? []
  const panel = panels.find(({ name }) => name === step.panel)
  const vars = step.vars ?? {}
  // What stands for {{input}} is the prompt.
  const names = new Set([...(panel?.variables ?? []).filter(name => name !== 'input'), ...Object.keys(vars)])
  const takesPrompt =
    step.prompt !== undefined || panel?.kind === 'ai' || panel?.variables.includes('input') !== false
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
        data={toChoices([
          ...(panel === undefined ? [step.panel ?? ''] : []),
          ...panels.map(({ name }) => name),
        ])}
      />
      {panel !== undefined && (
        <Anchor component={Link} href={routes.panel(panel.name)} size="sm">
          {t('editPanel')}
        </Anchor>
      )}
      {takesPrompt && (
        <ReferenceInput
          label={t('prompt')}
          description={t('promptAbout')}
          minRows={2}
          references={references}
          value={step.prompt ?? ''}
          onChange={text => set({ prompt: text === '' ? undefined : text }, 'prompt')}
        />
      )}
      {[...names].map(name => (
        <ReferenceInput
          key={name}
          label={visibleLine(name)}
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
