import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Octagon, Play } from 'lucide-react'
import { useEffect, useEffectEvent } from 'react'
import { Link } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import type { Run } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { RunBadge } from '../../components/badges.tsx'
import { ErrorCard } from '../../components/data-region.tsx'
import { isEnter } from '../../components/is-enter.ts'
import type { Editing } from '../../components/saved/use-saved-file.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { PlanQuestion } from '../runs/plan-question.tsx'
import { useRunEvents } from '../runs/run-events.ts'
import { GoOn } from '../runs/steer/go-on.tsx'
import { Transcript } from '../runs/transcript.tsx'
import { estimateAnswer } from './estimate.ts'
import { findModel } from './model-section.tsx'
import { variablesOf } from './prompt-variables.ts'
import type { Models, Panel, PanelSettings } from './types.ts'
import { type Given, ValueFields } from './value-fields.tsx'
import { words } from './words.ts'

export interface SideProps {
  readonly panel: Panel
  readonly editing: Editing<PanelSettings>
  /** For the names in its prompt. */
  readonly given: Given
}

/** Runs the panel as it stands, and shows the run as it happens. */
export function TryIt({ panel, editing, given }: SideProps) {
  const t = useWords(words)
  const [run, setRun] = useUrlState('run')
  const variables = variablesOf(editing.content?.prompt ?? '{{input}}')
  const [values] = given
  const start = useAction(
    async () => {
      if (editing.isDirty && !(await editing.save())) return undefined
      const { input = '', ...others } = values
      const wanted = Object.fromEntries(
        variables
          .filter(name => name !== 'input')
          .map(name => [name, Object.hasOwn(others, name) ? others[name] : '']),
      )
      return request<Run>('POST', '/api/runs', { panel: panel.name, task: input, variables: wanted })
    },
    {
      topics: ['runs', 'panels'],
      quiet: true,
      onDone: started => started !== undefined && setRun(started.id),
    },
  )
  const isBlocked = editing.content === null || editing.problems.length > 0
  const canRun = !isBlocked && !start.isPending && (panel.state === 'trusted' || editing.isDirty)
  const begin = useEffectEvent(() => {
    if (canRun) start.mutate()
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // What is decided in a dialog is decided there.
      if (event.target instanceof Element && event.target.closest('[role="dialog"]') !== null) return
      if ((event.ctrlKey || event.metaKey) && isEnter(event)) begin()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <Stack gap="sm">
      <ValueFields names={variables} given={given} />
      <Group gap="sm">
        <Button
          leftSection={<Play size={16} aria-hidden />}
          loading={start.isPending}
          disabled={!canRun}
          aria-keyshortcuts="Control+Enter"
          onClick={() => start.mutate()}
        >
          {editing.isDirty ? t('saveAndRun') : t('run')}
        </Button>
        <Estimate settings={editing.content ?? {}} values={values} />
      </Group>
      {start.error !== null && <ErrorCard error={start.error} />}
      {run !== '' && <LiveRun key={run} id={run} />}
    </Stack>
  )
}

/** What one answer costs at most, and what the whole run may. */
function Estimate({
  settings,
  values,
}: {
  settings: PanelSettings
  values: Readonly<Record<string, string>>
}) {
  const t = useWords(words)
  const format = useFormat()
  const models = useGet<Models>('models', '/api/models').data
  const { known } = findModel(models, settings.model)
  const { costUsd, tokens } = estimateAnswer(settings, values, known)
  const limit = settings.limits?.max_cost
  const parts = [
    ...(costUsd === null ? [] : [t('estimate', { cost: format.money(costUsd, '') })]),
    ...(tokens === null ? [] : [t('answerTokens', { count: tokens })]),
    limit === undefined ? t('noCostLimit') : t('costLimit', { cost: format.money(limit, '') }),
  ]
  return (
    <Text size="xs" c="dimmed">
      {parts.join(' · ')}
    </Text>
  )
}

function LiveRun({ id }: { id: string }) {
  const t = useWords(words)
  const format = useFormat()
  const run = useGet<Run>('runs', `/api/runs/${encodeURIComponent(id)}`).data
  const { events, error } = useRunEvents(id)
  const stop = useAction(() => request('POST', `/api/runs/${encodeURIComponent(id)}/stop`, {}), {
    topics: ['runs'],
  })
  if (error !== null) return <ErrorCard error={error} />
  const isRunning = run?.status === 'running' || run?.status === 'pending'
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Group gap="xs">
          {run !== undefined && <RunBadge run={run} />}
          {run !== undefined && (
            <Text size="xs" c="dimmed">
              {format.number(run.tokens)} {t('tokens')} · {format.money(run.cost_usd, t('unknownCost'))}
            </Text>
          )}
        </Group>
        <Group gap="xs">
          {run !== undefined && <GoOn run={run} />}
          {isRunning && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Octagon size={14} aria-hidden />}
              onClick={() => stop.mutate()}
            >
              {t('stop')}
            </Button>
          )}
          <Anchor component={Link} href={routes.run(id)} size="sm">
            {t('openRun')}
          </Anchor>
        </Group>
      </Group>
      {run?.error_kind === 'credentials' && (
        <Alert color="red" py="xs">
          {t('keyRefused')}{' '}
          <Anchor component={Link} href={routes.providers()} size="sm">
            {t('testKey')}
          </Anchor>
        </Alert>
      )}
      {run !== undefined && <PlanQuestion run={run} events={events} />}
      <Transcript run={id} events={events} isRunning={isRunning} />
    </Stack>
  )
}
