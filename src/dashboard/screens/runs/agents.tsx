import { Anchor, Badge, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { ChevronDown, ChevronRight, Dot } from 'lucide-react'
import { type KeyboardEvent, type MouseEvent, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useGet } from '../../api/api.ts'
import { RunBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { moveInTree, type RunAgent, shownRows, type TreeRow } from './agent-tree.ts'
import classes from './runs.module.css'
import { words } from './words.ts'

/** Who works for whom: a tree that is walked by arrow keys. One that waits marks all above it. */
export function Agents({ run }: { run: string }) {
  const t = useWords(words)
  const query = useGet<RunAgent[]>('runs', `/api/runs/${encodeURIComponent(run)}/agents`)
  return (
    <DataRegion query={query} isEmpty={all => all.length === 0} empty={<Empty title={t('noEvents')} />}>
      {all => <AgentTree run={run} all={all} />}
    </DataRegion>
  )
}

function AgentTree({ run, all }: { run: string; all: readonly RunAgent[] }) {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const [sums, setSums] = useUrlState('sums', 'own')
  const [closed, close] = useState<ReadonlySet<string>>(new Set())
  const rows = shownRows(all, closed)
  const [focused, focus] = useState('')
  const current = rows.some(({ agent }) => agent.execution_id === focused)
    ? focused
    : (rows[0]?.agent.execution_id ?? '')
  const set = (id: string, isClosed: boolean): void => {
    const next = new Set(closed)
    if (isClosed) next.add(id)
    else next.delete(id)
    close(next)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const move = moveInTree(event.key, rows, current)
    if (move === undefined) return
    event.preventDefault()
    if (move.close !== undefined) set(current, move.close)
    if (move.open === true) navigate(routes.run(run, { agent: current }))
    const { to } = move
    if (to === undefined) return
    focus(to)
    event.currentTarget.querySelector<HTMLElement>(`[data-agent="${CSS.escape(to)}"]`)?.focus()
  }
  return (
    <>
      {all.length > 1 && (
        <SegmentedControl
          mb="sm"
          aria-label={t('sums')}
          value={sums}
          onChange={setSums}
          data={[
            { value: 'own', label: t('own') },
            { value: 'all', label: t('withBelow') },
          ]}
        />
      )}
      <div className="kogu-card" role="tree" aria-label={t('agents')} tabIndex={-1} onKeyDown={onKeyDown}>
        {rows.map(row => (
          <AgentRow
            key={row.agent.execution_id}
            run={run}
            row={row}
            isSum={sums === 'all'}
            isCurrent={row.agent.execution_id === current}
            onFocus={() => focus(row.agent.execution_id)}
            onToggle={() => set(row.agent.execution_id, !row.isClosed)}
          />
        ))}
      </div>
    </>
  )
}

interface AgentRowProps {
  readonly run: string
  /** With the figures of those below it. */
  readonly isSum: boolean
  readonly row: TreeRow
  readonly isCurrent: boolean
  readonly onFocus: () => void
  readonly onToggle: () => void
}

function AgentRow({ run, row, isSum, isCurrent, onFocus, onToggle }: AgentRowProps) {
  const t = useWords(words)
  const format = useFormat()
  const { agent, depth, below, isClosed, total } = row
  const Arrow = below === 0 ? Dot : isClosed ? ChevronRight : ChevronDown
  const { tokens, cost, calls } = isSum
    ? total
    : { tokens: agent.tokens, cost: agent.cost_usd, calls: agent.calls }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree itself listens to the arrow keys
    <div
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isCurrent}
      aria-expanded={below === 0 ? undefined : !isClosed}
      tabIndex={isCurrent ? 0 : -1}
      data-agent={agent.execution_id}
      className={classes.agent}
      style={{ paddingLeft: 12 + depth * 20 }}
      onFocus={onFocus}
      onClick={below === 0 ? undefined : onToggle}
    >
      <Arrow size={16} aria-hidden style={{ flex: 'none', marginTop: 4 }} />
      <Stack gap={2} style={{ flex: 1, minWidth: 0 }}>
        <Group gap="xs">
          <Text fw={600}>
            <Untrusted text={agent.name} most={80} />
          </Text>
          <RunBadge run={{ status: agent.status, stop_reason: agent.stop_reason }} />
          {total.waiting > 0 && <Badge color="yellow">{t('waitingBelow', { count: total.waiting })}</Badge>}
          {isClosed && <Badge color="gray">{t('collapsed', { count: below })}</Badge>}
        </Group>
        <Text size="sm" c="dimmed">
          <Untrusted text={agent.error ?? agent.description ?? agent.task} most={240} />
        </Text>
        <Text size="xs" c="dimmed">
          {agent.duration_ms === null ? '' : `${format.duration(agent.duration_ms)} · `}
          {t('tokenCount', { count: tokens })} · {format.money(cost, t('unknown'))} · {t('calls')}{' '}
          {format.number(calls)}
        </Text>
      </Stack>
      <Anchor
        component={Link}
        href={routes.run(run, { agent: agent.execution_id })}
        size="sm"
        tabIndex={-1}
        onClick={(event: MouseEvent) => event.stopPropagation()}
      >
        {t('transcript')}
      </Anchor>
    </div>
  )
}
