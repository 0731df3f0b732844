import { Text } from '@mantine/core'
import { useMemo } from 'react'
import GraphView from '../../components/graph/graph-view.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { waysOf } from './definition.ts'
import type { StepListProps } from './step-list.tsx'
import { StepIcon, StepName } from './step-name.tsx'
import { StepBadge } from './step-state.tsx'
import { words } from './words.ts'

/** The same steps as a picture. Choosing one here is choosing it in the list. */
export default function PipelineGraph({ editing, run }: StepListProps) {
  const t = useWords(words)
  const [selected, select] = useUrlState('step')
  const definition = editing.content
  const ways = useMemo(() => (definition === null ? [] : waysOf(definition)), [definition])
  if (definition === null) return null
  const nodes = definition.step.map(step => {
    const own = run?.steps[step.id]
    const content = (
      <>
        <Text size="sm" fw={600} component="div">
          <StepIcon step={step} /> <StepName step={step} />
        </Text>
        {own !== undefined && <StepBadge own={own} isAsked={false} />}
      </>
    )
    return { id: step.id, content }
  })
  return <GraphView label={t('graph')} nodes={nodes} ways={ways} selected={selected} onSelect={select} />
}
