import { Anchor, Group, Tabs, Text, VisuallyHidden } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { toShownError, useGet } from '../../api/api.ts'
import type { Change, Run } from '../../api/types.ts'
import { RunBadge } from '../../components/badges.tsx'
import { DataRegion, ErrorCard } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlChoice } from '../../routes.ts'
import { AgentColumn, Agents } from './agents/agents.tsx'
import { Calls } from './calls.tsx'
import { Changes } from './changes.tsx'
import { NoSuchRun } from './no-such-run/no-such-run.tsx'
import { Overview } from './overview/overview.tsx'
import { PlanQuestion } from './plan-question.tsx'
import { RawEvents } from './raw-events.tsx'
import { type ShownEvent, useRunEvents } from './run-events.ts'
import classes from './runs.module.css'
import { shortModel } from './short-model.ts'
import { Ending } from './steer/ending.tsx'
import { RunActions } from './steer/run-actions.tsx'
import { SendMessage } from './steer/send-message.tsx'
import { useReasons } from './stop-reason.ts'
import { Timeline } from './timeline.tsx'
import { Transcript } from './transcript.tsx'
import { words } from './words.ts'

const TABS = ['overview', 'transcript', 'timeline', 'calls', 'agents', 'changes', 'inout', 'events'] as const

export function RunDetail({ id }: { id: string }) {
  const t = useWords(words)
  const query = useGet<Run>('runs', `/api/runs/${encodeURIComponent(id)}`)
  const events = useRunEvents(id)
  const draft = useState('')
  const [tab, setTab] = useUrlChoice('tab', TABS, 'transcript')
  const isWide = useMediaQuery('(min-width: 1400px)')
  const hasColumn = isWide && (query.data?.agents ?? 1) > 1
  // What is no id at all is refused as such.
  if (query.data === undefined && [400, 404].includes(toShownError(query.error).status))
    return <NoSuchRun id={id} />
  return (
    <DataRegion query={query}>
      {run => (
        <Page
          title={run.task.split('\n')[0] ?? ''}
          intro={<Facts run={run} />}
          actions={<RunActions run={run} events={events.events} />}
        >
          <PlanQuestion events={events.events} run={run} />
          <Ending run={run} events={events.events} />
          <Tabs value={tab} onChange={value => setTab(value ?? '')} keepMounted={false}>
            <div style={{ overflowX: 'auto' }}>
              <Tabs.List mb="sm" style={{ flexWrap: 'nowrap', minWidth: 'max-content' }}>
                {TABS.map(each => (
                  <Tabs.Tab key={each} value={each}>
                    {t(each)}
                    {each === 'calls' && run.calls > 0 ? ` (${run.calls})` : ''}
                    {each === 'agents' && (run.agents ?? 1) > 1 ? ` (${run.agents})` : ''}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
            </div>
            <Tabs.Panel value="overview">
              <Overview run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="transcript">
              {events.error !== null && <ErrorCard error={events.error} onRetry={events.reload} />}
              <div className={hasColumn ? classes.withAgents : undefined}>
                <Transcript run={id} events={events.events} isRunning={run.status === 'running'} />
                {hasColumn && <AgentColumn run={id} />}
              </div>
              {run.status !== 'cancelled' && <SendMessage run={id} label={t('say')} draft={draft} />}
            </Tabs.Panel>
            <Tabs.Panel value="timeline">
              <Timeline run={id} />
            </Tabs.Panel>
            <Tabs.Panel value="calls">
              <Calls run={id} />
            </Tabs.Panel>
            <Tabs.Panel value="agents">
              <Agents run={id} />
            </Tabs.Panel>
            <Tabs.Panel value="changes">
              <Changes run={id} />
            </Tabs.Panel>
            <Tabs.Panel value="inout">
              <InputOutput run={run} />
            </Tabs.Panel>
            <Tabs.Panel value="events">
              <RawEvents events={events.events} />
            </Tabs.Panel>
          </Tabs>
          <Announcer events={events.events} />
        </Page>
      )}
    </DataRegion>
  )
}

function Facts({ run }: { run: Run }) {
  const t = useWords(words)
  const format = useFormat()
  const changes = useGet<Change[]>('changes', `/api/changes?run=${encodeURIComponent(run.id)}&limit=500`)
  const files = new Set(
    (changes.data ?? [])
      .filter(({ undone }) => !undone)
      .flatMap(({ paths }) => paths.map(({ path }) => path)),
  ).size
  const end = run.completed_at === null ? Date.now() : Date.parse(run.completed_at)
  return (
    <Group gap="xs" mt={4}>
      <RunBadge run={run} />
      {(run.denied ?? 0) > 0 && (
        <Anchor size="sm" component={Link} href={routes.run(run.id, { tab: 'calls', show: 'denied' })}>
          {t('deniedCalls', { count: run.denied ?? 0 })}
        </Anchor>
      )}
      {files > 0 && (
        <Anchor size="sm" component={Link} href={routes.run(run.id, { tab: 'changes' })}>
          {t('filesChanged', { count: files })}
        </Anchor>
      )}
      {run.agent !== null && (
        <Anchor size="sm" component={Link} href={routes.panel(run.agent)}>
          <Untrusted text={run.agent} most={60} />
        </Anchor>
      )}
      <Text size="sm" c="dimmed">
        <Untrusted text={shortModel(run.model)} most={60} /> · {format.dateTime(run.created_at)} ·{' '}
        {format.duration(end - Date.parse(run.created_at))} · {t('tokenCount', { count: run.tokens })} ·{' '}
        {format.money(run.cost_usd, t('unknown'))}
        {run.max_cost_usd === null ? '' : ` / ${format.money(run.max_cost_usd, '')}`}
      </Text>
    </Group>
  )
}

function InputOutput({ run }: { run: Run }) {
  const t = useWords(words)
  const say = useReasons()
  return (
    <>
      <Text fw={600}>{t('task')}</Text>
      <UntrustedBlock text={run.task} most={20_000} label={t('task')} />
      <Text fw={600} mt="md">
        {t('result')}
      </Text>
      {run.stop_reason !== null && (
        <Text size="sm" c="dimmed">
          <Untrusted text={t('stopReason', { reason: say(run.stop_reason) })} />
        </Text>
      )}
      <UntrustedBlock text={run.error ?? run.text ?? ''} most={20_000} label={t('result')} />
    </>
  )
}

/** Those who listen hear what changed, not every word as it streams. */
function Announcer({ events }: { events: readonly ShownEvent[] }) {
  const t = useWords(words)
  const say = useReasons()
  const [text, setText] = useState('')
  const last = events.at(-1)
  useEffect(() => {
    if (last?.type === 'call.finished') setText(`${last.tool} ${t(last.ok ? 'callOk' : 'callError')}`)
    if (last?.type === 'call.waiting') setText(`${last.tool} ${t('callWaiting')}`)
    if (last?.type === 'run.finished') setText(t('finished', { reason: say(last.stopReason) }))
  }, [last, t, say])
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {text}
    </VisuallyHidden>
  )
}
