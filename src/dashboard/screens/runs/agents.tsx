import { Badge, Group, Stack, Text } from '@mantine/core'
import { CornerDownRight } from 'lucide-react'
import { useGet } from '../../api/api.ts'
import { RunBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

interface RunAgent {
  readonly execution_id: string
  readonly parent_execution_id: string | null
  readonly name: string
  readonly description: string | null
  readonly status: 'pending' | 'running' | 'completed' | 'failed'
  readonly stop_reason: string | null
  readonly task: string
  readonly error: string | null
  readonly tokens: number
  readonly cost_usd: number | null
  readonly calls: number
  readonly duration_ms: number | null
  readonly waiting: number
}

/** Who works for whom. One that waits marks all above it. */
export function Agents({ run }: { run: string }) {
  const t = useWords(words)
  const query = useGet<RunAgent[]>('runs', `/api/runs/${encodeURIComponent(run)}/agents`)
  return (
    <DataRegion query={query} isEmpty={all => all.length === 0} empty={<Empty title={t('noEvents')} />}>
      {all => (
        <ul
          className="kogu-card"
          style={{ listStyle: 'none', margin: 0, padding: 12 }}
          aria-label={t('agents')}
        >
          {all
            .filter(({ parent_execution_id }) => parent_execution_id === null)
            .map(agent => (
              <AgentRow key={agent.execution_id} agent={agent} all={all} depth={0} />
            ))}
        </ul>
      )}
    </DataRegion>
  )
}

function AgentRow({ agent, all, depth }: { agent: RunAgent; all: readonly RunAgent[]; depth: number }) {
  const t = useWords(words)
  const format = useFormat()
  const children = all.filter(({ parent_execution_id }) => parent_execution_id === agent.execution_id)
  const waiting = waitingBelow(agent, all)
  return (
    <li>
      <Group gap="sm" wrap="nowrap" align="flex-start" py={8}>
        {depth > 0 && <CornerDownRight size={16} aria-hidden style={{ flex: 'none', marginTop: 4 }} />}
        <Stack gap={2} style={{ flex: 1, minWidth: 0 }}>
          <Group gap="xs">
            <Text fw={600}>
              <Untrusted text={agent.name} most={80} />
            </Text>
            <RunBadge run={{ status: agent.status, stop_reason: agent.stop_reason }} />
            {waiting > 0 && <Badge color="yellow">{t('waitingBelow', { count: waiting })}</Badge>}
          </Group>
          <Text size="sm" c="dimmed">
            <Untrusted text={agent.error ?? agent.description ?? agent.task} most={240} />
          </Text>
          <Text size="xs" c="dimmed">
            {agent.duration_ms === null ? '' : `${format.duration(agent.duration_ms)} · `}
            {format.number(agent.tokens)} {t('tokens')} · {format.money(agent.cost_usd, t('unknown'))} ·{' '}
            {t('calls')} {format.number(agent.calls)}
          </Text>
        </Stack>
      </Group>
      {children.length > 0 && (
        <ul style={{ listStyle: 'none', margin: 0, paddingLeft: 20 }}>
          {children.map(child => (
            <AgentRow key={child.execution_id} agent={child} all={all} depth={depth + 1} />
          ))}
        </ul>
      )}
    </li>
  )
}

function waitingBelow(agent: RunAgent, all: readonly RunAgent[]): number {
  return all
    .filter(({ parent_execution_id }) => parent_execution_id === agent.execution_id)
    .reduce((sum, child) => sum + waitingBelow(child, all), agent.waiting)
}
