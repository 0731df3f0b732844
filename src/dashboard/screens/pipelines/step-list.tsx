import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core'
import { ArrowDown, ArrowUp, GripVertical, Plus, Trash2 } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { flowOf, freshId, hasOwnEdges, insertStep, moveStep, removeStep, summaryOf } from './definition.ts'
import classes from './pipelines.module.css'
import { StepIcon, StepName } from './step-name.tsx'
import { StepPicker } from './step-picker.tsx'
import { StepState } from './step-state.tsx'
import type { Definition, Pipeline, PipelineRun, Step } from './types.ts'
import type { PipelineEditing } from './use-editing.ts'
import { words } from './words.ts'

export interface StepListProps {
  readonly pipeline: Pipeline
  readonly editing: PipelineEditing
  readonly run: PipelineRun | undefined
}

/** The steps from top to bottom, with a place to add one between each two. */
export function StepList({ editing, run }: StepListProps) {
  const t = useWords(words)
  const [selected, select] = useUrlState('step')
  const [dragged, drag] = useState<string | null>(null)
  const definition = editing.content
  if (definition === null) return null
  const add = (after: string | null, step: Omit<Step, 'id'>, wish: string): void => {
    const id = freshId(definition, wish)
    editing.edit(insertStep(definition, after, { id, ...step }))
    select(id)
  }
  const move = (id: string, by: number): void => editing.edit(moveStep(definition, id, by))
  const drop = (target: string): void => {
    if (dragged === null || dragged === target) return
    const index = (id: string): number => definition.step.findIndex(step => step.id === id)
    move(dragged, index(target) - index(dragged))
  }
  return (
    <Stack gap={0} component="section" aria-label={t('steps')}>
      <Inputs definition={definition} isSelected={selected === INPUT} onSelect={() => select(INPUT)} />
      <AddButton after={null} onAdd={add} />
      {definition.step.map((step, index) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: dragging only; buttons and Alt+arrows move too
        <div
          key={step.id}
          onDragOver={event => {
            if (dragged !== null) event.preventDefault()
          }}
          onDrop={() => drop(step.id)}
        >
          <StepCard
            step={step}
            number={index + 1}
            definition={definition}
            run={run}
            isSelected={selected === step.id}
            isFirst={index === 0}
            isLast={index === definition.step.length - 1}
            onSelect={() => select(step.id)}
            onMove={by => move(step.id, by)}
            onRemove={() => {
              editing.edit(removeStep(definition, step.id))
              select('')
            }}
            onDrag={isDragged => drag(isDragged ? step.id : null)}
          />
          <AddButton after={step.id} onAdd={add} />
        </div>
      ))}
    </Stack>
  )
}

/** In the address, instead of a step: the inputs of the pipeline. No step can be called so. */
export const INPUT = '.input'

function Inputs({
  definition,
  isSelected,
  onSelect,
}: {
  definition: Definition
  isSelected: boolean
  onSelect: () => void
}) {
  const t = useWords(words)
  const inputs = Object.entries(definition.input ?? {})
  return (
    <div className={`kogu-card ${classes.step}`} data-selected={isSelected}>
      <button
        type="button"
        className={classes.select}
        aria-pressed={isSelected}
        onClick={onSelect}
        data-row-link
      >
        <Text size="sm" fw={600} component="span">
          {t('inputs')}
        </Text>
        <Text size="sm" c="dimmed" component="span" ml={8}>
          {inputs.length === 0 ? (
            t('noInputs')
          ) : (
            <Untrusted text={inputs.map(([name, { type = 'string' }]) => `${name} (${type})`).join(', ')} />
          )}
        </Text>
      </button>
    </div>
  )
}

interface CardProps {
  readonly step: Step
  readonly number: number
  readonly definition: Definition
  readonly run: PipelineRun | undefined
  readonly isSelected: boolean
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly onSelect: () => void
  readonly onMove: (by: number) => void
  readonly onRemove: () => void
  readonly onDrag: (isDragged: boolean) => void
}

function StepCard(props: CardProps) {
  const t = useWords(words)
  const { step, number, definition, run, isSelected, onSelect, onMove, onRemove, onDrag } = props
  const onKey = (event: KeyboardEvent): void => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    onMove(event.key === 'ArrowUp' ? -1 : 1)
  }
  const from = hasOwnEdges(definition) ? flowOf(definition).filter(({ to }) => to === step.id) : []
  return (
    <div className={`kogu-card ${classes.step}`} data-selected={isSelected}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <span
          className={classes.handle}
          draggable
          aria-hidden
          onDragStart={() => onDrag(true)}
          onDragEnd={() => onDrag(false)}
        >
          <GripVertical size={16} />
        </span>
        <button
          type="button"
          className={classes.select}
          aria-pressed={isSelected}
          aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
          data-row-link
          onClick={onSelect}
          onKeyDown={onKey}
        >
          <Group gap={8} wrap="nowrap">
            <StepIcon step={step} />
            <Text size="sm" fw={600} component="span">
              {number}. <StepName step={step} />
            </Text>
            {step.gate !== undefined && (
              <Text size="xs" c="dimmed" component="span">
                {t('gate')}
              </Text>
            )}
          </Group>
          <Text size="xs" c="dimmed" className={classes.summary} component="span">
            <Untrusted text={summaryOf(step)} most={160} />
          </Text>
          {from.length > 0 && (
            <Text size="xs" c="dimmed" component="span" display="block">
              {t('after', {
                steps: from
                  .map(edge => (edge.when === undefined ? edge.from : `${edge.from} (${edge.when})`))
                  .join(', '),
              })}
            </Text>
          )}
        </button>
        <Group gap={0} wrap="nowrap">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('up', { id: step.id })}
            disabled={props.isFirst}
            onClick={() => onMove(-1)}
          >
            <ArrowUp size={15} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('down', { id: step.id })}
            disabled={props.isLast}
            onClick={() => onMove(1)}
          >
            <ArrowDown size={15} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('remove', { id: step.id })}
            onClick={onRemove}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      {run?.steps[step.id] !== undefined && <StepState run={run} step={step.id} />}
    </div>
  )
}

function AddButton({
  after,
  onAdd,
}: {
  after: string | null
  onAdd: (after: string | null, step: Omit<Step, 'id'>, wish: string) => void
}) {
  const t = useWords(words)
  const [isOpen, open] = useState(false)
  return (
    <div className={classes.between}>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        leftSection={<Plus size={13} aria-hidden />}
        aria-label={after === null ? t('addFirst') : t('addAfter', { id: after })}
        onClick={() => open(true)}
      >
        {t('add')}
      </Button>
      {isOpen && (
        <StepPicker
          onClose={() => open(false)}
          onPick={(step, wish) => {
            open(false)
            onAdd(after, step, wish)
          }}
        />
      )}
    </div>
  )
}
