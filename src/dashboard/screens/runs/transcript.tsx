import { Alert, Anchor, Badge, Breadcrumbs, Button, Group, Text, UnstyledButton } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  Bot,
  ChevronDown,
  ChevronRight,
  CircleAlert,
  CircleCheck,
  CircleHelp,
  Clock,
  Loader,
  MessageSquare,
  User,
} from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { CallDetails } from './call-details.tsx'
import { FindInRun, useFind } from './find-in-run.tsx'
import { words as nearWords } from './near-limit/words.ts'
import type { ShownEvent } from './run-events.ts'
import classes from './runs.module.css'
import { TranscriptFilter, useFrozen, useTranscriptFilter } from './steer/transcript-filter.tsx'
import { useReasons } from './stop-reason.ts'
import { type CallItem, type Item, toItems } from './transcript-items.ts'
import { words } from './words.ts'

const Markdown = lazy(() => import('../../components/markdown.tsx'))

export interface TranscriptProps {
  readonly run: string
  readonly events: readonly ShownEvent[]
  readonly isRunning: boolean
}

/** Follows what is said while one is at its end, and stays where one reads. Only what is on the screen is drawn. */
export function Transcript({ run, events: all, isRunning }: TranscriptProps) {
  const t = useWords(words)
  const [agent, setAgent] = useUrlState('agent')
  const frozen = useFrozen(all)
  const { events } = frozen
  const ofAgent = useMemo(() => {
    const every = toItems(events)
    return agent === '' ? every : every.filter(item => executionOf(item) === agent)
  }, [events, agent])
  const filter = useTranscriptFilter(ofAgent)
  const items = filter.shown
  const box = useRef<HTMLDivElement>(null)
  const [atEnd, setAtEnd] = useState(true)
  const [seen, setSeen] = useState(0)
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => 64,
    getItemKey: index => items[index]?.key ?? index,
    overscan: 8,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: END_PX,
  })
  useEffect(() => {
    if (atEnd) setSeen(items.length)
  }, [atEnd, items.length])
  const find = useFind(run, items)
  return (
    <div className={classes.transcriptBox}>
      {agent !== '' && <OneAgent name={nameOf(events, agent)} onAll={() => setAgent('')} />}
      <Group gap="sm" justify="space-between">
        <TranscriptFilter filter={filter} frozen={frozen} isRunning={isRunning} />
        <FindInRun find={find} onGo={place => list.scrollToIndex(place, { align: 'center' })} />
      </Group>
      <div
        ref={box}
        className={`kogu-card ${classes.transcript}`}
        role="log"
        aria-live="off"
        aria-label={t('transcript')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
        tabIndex={0}
        onScroll={event => {
          const { scrollHeight, scrollTop, clientHeight } = event.currentTarget
          setAtEnd(scrollHeight - scrollTop - clientHeight < END_PX)
        }}
      >
        <div style={{ height: list.getTotalSize(), position: 'relative' }}>
          {list.getVirtualItems().map(({ key, index, start }) => {
            const item = items[index]
            return (
              <div
                key={key}
                ref={list.measureElement}
                data-index={index}
                className={index === find.place ? `${classes.item} ${classes.found}` : classes.item}
                style={{ transform: `translateY(${start}px)` }}
              >
                {item !== undefined && (
                  <TranscriptItem run={run} item={item} isLast={isRunning && index === items.length - 1} />
                )}
              </div>
            )
          })}
        </div>
      </div>
      {!atEnd && items.length > seen && (
        <Button
          className={classes.pill}
          size="compact-sm"
          radius="xl"
          leftSection={<ChevronDown size={14} aria-hidden />}
          onClick={() => list.scrollToIndex(items.length - 1, { align: 'end' })}
        >
          {t('newItems', { count: items.length - seen })}
        </Button>
      )}
    </div>
  )
}

const END_PX = 80

function OneAgent({ name, onAll }: { name: string; onAll: () => void }) {
  const t = useWords(words)
  return (
    <Breadcrumbs mb="xs" separatorMargin={6}>
      <Anchor component="button" type="button" size="sm" onClick={onAll}>
        {t('allAgents')}
      </Anchor>
      <Text size="sm" fw={600}>
        <Untrusted text={name} most={80} />
      </Text>
    </Breadcrumbs>
  )
}

function nameOf(events: readonly ShownEvent[], agent: string): string {
  const started = events.find(event => event.type === 'agent.started' && event.execution === agent)
  return started?.type === 'agent.started' ? started.name : agent
}

function executionOf(item: Item): string | undefined {
  if (item.kind === 'note') return item.event.execution
  return item.kind === 'call' || item.kind === 'text' ? item.execution : undefined
}

function TranscriptItem({ run, item, isLast }: { run: string; item: Item; isLast: boolean }) {
  const t = useWords(words)
  switch (item.kind) {
    case 'call':
      return <CallLine run={run} item={item} />
    case 'note':
      return <Note event={item.event} />
    case 'text':
      return (
        <div className={classes.says}>
          <Bot size={18} aria-hidden className={classes.who} />
          <div className={classes.saysText}>
            {isLast ? (
              <UntrustedBlockPlain text={item.text} />
            ) : (
              <Suspense fallback={<UntrustedBlockPlain text={item.text} />}>
                <Markdown text={item.text} />
              </Suspense>
            )}
          </div>
        </div>
      )
    default:
      return (
        <div className={classes.says}>
          {item.kind === 'task' ? (
            <User size={18} aria-label={t('you')} className={classes.who} />
          ) : (
            <MessageSquare size={18} aria-label={t('said')} className={classes.who} />
          )}
          <div className={classes.saysText}>
            <UntrustedBlock text={item.text} most={8_000} />
          </div>
        </div>
      )
  }
}

