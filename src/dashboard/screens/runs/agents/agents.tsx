import { Anchor, Badge, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { ChevronDown, ChevronRight, Dot } from 'lucide-react'
import { type KeyboardEvent, type MouseEvent, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useGet } from '../../../api/api.ts'
import { RunBadge } from '../../../components/badges.tsx'
import { DataRegion, Empty } from '../../../components/data-region.tsx'
import { Untrusted } from '../../../components/untrusted.tsx'
import { useFormat } from '../../../i18n/format.ts'
import { useWords } from '../../../i18n/language.tsx'
import { routes, useUrlChoice, useUrlState } from '../../../routes.ts'
import classes from '../runs.module.css'
import { words } from '../words.ts'
import { AgentDetails } from './agent-details.tsx'
import { moveInTree, type RunAgent, shownRows, type TreeRow } from './agent-tree.ts'
import { words as ownWords } from './words.ts'

function useAgents(run: string) {
  return useGet<RunAgent[]>('runs', `/api/runs/${encodeURIComponent(run)}/agents`)
}

/** Who works for whom: a tree that is walked by arrow keys. One that waits marks all above it. */
export function Agents({ run }: { run: string }) {
  const t = useWords(words)
  const [sums, setSums] = useUrlChoice('sums', ['own', 'all'], 'own')
  return (
    <DataRegion
      query={useAgents(run)}
      isEmpty={all => all.length === 0}
      empty={<Empty title={t('noEvents')} />}
    >
      {all => (
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
          <AgentTree run={run} all={all} isSum={sums === 'all'} />
        </>
      )}
    </DataRegion>
  )
}

/** The same beside the transcript, where there is room: whom one chooses is whose transcript one reads. */
export function AgentColumn({ run }: { run: string }) {
  const { data = [] } = useAgents(run)
  if (data.length < 2) return null
  return (
    <div className={classes.agentColumn}>
      <AgentTree run={run} all={data} isSum isSlim />
    </div>
  )
}

interface AgentTreeProps {
  readonly run: string
  readonly all: readonly RunAgent[]
  /** With the figures of those below each. */
  readonly isSum: boolean
  readonly isSlim?: boolean
}

function AgentTree({ run, all, isSum, isSlim = false }: AgentTreeProps) {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const [closed, close] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [chosen, choose] = useUrlState('row')
  const rows = shownRows(all, closed, chosen)
  const chosenRow = rows.find(({ id }) => id === chosen) ?? rows[0]
  const current = chosenRow?.id ?? ''
  const set = (id: string, isClosed: boolean): void => close(new Map(closed).set(id, isClosed))
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const move = moveInTree(event.key, rows, current)
    if (move === undefined) return
    event.preventDefault()
    if (move.close !== undefined) set(current, move.close)
    if (move.open === true) navigate(routes.run(run, { agent: current }))
    const { to } = move
    if (to === undefined) return
    choose(to, { replace: true })
    event.currentTarget.querySelector<HTMLElement>(`[data-agent="${CSS.escape(to)}"]`)?.focus()
  }
  return (
    <>
      <div className="kogu-card" role="tree" aria-label={t('agents')} tabIndex={-1} onKeyDown={onKeyDown}>
        {rows.map(row => (
          <AgentRow
            key={row.id}
            run={run}
            row={row}
            isSum={isSum}
            isSlim={isSlim}
            isCurrent={row === chosenRow}
            onChoose={() => choose(row.id, { replace: true })}
            onToggle={() => set(row.id, !row.isClosed)}
          />
        ))}
      </div>
      {!isSlim && chosenRow !== undefined && chosenRow.same === undefined && (
        <AgentDetails key={current} run={run} row={chosenRow} />
      )}
    </>
  )
}

interface AgentRowProps extends Pick<AgentTreeProps, 'run' | 'isSum' | 'isSlim'> {
  readonly row: TreeRow
  readonly isCurrent: boolean
  readonly onChoose: () => void
  readonly onToggle: () => void
}

function AgentRow({ run, row, isSum, isSlim, isCurrent, onChoose, onToggle }: AgentRowProps) {
  const t = useWords(words)
  const own = useWords(ownWords)
  const format = useFormat()
  const { id, agent, same, depth, below, isClosed, total } = row
  const Arrow = below === 0 ? Dot : isClosed ? ChevronRight : ChevronDown
  const { tokens, cost, calls } =
    isSum || same !== undefined ? total : { tokens: agent.tokens, cost: agent.cost_usd, calls: agent.calls }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree itself listens to the arrow keys
    <div
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isCurrent}
      aria-expanded={below === 0 ? undefined : !isClosed}
      tabIndex={isCurrent ? 0 : -1}
      data-agent={id}
      className={classes.agent}
      style={{ paddingLeft: 12 + depth * (isSlim ? 12 : 20) }}
      onClick={onChoose}
    >
      <Arrow
        size={16}
        aria-hidden
        style={{ flex: 'none', marginTop: 4, cursor: below === 0 ? undefined : 'pointer' }}
        onClick={below === 0 ? undefined : onToggle}
      />
      <Stack gap={2} style={{ flex: 1, minWidth: 0 }}>
        <Group gap="xs">
          <Text fw={600}>
            <Untrusted text={agent.name} most={80} />
            {same !== undefined && ` ×${format.number(same)}`}
          </Text>
          <RunBadge run={{ status: agent.status, stop_reason: agent.stop_reason }} />
          {agent.stopping && <Badge color="orange">{own('stopping')}</Badge>}
          {total.waiting > 0 && <Badge color="yellow">{t('waitingBelow', { count: total.waiting })}</Badge>}
          {isClosed && same === undefined && <Badge color="gray">{t('collapsed', { count: below })}</Badge>}
        </Group>
        {!isSlim && same === undefined && (
          <Text size="sm" c="dimmed">
            <Untrusted text={agent.error ?? agent.task} most={240} />
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {agent.duration_ms === null || same !== undefined ? '' : `${format.duration(agent.duration_ms)} · `}
          {t('tokenCount', { count: tokens })} · {format.money(cost, t('unknown'))} · {t('calls')}{' '}
          {format.number(calls)}
        </Text>
      </Stack>
      {same === undefined && (
        <Anchor
          component={Link}
          href={routes.run(run, { agent: agent.execution_id })}
          size="sm"
          tabIndex={-1}
          onClick={(event: MouseEvent) => event.stopPropagation()}
        >
          {t('transcript')}
        </Anchor>
      )}
    </div>
  )
}
