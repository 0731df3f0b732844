import {
  Anchor,
  Button,
  Code,
  CopyButton,
  Group,
  Paper,
  Progress,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import type { Page as Pages, Run } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { RiskBadge, RunBadge } from '../../components/badges.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { riskOf, summaryOf, useWaiting } from '../../shell/waiting.ts'
import { StartRun } from '../runs/start-run.tsx'
import { FirstSteps } from './first-steps.tsx'
import type { Attention as AttentionItem, Home } from './home.ts'
import { words } from './words.ts'

export default function HomeScreen() {
  const t = useWords(words)
  const query = useGet<Home>('runs', '/api/home', { refetchMs: 30_000 })
  return (
    <Page
      title={t('title')}
      intro={query.data === undefined ? undefined : <Where home={query.data} />}
      actions={<StartRun />}
    >
      <DataRegion query={query}>
        {home => (
          <Stack gap="md">
            <FirstSteps home={home} />
            {isInUse(home) && <Now home={home} />}
            <Connect />
          </Stack>
        )}
      </DataRegion>
    </Page>
  )
}

/** Until something ran or waits, there is nothing to see here but the first steps. */
function isInUse({ setup, waiting, attention, last_day: { calls } }: Home): boolean {
  return setup.runs + waiting.length + attention.length + calls > 0
}

function Now({ home }: { home: Home }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 3 }}>
        <Waiting />
        <Running home={home} />
        <Attention home={home} />
      </SimpleGrid>
      <LastDay home={home} />
      <Recent />
    </>
  )
}

function Where({ home }: { home: Home }) {
  const t = useWords(words)
  return (
    <Group gap="xs">
      <Untrusted text={home.workspace} />
      <Anchor component={Link} href={routes.permissions()} size="sm">
        {t(MODE_WORDS[home.mode])}
      </Anchor>
    </Group>
  )
}

const SAID = ['server-untrusted', 'server-changed', 'tools-held', 'unknown-price'] as const

function isSaid(code: string): code is (typeof SAID)[number] {
  return (SAID as readonly string[]).includes(code)
}

const MODE_WORDS = {
  ask: 'modeAsk',
  'accept-edits': 'modeAcceptEdits',
  'read-only': 'modeReadOnly',
  auto: 'modeAuto',
} as const

