import { FileText, Folder, GitBranch, Hammer, PanelsTopLeft, Shuffle, Workflow } from 'lucide-react'
import { Untrusted } from '../../components/untrusted.tsx'
import { kindOf } from './definition.ts'
import type { Step } from './types.ts'

const ICONS = {
  ...{ tool: Hammer, panel: PanelsTopLeft, pipeline: Workflow, condition: GitBranch },
  ...{ transform: Shuffle, text: FileText, folder: Folder },
}

export function StepIcon({ step }: { step: Step }) {
  const Icon = ICONS[kindOf(step)]
  return <Icon size={15} aria-hidden style={{ flex: 'none' }} />
}

/** Its title or id, and what does the work. */
export function StepName({ step }: { step: Step }) {
  const worker = step.tool ?? step.panel ?? step.pipeline
  return (
    <>
      <Untrusted text={step.title ?? step.id} most={60} />
      {worker !== undefined && worker !== (step.title ?? step.id) && (
        <span style={{ fontWeight: 400, color: 'var(--mantine-color-dimmed)' }}>
          {' · '}
          <Untrusted text={worker} most={60} />
        </span>
      )}
    </>
  )
}
