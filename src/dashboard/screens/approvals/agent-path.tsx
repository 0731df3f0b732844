import { Text } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { Untrusted } from '../../components/untrusted.tsx'

/** How many sub-agents lie between the run and who asks. Code inside of a call has a run of its own, and is none. */
export function agentDepth({ runPath }: Approval): number {
  return runPath.filter(id => !id.startsWith('inside_')).length - 1
}

/** Who of the run's agents asks, and for whom each of them works. */
export function AgentPath({ question: { runPath } }: { question: Approval }) {
  const [run = '', ...below] = runPath
  const { data = [] } = useGet<{ execution_id: string; name: string }[]>(
    'runs',
    `/api/runs/${encodeURIComponent(run)}/agents`,
    { enabled: below.length > 0 },
  )
  // The run of a sub-agent's calls is named after the run and the first 16 digits of its execution.
  const names = below.map(
    id => data.find(each => id === `${run}.${each.execution_id.replaceAll('-', '').slice(0, 16)}`)?.name,
  )
  if (below.length === 0 || names.includes(undefined)) return null
  return (
    <Text size="sm" c="dimmed">
      <Untrusted text={names.map(name => `› ${name}`).join(' ')} most={400} />
    </Text>
  )
}
