import { Button, CopyButton, Menu, Text } from '@mantine/core'
import { CirclePause, Download, Ellipsis, Link2, Octagon, Play, RotateCw, StepForward } from 'lucide-react'
import { useLocation } from 'wouter'
import { request } from '../../../api/api.ts'
import type { Run } from '../../../api/types.ts'
import { useAction } from '../../../api/use-action.ts'
import { downloadText } from '../../../components/download.ts'
import { useWords } from '../../../i18n/language.tsx'
import { routes } from '../../../routes.ts'
import type { ShownEvent } from '../run-events.ts'
import { words as runWords } from '../words.ts'
import { GoOn } from './go-on.tsx'
import { words } from './words.ts'

type Verb = 'stop' | 'stop-after-step' | 'pause' | 'resume' | 'again'

const WISHES = { stop: 'stopping', pause: 'pausing', stop_after_step: 'stoppingAfterStep' } as const
/** For whom it stands still then is not for this button to say. */
const WAITS = new Set(['queued', 'awaiting_approval', 'awaiting_plan'])

/** It ended early, or stands still for nobody. */
export function mayGoOn({ status, stop_reason: reason }: Run): boolean {
  if (status === 'pending') return reason !== null && !WAITS.has(reason)
  return status === 'failed' || status === 'cancelled'
}

export function RunActions({ run, events }: { run: Run; events: readonly ShownEvent[] }) {
  const t = useWords(words)
  const r = useWords(runWords)
  const [, navigate] = useLocation()
  const act = useAction(
    (verb: Verb) => request<Run>('POST', `/api/runs/${encodeURIComponent(run.id)}/${verb}`, {}),
    { topics: ['runs'] },
  )
  const isActive = run.status === 'running' || run.status === 'pending'
  return (
    <>
      {run.requested !== null && (
        <Text size="sm" role="status">
          {t(WISHES[run.requested])}
        </Text>
      )}
      <GoOn run={run} />
      {mayGoOn(run) && !run.can_extend && (
        <Button
          variant="default"
          leftSection={<Play size={16} aria-hidden />}
          loading={act.isPending}
          onClick={() => act.mutate('resume')}
        >
          {r('resume')}
        </Button>
      )}
      {run.status === 'running' && (
        <Button
          variant="default"
          leftSection={<StepForward size={16} aria-hidden />}
          disabled={run.requested !== null}
          onClick={() => act.mutate('stop-after-step')}
        >
          {t('stopAfterStep')}
        </Button>
      )}
      {isActive && (
        <Button
          color="red"
          variant="light"
          leftSection={<Octagon size={16} aria-hidden />}
          loading={act.isPending}
          disabled={run.requested === 'stop'}
          onClick={() => act.mutate('stop')}
        >
          {r('stop')}
        </Button>
      )}
      <Menu>
        <Menu.Target>
          <Button variant="default" px="xs" aria-label={r('more')}>
            <Ellipsis size={18} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {run.status === 'running' && (
            <Menu.Item
              leftSection={<CirclePause size={15} aria-hidden />}
              onClick={() => act.mutate('pause')}
            >
              {t('pause')}
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<RotateCw size={15} aria-hidden />}
            onClick={() => act.mutate('again', { onSuccess: made => navigate(routes.run(made.id)) })}
          >
            {r('again')}
          </Menu.Item>
          <CopyButton value={window.location.href}>
            {({ copied, copy }) => (
              <Menu.Item
                closeMenuOnClick={false}
                onClick={copy}
                leftSection={<Link2 size={15} aria-hidden />}
              >
                {copied ? r('copied') : r('copyLink')}
              </Menu.Item>
            )}
          </CopyButton>
          <Menu.Item
            onClick={() =>
              downloadText(`run-${run.id}.ndjson`, events.map(event => JSON.stringify(event)).join('\n'))
            }
            leftSection={<Download size={15} aria-hidden />}
          >
            {r('export')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