function Card({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  return (
    <Paper p="md" component="section" bg="var(--kogu-surface)">
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      {children}
    </Paper>
  )
}

function Waiting() {
  const t = useWords(words)
  const waiting = useWaiting()
  const format = useFormat()
  return (
    <Card
      title={t('waiting')}
      action={
        waiting.length > 0 ? (
          <Anchor component={Link} href={routes.approvals()} size="sm">
            {t('openInbox')}
          </Anchor>
        ) : undefined
      }
    >
      <Stack gap="xs">
        {waiting.length === 0 && <Text c="dimmed">{t('nothingWaiting')}</Text>}
        {waiting.slice(0, MOST_SHOWN).map(question => (
          <div key={question.id}>
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Anchor component={Link} href={routes.approval(question.id)} fw={600} truncate data-row-link>
                <Untrusted text={question.tool.name} most={50} />
              </Anchor>
              <RiskBadge risk={riskOf(question)} />
            </Group>
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Text size="sm" ff="monospace" truncate>
                <Untrusted text={summaryOf(question)} most={100} />
              </Text>
              <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                {format.ago(question.createdAt)}
              </Text>
            </Group>
          </div>
        ))}
      </Stack>
    </Card>
  )
}

const MOST_SHOWN = 5

function Running({ home: { running } }: { home: Home }) {
  const t = useWords(words)
  const format = useFormat()
  const stop = useAction((id: string) => request('POST', `/api/runs/${encodeURIComponent(id)}/stop`, {}), {
    topics: ['runs'],
  })
  return (
    <Card title={t('running')}>
      <Stack gap="xs">
        {running.length === 0 && <Text c="dimmed">{t('nothingRunning')}</Text>}
        {running.slice(0, MOST_SHOWN).map(run => (
          <Group key={run.id} justify="space-between" wrap="nowrap">
            <Anchor component={Link} href={routes.run(run.id)} truncate data-row-link>
              <Untrusted text={run.task} most={60} />
            </Anchor>
            <Group gap="xs" wrap="nowrap">
              <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                {t('step', { turn: run.turn })} · {format.duration(Date.now() - Date.parse(run.created_at))}
              </Text>
              <Button size="compact-xs" variant="default" onClick={() => stop.mutate(run.id)}>
                {t('stop')}
              </Button>
            </Group>
          </Group>
        ))}
      </Stack>
    </Card>
  )
}

/** Where it can be put right. */
function placeOf({ kind, subject }: AttentionItem): string | undefined {
  if (kind === 'mcp') return routes.mcp(subject)
  if (kind === 'price') return routes.providers()
  return kind === 'config' ? routes.settings() : undefined
}

function Attention({ home: { attention } }: { home: Home }) {
  const t = useWords(words)
  const sayAttention = ({ code, subject, count = 0, text }: AttentionItem): string =>
    code !== undefined && isSaid(code) ? t(code, { server: subject, count }) : text
  return (
    <Card title={t('attention')}>
      <Stack gap="xs">
        {attention.length === 0 && <Text c="dimmed">{t('nothingAttention')}</Text>}
        {attention.slice(0, MOST_SHOWN).map(each => {
          const href = placeOf(each)
          const said = <Untrusted text={sayAttention(each)} />
          return (
            <Text key={each.text} size="sm">
              {href === undefined ? (
                said
              ) : (
                <Anchor component={Link} href={href} size="sm">
                  {said}
                </Anchor>
              )}
            </Text>
          )
        })}
      </Stack>
    </Card>
  )
}

function LastDay({ home: { last_day: day } }: { home: Home }) {
  const t = useWords(words)
  const format = useFormat()
  const share = day.budget_usd === null ? undefined : Math.min(100, (day.cost_usd / day.budget_usd) * 100)
  return (
    <Card title={t('lastDay')}>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Figure
          label={t('runs')}
          value={format.number(day.runs)}
          note={t('failedRuns', { count: day.failed_runs })}
        />
        <Figure
          label={t('calls')}
          value={format.number(day.calls)}
          note={`${t('asked', { count: day.asked })} · ${t('refused', { count: day.refused })}`}
        />
        <Stack gap={4}>
          <Figure
            label={t('cost')}
            value={format.money(day.cost_usd, t('unknown'))}
            note={[
              day.budget_usd === null
                ? t('noBudget')
                : t('ofBudget', { budget: format.money(day.budget_usd, t('unknown')) }),
              ...(day.unknown_prices > 0 ? [t('unknownPrices', { count: day.unknown_prices })] : []),
            ].join(' · ')}
          />
          {share !== undefined && (
            <Progress value={share} aria-label={t('cost')} color={share >= 80 ? 'orange' : 'indigo'} />
          )}
        </Stack>
      </SimpleGrid>
    </Card>
  )
}

function Figure({ label, value, note }: { label: string; value: string; note: string }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fz={26} fw={650} lh={1.2}>
        {value}
      </Text>
      <Text size="sm" c="dimmed">
        {note}
      </Text>
    </div>
  )
}

function Recent() {
  const t = useWords(words)
  const format = useFormat()
  const { data } = useGet<Pages<Run>>('runs', '/api/runs?limit=6')
  if (data === undefined || data.items.length === 0) return null
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{t('recent')}</Title>
        <Anchor component={Link} href={routes.runs()} size="sm">
          {t('allRuns')}
        </Anchor>
      </Group>
      <DataTable
        label={t('recent')}
        rows={data.items}
        rowKey={run => run.id}
        href={run => routes.run(run.id)}
        columns={[
          {
            key: 'task',
            label: t('task'),
            phone: 'title',
            render: run => <Untrusted text={run.task} most={100} />,
          },
          { key: 'state', label: t('state'), render: run => <RunBadge run={run} /> },
          { key: 'started', label: t('started'), align: 'right', render: run => format.ago(run.created_at) },
        ]}
      />
    </section>
  )
}

const SNIPPET = '{"mcpServers": {"kogu": {"command": "kogu", "args": ["mcp"]}}}'

function Connect() {
  const t = useWords(words)
  return (
    <Card title={t('connect')}>
      <Text size="sm" c="dimmed" mb="xs">
        {t('connectText')}
      </Text>
      <Group gap="xs">
        <Code p="xs" style={{ flex: '1 1 280px', overflowWrap: 'anywhere' }}>
          {SNIPPET}
        </Code>
        <CopyButton value={SNIPPET}>
          {({ copied, copy }) => (
            <Button variant="default" size="xs" onClick={copy}>
              {copied ? t('copied') : t('copy')}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Card>
  )
}