function UntrustedBlockPlain({ text }: { text: string }) {
  return (
    <div style={{ whiteSpace: 'pre-wrap' }}>
      {text.split('\n').map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of one growing text
        <div key={index}>{line === '' ? '\u00a0' : <Untrusted text={line} most={20_000} />}</div>
      ))}
    </div>
  )
}

const STATES = {
  ok: { icon: CircleCheck, color: 'green', word: 'callOk' },
  error: { icon: CircleAlert, color: 'red', word: 'callError' },
  denied: { icon: CircleAlert, color: 'orange', word: 'callDenied' },
  waiting: { icon: Clock, color: 'yellow', word: 'callWaiting' },
  running: { icon: Loader, color: 'indigo', word: 'callRunning' },
  unknown: { icon: CircleHelp, color: 'orange', word: 'callUnknown' },
} as const

export function CallBadge({ state }: { state: keyof typeof STATES }) {
  const t = useWords(words)
  const { icon: Icon, color, word } = STATES[state]
  return (
    <Badge color={color} leftSection={<Icon size={13} aria-hidden />} style={{ flex: 'none' }}>
      {t(word)}
    </Badge>
  )
}

function CallLine({ run, item }: { run: string; item: CallItem }) {
  const t = useWords(words)
  const format = useFormat()
  const [chosen, choose] = useState<boolean>()
  // What went wrong is not looked for.
  const opened = chosen ?? item.state === 'error'
  const Arrow = opened ? ChevronDown : ChevronRight
  return (
    <div className={classes.call}>
      <Group gap="xs" justify="space-between">
        <UnstyledButton
          onClick={() => choose(!opened)}
          aria-expanded={opened}
          // The name of the tool is never covered; what has no room beside it goes below.
          style={{ minWidth: 'min(150px, 100%)', flex: 1 }}
        >
          <Group gap={6} wrap="nowrap">
            <Arrow size={16} aria-hidden style={{ flex: 'none' }} />
            <Text size="sm" fw={600} style={{ flex: 'none' }}>
              <Untrusted text={item.tool} most={40} />
            </Text>
            <Text size="sm" ff="monospace" c="dimmed" truncate>
              <Untrusted text={oneLine(item.input)} most={120} />
            </Text>
          </Group>
        </UnstyledButton>
        <Group gap="xs" wrap="nowrap">
          {item.ms !== undefined && (
            <Text size="xs" c="dimmed" visibleFrom="xs">
              {format.duration(item.ms)}
            </Text>
          )}
          <CallBadge state={item.state} />
          {item.state === 'waiting' && item.approval !== undefined && (
            <Button component={Link} href={routes.approval(item.approval)} size="compact-sm">
              {t('review')}
            </Button>
          )}
        </Group>
      </Group>
      {opened && (
        <CallDetails
          run={run}
          call={item.record ?? item.call}
          tool={item.tool}
          input={item.input}
          isDone={item.ms !== undefined}
          decision={item.decision}
          error={item.error ?? null}
        />
      )}
    </div>
  )
}

export function oneLine(input: unknown): string {
  if (typeof input !== 'object' || input === null) return String(input ?? '')
  const fields: Record<string, unknown> = { ...input }
  for (const key of ['command', 'path', 'url', 'query', 'pattern', 'name', 'input'])
    if (typeof fields[key] === 'string') return fields[key]
  return JSON.stringify(input)
}

function Note({ event }: { event: ShownEvent }) {
  const t = useWords(words)
  const near = useWords(nearWords)
  const said = noteText(event, t, useReasons())
  const text =
    event.type === 'limit.near' ? near(event.limit, { used: shortly(event.used), most: event.most }) : said
  if (text === undefined) return null
  const isBad = event.type === 'step.retry' || (event.type === 'run.finished' && event.status === 'failed')
  return isBad ? (
    <Alert color="orange" py={6}>
      <Untrusted text={text} most={1_000} />
    </Alert>
  ) : (
    <Text size="sm" c="dimmed" ta="center" py={4}>
      <Untrusted text={text} most={400} />
    </Text>
  )
}

/** Money has fractions that nobody reads. */
function shortly(used: number): number {
  return Math.round(used * 10_000) / 10_000
}

function noteText(
  event: ShownEvent,
  t: ReturnType<typeof useWords<keyof (typeof words)['en']>>,
  say: (reason: string) => string,
): string | undefined {
  switch (event.type) {
    case 'step.retry':
      return t('retry', { reason: event.reason })
    case 'run.paused':
      return say(event.reason)
    case 'run.finished':
      return event.status === 'completed'
        ? t('finishedWell')
        : t('finished', { reason: event.error ?? say(event.stopReason) })
    case 'budget.warning':
      return t('budget', { text: event.text })
    case 'agent.created':
      return t('agentCreated', { name: event.name, description: event.description })
    case 'agent.started':
      return t('agentStarted', { name: event.name })
    case 'agent.finished':
      return t('agentFinished', { name: event.name, status: event.status })
    case 'plan.proposed':
      return t('planProposed', { count: event.plan.steps.length })
    case 'plan.approved':
      return t('planApproved', { user: event.user })
    case 'plan.rejected':
      return t('planRejected', { user: event.user })
    default:
      return undefined
  }
}
