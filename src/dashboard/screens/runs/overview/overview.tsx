import { Anchor, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import { Link } from 'wouter'
import { useGet } from '../../../api/api.ts'
import type { Change, Run } from '../../../api/types.ts'
import { Tile } from '../../../components/tile.tsx'
import { Untrusted, UntrustedBlock } from '../../../components/untrusted.tsx'
import { useShortPath } from '../../../components/use-short-path.ts'
import { useFormat } from '../../../i18n/format.ts'
import { useWords } from '../../../i18n/language.tsx'
import { routes } from '../../../routes.ts'
import { summaryOf, useWaiting } from '../../../shell/waiting.ts'
import { useRunCalls } from '../calls.tsx'
import { useReasons } from '../stop-reason.ts'
import { CallBadge, oneLine } from '../transcript.tsx'
import { words as runWords } from '../words.ts'
import { words } from './words.ts'

const Markdown = lazy(() => import('../../../components/markdown.tsx'))

/** How it ended and what is left of it: what waits, what was refused, which files are others now. */
export function Overview({ run }: { run: Run }) {
  const r = useWords(runWords)
  const say = useReasons()
  return (
    <Stack gap="md">
      <Figures run={run} />
      <OpenQuestions run={run.id} />
      <Part title={r('result')}>
        {run.text !== null && run.text !== '' ? (
          <Suspense fallback={<UntrustedBlock text={run.text} />}>
            <Markdown text={run.text} />
          </Suspense>
        ) : (
          <Text size="sm" c="dimmed">
            <Untrusted
              text={
                run.stop_reason === null ? r('noOutput') : r('stopReason', { reason: say(run.stop_reason) })
              }
            />
          </Text>
        )}
      </Part>
      <RefusedCalls run={run.id} />
      <ChangedFiles run={run.id} />
    </Stack>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="kogu-card" aria-label={title} style={{ padding: 'var(--mantine-spacing-md)' }}>
      <Title order={2} fz="md" mb="xs">
        {title}
      </Title>
      {children}
    </section>
  )
}

function Figures({ run }: { run: Run }) {
  const r = useWords(runWords)
  const format = useFormat()
  const { denied = 0, failed_calls: failed = 0 } = run
  const end = run.completed_at === null ? Date.now() : Date.parse(run.completed_at)
  const refused = [
    ...(denied > 0 ? [`${format.number(denied)} ${r('callDenied')}`] : []),
    ...(failed > 0 ? [`${format.number(failed)} ${r('callError')}`] : []),
  ]
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <Tile label={r('duration')} value={format.duration(end - Date.parse(run.created_at))}>
        {format.dateTime(run.created_at)}
      </Tile>
      <Tile label={r('cost')} value={format.money(run.cost_usd, r('unknown'))} />
      <Tile label={r('tokens')} value={format.number(run.tokens)} />
      <Tile label={r('calls')} value={format.number(run.calls)}>
        {refused.join(' · ')}
      </Tile>
    </SimpleGrid>
  )
}

function OpenQuestions({ run }: { run: string }) {
  const t = useWords(words)
  const r = useWords(runWords)
  const waiting = useWaiting().filter(({ runPath }) => runPath[0] === run)
  if (waiting.length === 0) return null
  return (
    <Part title={t('openQuestions')}>
      <Rows>
        {waiting.map(question => (
          <Group key={question.id} component="li" gap="xs" justify="space-between" wrap="nowrap">
            <Text size="sm" truncate>
              <strong>
                <Untrusted text={question.tool.name} most={60} />
              </strong>{' '}
              <Untrusted text={summaryOf(question)} most={120} />
            </Text>
            <Button component={Link} href={routes.approval(question.id)} size="compact-sm" flex="none">
              {r('review')}
            </Button>
          </Group>
        ))}
      </Rows>
    </Part>
  )
}

const MOST_ROWS = 20

function RefusedCalls({ run }: { run: string }) {
  const t = useWords(words)
  const { data } = useRunCalls(run)
  const refused = (data?.items ?? []).filter(({ state }) => state === 'denied' || state === 'error')
  if (refused.length === 0) return null
  return (
    <Part title={t('refusedCalls')}>
      <Rows>
        {refused.slice(0, MOST_ROWS).map(({ id, tool, args, state }) => (
          <Group key={id} component="li" gap="xs" wrap="nowrap">
            <CallBadge state={state} />
            <Anchor component={Link} href={routes.run(run, { tab: 'calls', call: id })} size="sm" truncate>
              <Untrusted text={`${tool} ${oneLine(args)}`} most={120} />
            </Anchor>
          </Group>
        ))}
      </Rows>
    </Part>
  )
}

function ChangedFiles({ run }: { run: string }) {
  const t = useWords(words)
  const shorten = useShortPath()
  const { data = [] } = useGet<Change[]>('changes', `/api/changes?run=${encodeURIComponent(run)}&limit=500`)
  const files = new Set(
    data.filter(({ undone }) => !undone).flatMap(({ paths }) => paths.map(({ path }) => path)),
  )
  if (files.size === 0) return null
  return (
    <Part title={t('changedFiles')}>
      <Rows>
        {[...files].slice(0, MOST_ROWS).map(path => (
          <Text key={path} component="li" size="sm" ff="monospace">
            <Untrusted text={shorten(path)} most={200} />
          </Text>
        ))}
      </Rows>
      <Anchor component={Link} href={routes.run(run, { tab: 'changes' })} size="sm">
        {t('lookAtChanges')}
      </Anchor>
    </Part>
  )
}

function Rows({ children }: { children: ReactNode }) {
  return (
    <Stack gap={6} component="ul" m={0} p={0} mb="xs" style={{ listStyle: 'none' }}>
      {children}
    </Stack>
  )
}
