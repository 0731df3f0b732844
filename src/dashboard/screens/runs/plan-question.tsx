import { Alert, Button, Group } from '@mantine/core'
import { request } from '../../api/api.ts'
import type { Run } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import type { ShownEvent } from './run-events.ts'
import { words } from './words.ts'

/** An orchestrator in the mode `approval` shows its plan before it does any of it. */
export function PlanQuestion({ events, run }: { events: readonly ShownEvent[]; run: Run }) {
  const t = useWords(words)
  const proposed = events.findLast(event => event.type === 'plan.proposed')
  const answered = events.some(({ type }) => type === 'plan.approved' || type === 'plan.rejected')
  const decide = useAction(
    (verb: 'approve' | 'reject') =>
      request(
        'POST',
        `/api/orchestrate/${proposed?.type === 'plan.proposed' ? proposed.orchestration : ''}/${verb}`,
        {},
      ),
    { topics: ['runs'] },
  )
  if (proposed?.type !== 'plan.proposed' || answered || run.status !== 'pending') return null
  return (
    <Alert color="indigo" title={t('plan')}>
      <UntrustedBlock
        text={[
          proposed.plan.text,
          ...proposed.plan.steps.map(
            ({ name, input }, index) => `${index + 1}. ${name} ${JSON.stringify(input)}`,
          ),
        ].join('\n')}
      />
      <Group mt="sm" gap="xs">
        <Button onClick={() => decide.mutate('approve')}>{t('approvePlan')}</Button>
        <Button variant="default" onClick={() => decide.mutate('reject')}>
          {t('rejectPlan')}
        </Button>
      </Group>
    </Alert>
  )
}
