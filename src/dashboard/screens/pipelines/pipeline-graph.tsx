import { Text } from '@mantine/core'
import {
  Background,
  Controls,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { flowOf } from './definition.ts'
import { layout } from './layout.ts'
import classes from './pipelines.module.css'
import type { StepListProps } from './step-list.tsx'
import { StepIcon, StepName } from './step-name.tsx'
import { StepBadge } from './step-state.tsx'
import type { Step, StepRun } from './types.ts'
import { words } from './words.ts'

interface StepData extends Record<string, unknown> {
  readonly step: Step
  readonly own: StepRun | undefined
  readonly isSelected: boolean
}

/** The same steps as a picture. Choosing one here is choosing it in the list. */
export default function PipelineGraph({ editing, run }: StepListProps) {
  const t = useWords(words)
  const scheme = useComputedColorScheme('light')
  const [selected, select] = useUrlState('step')
  const definition = editing.content
  const places = useMemo(() => (definition === null ? [] : layout(definition)), [definition])
  if (definition === null) return null
  const nodes = places.flatMap(({ id, x, y }): Node<StepData>[] => {
    const step = definition.step.find(each => each.id === id)
    if (step === undefined) return []
    const data = { step, own: run?.steps[id], isSelected: selected === id }
    return [{ id, type: 'step', position: { x, y }, data, ariaLabel: id }]
  })
  const edges = flowOf(definition).map(({ from, to, when, max_retries = 0 }, index) => ({
    id: `${from} ${to} ${index}`,
    source: from,
    target: to,
    markerEnd: { type: MarkerType.ArrowClosed },
    ...(when === undefined ? {} : { label: when }),
    ...(max_retries > 0 ? { style: { strokeDasharray: '6 4' } } : {}),
  }))
  return (
    <section className={`kogu-card ${classes.graph}`} aria-label={t('graph')}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        colorMode={scheme}
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        nodesDraggable={false}
        nodesConnectable={false}
        deleteKeyCode={null}
        onNodeClick={(_, { id }) => select(id)}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  )
}

function StepNode({ data: { step, own, isSelected } }: NodeProps<Node<StepData>>) {
  return (
    <div className={`kogu-card ${classes.node}`} data-selected={isSelected}>
      <Handle type="target" position={Position.Top} />
      <Text size="sm" fw={600} component="div">
        <StepIcon step={step} /> <StepName step={step} />
      </Text>
      {own !== undefined && <StepBadge own={own} isAsked={false} />}
      <Handle type="source" position={Position.Bottom} />
    </div>
  )
}

const NODE_TYPES = { step: StepNode }
