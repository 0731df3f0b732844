import { useComputedColorScheme } from '@mantine/core'
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
import { type ReactNode, useMemo } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { visibleLine } from '../untrusted.tsx'
import classes from './graph.module.css'
import { layout, type Way } from './layout.ts'
import { words } from './words.ts'

interface GraphNode {
  readonly id: string
  readonly content: ReactNode
}

export interface GraphViewProps {
  readonly label: string
  readonly nodes: readonly GraphNode[]
  readonly ways: readonly (Way & { readonly label?: string; readonly isDashed?: boolean })[]
  readonly selected?: string
  readonly onSelect: (id: string) => void
}

interface NodeContent extends Record<string, unknown> {
  readonly content: ReactNode
  readonly isSelected: boolean
}

/** Parts and the ways between them, laid out from top to bottom. Loaded when it is first shown: not a small library. */
export default function GraphView({ label, nodes, ways, selected, onSelect }: GraphViewProps) {
  const t = useWords(words)
  const scheme = useComputedColorScheme('light')
  const ids = nodes.map(({ id }) => id).join('\n')
  const places = useMemo(() => layout(ids.split('\n'), ways), [ids, ways])
  const placed = places.flatMap(({ id, x, y }): Node<NodeContent>[] => {
    const node = nodes.find(each => each.id === id)
    if (node === undefined) return []
    const data = { content: node.content, isSelected: selected === id }
    return [{ id, type: 'part', position: { x, y }, data, ariaLabel: visibleLine(id, 60) }]
  })
  const edges = ways.map(({ from, to, label: said, isDashed = false }, index) => ({
    id: `${from} ${to} ${index}`,
    source: from,
    target: to,
    ariaLabel: t('way', { from: visibleLine(from, 60), to: visibleLine(to, 60) }),
    markerEnd: { type: MarkerType.ArrowClosed },
    ...(said === undefined ? {} : { label: visibleLine(said, 60) }),
    ...(isDashed ? { style: { strokeDasharray: '6 4' } } : {}),
  }))
  return (
    <section className={`kogu-card ${classes.graph}`} aria-label={label}>
      <ReactFlow
        nodes={placed}
        edges={edges}
        nodeTypes={NODE_TYPES}
        colorMode={scheme}
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        nodesDraggable={false}
        nodesConnectable={false}
        deleteKeyCode={null}
        onNodeClick={(_, { id }) => onSelect(id)}
        ariaLabelConfig={{
          'node.a11yDescription.default': t('parts'),
          'node.a11yDescription.keyboardDisabled': t('parts'),
          'edge.a11yDescription.default': t('ways'),
          'controls.ariaLabel': t('controls'),
          'controls.zoomIn.ariaLabel': t('larger'),
          'controls.zoomOut.ariaLabel': t('smaller'),
          'controls.fitView.ariaLabel': t('fit'),
        }}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  )
}

function PartNode({ data: { content, isSelected } }: NodeProps<Node<NodeContent>>) {
  return (
    <div className={`kogu-card ${classes.node}`} data-selected={isSelected}>
      <Handle type="target" position={Position.Top} />
      {content}
      <Handle type="source" position={Position.Bottom} />
    </div>
  )
}

const NODE_TYPES = { part: PartNode }
