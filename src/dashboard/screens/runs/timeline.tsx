import { Anchor, Button, Text } from '@mantine/core'
import { Fragment, useState } from 'react'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { TableToggle } from '../../components/table-toggle.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { CallDrawer } from './calls.tsx'
import classes from './runs.module.css'
import { useReasons } from './stop-reason.ts'
import { CallBadge } from './transcript.tsx'
import { words } from './words.ts'

interface TimelineItem {
  readonly kind: 'step' | 'call' | 'agent' | 'pause'
  readonly id: string
  readonly execution: string
  readonly label: string
  readonly started_at: string
  readonly ended_at: string | null
  readonly wait_ms: number
  readonly backoffs: readonly { readonly started_at: string; readonly ms: number }[]
  readonly record: string | null
  readonly approval: string | null
  readonly state: 'running' | 'waiting' | 'ok' | 'error' | 'denied' | 'unknown'
  readonly tokens: number | null
}

/** Rows that a browser draws at once without being slow. */
const PAGE = 300

/** When what happened. Waiting is hatched and working is solid, and the two are never added together. */
export function Timeline({ run }: { run: string }) {
  const t = useWords(words)
  const [most, show] = useState(PAGE)
  const query = useGet<{ items: TimelineItem[] }>('runs', `/api/runs/${encodeURIComponent(run)}/timeline`)
  return (
    <DataRegion
      query={query}
      isEmpty={({ items }) => items.length === 0}
      empty={<Empty title={t('noEvents')} />}
    >
      {({ items }) => (
        <>
          <TableToggle label={t('picture')} table={<TimelineTable items={items.slice(0, most)} />}>
            <TimelinePicture run={run} items={items.slice(0, most)} />
          </TableToggle>
          {items.length > most && (
            <Button variant="default" onClick={() => show(most + PAGE)}>
              {t('moreRows', { count: Math.min(PAGE, items.length - most) })}
            </Button>
          )}
          <CallDrawer run={run} />
        </>
      )}
    </DataRegion>
  )
}

function TimelinePicture({ run, items }: { run: string; items: readonly TimelineItem[] }) {
  const t = useWords(words)
  const format = useFormat()
  const starts = items.map(({ started_at }) => Date.parse(started_at))
  const ends = items.map(({ ended_at }) => (ended_at === null ? Date.now() : Date.parse(ended_at)))
  const from = Math.min(...starts)
  const span = Math.max(1, Math.max(...ends) - from)
  const depthOf = depthsOf(items)
  const labelOf = useLabels()
  const percent = (ms: number): string => `${(ms / span) * 100}%`
  return (
    <div className="kogu-card">
      <div className={classes.timeline}>
        {items.map((item, index) => {
          const start = (starts[index] ?? from) - from
          const whole = (ends[index] ?? from) - from - start
          const stands = item.state === 'waiting' || item.kind === 'pause'
          const waited = Math.min(whole, stands ? whole : item.wait_ms)
          const failed = item.state === 'error' || item.state === 'denied'
          const backedOff = item.backoffs.reduce((sum, { ms }) => sum + ms, 0)
          return (
            <Fragment key={`${item.kind} ${item.execution} ${item.id}`}>
              <Text
                size="sm"
                truncate
                pl={depthOf(item) * 20 + (item.kind === 'step' ? 0 : 16)}
                fw={item.kind === 'step' ? 600 : 400}
              >
                {item.record === null ? (
                  <Untrusted text={labelOf(item)} most={60} />
                ) : (
                  <Anchor
                    component={Link}
                    href={routes.run(run, { tab: 'timeline', call: item.record })}
                    size="sm"
                  >
                    <Untrusted text={labelOf(item)} most={60} />
                  </Anchor>
                )}
              </Text>
              <div className={classes.track} aria-hidden>
                {waited > 0 && (
                  <div
                    className={`${classes.segment} kogu-bar kogu-bar-wait`}
                    style={{ left: percent(start), width: percent(waited) }}
                  />
                )}
                {whole - waited >= 0 && !stands && (
                  <div
                    className={`${classes.segment} kogu-bar ${failed ? 'kogu-bar-failed' : 'kogu-bar-run'}`}
                    style={{ left: percent(start + waited), width: percent(whole - waited) }}
                  />
                )}
                {item.backoffs.map(({ started_at, ms }) => (
                  <div
                    key={started_at}
                    className={`${classes.segment} kogu-bar kogu-bar-backoff`}
                    style={{ left: percent(Date.parse(started_at) - from), width: percent(ms) }}
                  />
                ))}
              </div>
              {item.state === 'waiting' && item.approval !== null ? (
                <Button component={Link} href={routes.approval(item.approval)} size="compact-xs">
                  {t('review')}
                </Button>
              ) : (
                <Text size="xs" c="dimmed" ta="right">
                  {format.duration(Math.max(0, stands ? waited : whole - waited - backedOff))}
                </Text>
              )}
            </Fragment>
          )
        })}
      </div>
      <Text size="xs" c="dimmed" px="sm" pb="sm">
        {t('hatched')}
      </Text>
    </div>
  )
}

function useLabels(): (item: TimelineItem) => string {
  const t = useWords(words)
  const say = useReasons()
  return ({ kind, label }) => {
    if (kind === 'step') return t('step', { turn: Number(label) })
    return kind === 'pause' ? say(label) : label
  }
}

/** What an agent does stands below the agent that made it. */
function depthsOf(items: readonly TimelineItem[]): (item: TimelineItem) => number {
  const parents = new Map(
    items.flatMap(({ kind, id, execution }) => (kind === 'agent' ? [[id, execution] as const] : [])),
  )
  return ({ execution }) => {
    let depth = 0
    for (let next = parents.get(execution); next !== undefined && depth < MOST_DEPTH; depth += 1)
      next = parents.get(next)
    return depth
  }
}

const MOST_DEPTH = 10

function TimelineTable({ items }: { items: readonly TimelineItem[] }) {
  const t = useWords(words)
  const format = useFormat()
  const labelOf = useLabels()
  const whole = ({ started_at, ended_at }: TimelineItem): number =>
    (ended_at === null ? Date.now() : Date.parse(ended_at)) - Date.parse(started_at)
  return (
    <DataTable
      label={t('timeline')}
      rows={items}
      rowKey={({ kind, execution, id }) => `${kind} ${execution} ${id}`}
      columns={[
        {
          key: 'label',
          label: t('tool'),
          phone: 'title',
          render: item => <Untrusted text={labelOf(item)} most={60} />,
        },
        { key: 'state', label: t('state'), render: item => <CallBadge state={item.state} /> },
        { key: 'start', label: t('started'), render: item => format.time(item.started_at) },
        {
          key: 'time',
          label: t('duration'),
          align: 'right',
          render: item => format.duration(whole(item) - item.wait_ms),
        },
        {
          key: 'wait',
          label: t('callWaiting'),
          align: 'right',
          render: item => format.duration(item.wait_ms),
        },
        {
          key: 'backoff',
          label: t('backoff'),
          align: 'right',
          phone: 'hide',
          render: item => format.duration(item.backoffs.reduce((sum, { ms }) => sum + ms, 0)),
        },
      ]}
    />
  )
}
