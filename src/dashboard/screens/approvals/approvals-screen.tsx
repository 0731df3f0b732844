import { Button, Group, NativeSelect, Select, Stack, Tabs, Text, UnstyledButton } from '@mantine/core'
import { ArrowLeft, Bell, Hand } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Link, useParams } from 'wouter'
import { useGet } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { RiskBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { toChoices, Untrusted } from '../../components/untrusted.tsx'
import { words as common } from '../../components/words.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { ALERTS, useAlertSetting } from '../../shell/alerts.ts'
import { riskOf, summaryOf, useApprovals, useWaiting } from '../../shell/waiting.ts'
import { Candidates } from '../permissions/history/candidates.tsx'
import type { AuditSummary } from '../permissions/types.ts'
import { agentDepth } from './agent-path.tsx'
import { ApprovalCard } from './approval-card.tsx'
import classes from './approvals.module.css'
import { BatchCard } from './batch-card.tsx'
import { Decided, Expired } from './decided.tsx'
import { words } from './words.ts'

export default function ApprovalsScreen() {
  const t = useWords(words)
  const [tab, setTab] = useUrlState('tab', 'waiting')
  const today = useToday()
  return (
    <Page title={t('title')} intro={t('intro')} actions={<Alerts />}>
      <Tabs value={tab} onChange={value => setTab(value ?? 'waiting')} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="waiting">{t('waitingCount', { count: useWaiting().length })}</Tabs.Tab>
          <Tabs.Tab value="decided">{t('decidedCount', { count: today?.answered ?? 0 })}</Tabs.Tab>
          <Tabs.Tab value="expired">{t('expiredCount', { count: today?.expired ?? 0 })}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="waiting">
          <Inbox />
        </Tabs.Panel>
        <Tabs.Panel value="decided">
          <Decided />
        </Tabs.Panel>
        <Tabs.Panel value="expired">
          <Expired />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

interface Today {
  readonly answered: number
  readonly expired: number
}

/** What became of the questions of this day. */
function useToday(): Today | undefined {
  const [since] = useState(() => new Date(new Date().setHours(0, 0, 0, 0)).toISOString())
  return useGet<Today>('audit', `/api/audit/summary?since=${encodeURIComponent(since)}`).data
}

function Inbox() {
  const t = useWords(words)
  const query = useApprovals()
  const { id } = useParams<{ id?: string }>()
  const [batch] = useUrlState('run')
  const [tool] = useUrlState('tool')
  const [risk] = useUrlState('risk')
  const [panel] = useUrlState('panel')
  const isWanted = (question: Approval): boolean =>
    (tool === '' || question.tool.name === tool) &&
    (risk === '' || riskOf(question) === risk) &&
    (panel === '' || question.agent === panel)
  const known = useKnown(query.data ?? [])
  const chosen = id === undefined ? undefined : known.get(id)
  const together = (query.data ?? []).filter(
    ({ runPath, answer, isDangerous }) => runPath[0] === batch && answer === null && !isDangerous,
  )
  return (
    <DataRegion
      query={query}
      isEmpty={questions => questions.length === 0 && chosen === undefined}
      empty={
        <Empty
          icon={<Hand size={36} aria-hidden />}
          title={t('nothing')}
          guide="permissions"
          action={
            <Button component={Link} href={routes.permissions()} variant="default">
              {t('seeRules')}
            </Button>
          }
        >
          <NothingWaits />
        </Empty>
      }
    >
      {questions => (
        <div className={classes.split} data-chosen={id !== undefined || batch !== ''}>
          <div className={classes.side}>
            {questions.length > 1 && <Filters questions={questions} />}
            <QuestionList questions={questions.filter(isWanted)} chosen={id} />
          </div>
          <div className={classes.detail}>
            {(id !== undefined || batch !== '') && (
              <Button
                component={Link}
                href={routes.approvals()}
                variant="subtle"
                size="compact-sm"
                hiddenFrom="sm"
                mb="xs"
                leftSection={<ArrowLeft size={15} aria-hidden />}
              >
                {t('back')}
              </Button>
            )}
            {batch !== '' ? (
              <BatchCard key={batch} questions={together} />
            ) : chosen !== undefined ? (
              <ApprovalCard
                key={chosen.id}
                question={chosen}
                isOpen={questions.some(each => each.id === chosen.id)}
                others={questions}
              />
            ) : (
              <Text c="dimmed" p="lg">
                {id === undefined ? t('choose') : t('closed')}
              </Text>
            )}
          </div>
        </div>
      )}
    </DataRegion>
  )
}

/** How much a person had to do lately, and what could take some of it away. */
function NothingWaits() {
  const t = useWords(words)
  const today = useToday()
  const summary = useGet<AuditSummary>('audit', '/api/audit/summary')
  return (
    <Stack gap="sm">
      <Text>
        {t('nothingText')} {today !== undefined && t('decidedToday', { count: today.answered })}
      </Text>
      <Candidates list={summary.data?.always_approved ?? []} />
    </Stack>
  )
}

function Filters({ questions }: { questions: readonly Approval[] }) {
  const t = useWords(words)
  const c = useWords(common)
  const [tool, setTool] = useUrlState('tool')
  const [risk, setRisk] = useUrlState('risk')
  const [panel, setPanel] = useUrlState('panel')
  const panels = [...new Set(questions.flatMap(({ agent }) => agent ?? []))]
  return (
    <Group gap="xs" mb="xs" grow>
      {panels.length > 0 && (
        <Select
          aria-label={t('panel')}
          placeholder={t('allPanels')}
          size="xs"
          clearable
          data={toChoices(panels)}
          value={panel === '' ? null : panel}
          onChange={value => setPanel(value ?? '')}
        />
      )}
      <Select
        aria-label={t('tool')}
        placeholder={t('allTools')}
        size="xs"
        clearable
        data={toChoices([...new Set(questions.map(({ tool: { name } }) => name))])}
        value={tool === '' ? null : tool}
        onChange={value => setTool(value ?? '')}
      />
      <Select
        aria-label={t('risk')}
        placeholder={t('anyRisk')}
        size="xs"
        clearable
        data={[
          { value: 'high', label: c('highRisk') },
          { value: 'medium', label: c('mediumRisk') },
          { value: 'low', label: c('lowRisk') },
        ]}
        value={risk === '' ? null : risk}
        onChange={value => setRisk(value ?? '')}
      />
    </Group>
  )
}

/** Questions vanish when they end; the one that is looked at stays to say how. */
function useKnown(questions: readonly Approval[]): ReadonlyMap<string, Approval> {
  const known = useRef(new Map<string, Approval>())
  for (const question of questions) known.current.set(question.id, question)
  return known.current
}

/** The oldest first, so that a new one never pushes another away under the pointer. */
function QuestionList({ questions, chosen }: { questions: readonly Approval[]; chosen: string | undefined }) {
  const t = useWords(words)
  const [over, setOver] = useState(false)
  const shown = useHeld(questions, over)
  return (
    <nav
      className={`kogu-card ${classes.list}`}
      aria-label={t('list')}
      onPointerEnter={() => setOver(true)}
      onPointerLeave={() => setOver(false)}
    >
      {shown.map(question => (
        <QuestionRow key={question.id} question={question} active={question.id === chosen} />
      ))}
    </nav>
  )
}

function useHeld(questions: readonly Approval[], hold: boolean): readonly Approval[] {
  const [held, setHeld] = useState(questions)
  useEffect(() => {
    if (!hold) setHeld(questions)
  }, [questions, hold])
  if (!hold) return questions
  // What ends meanwhile keeps its place; what is new comes below.
  return [...held, ...questions.filter(({ id }) => !held.some(each => each.id === id))]
}

function QuestionRow({ question, active }: { question: Approval; active: boolean }) {
  const format = useFormat()
  const t = useWords(words)
  return (
    <UnstyledButton
      component={Link}
      href={routes.approval(question.id)}
      className={classes.row}
      data-active={active || undefined}
      data-row-link
      aria-current={active ? 'true' : undefined}
    >
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Text fw={600} size="sm" truncate>
          <Untrusted text={question.tool.name} most={60} />
        </Text>
        <RiskBadge risk={riskOf(question)} />
      </Group>
      <Text size="sm" ff="monospace" lineClamp={2}>
        <Untrusted text={summaryOf(question)} most={160} />
      </Text>
      <Text size="xs" c="dimmed">
        {question.agent !== undefined && (
          <>
            <Untrusted text={question.agent} most={60} />
            {agentDepth(question) > 0 && ` › ${t('depth', { count: agentDepth(question) })}`}
            {' · '}
          </>
        )}
        {t('asked', { when: format.ago(question.createdAt) })}
        {question.answer === null && ` · ${t('expiresIn', { when: format.ago(question.expiresAt) })}`}
      </Text>
    </UnstyledButton>
  )
}

/** The browser asks only after a click. */
function Alerts() {
  const t = useWords(words)
  const [setting, set] = useAlertSetting()
  const [state, setState] = useState(() => ('Notification' in window ? Notification.permission : 'denied'))
  if (state === 'denied') return null
  if (state === 'granted')
    return (
      <NativeSelect
        size="xs"
        aria-label={t('alertsLabel')}
        leftSection={<Bell size={15} aria-hidden />}
        data={ALERTS.map(value => ({ value, label: t(ALERT_WORDS[value]) }))}
        value={setting}
        onChange={({ currentTarget: { value } }) => set(ALERTS.find(each => each === value) ?? 'on')}
      />
    )
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Bell size={15} aria-hidden />}
      onClick={() => void Notification.requestPermission().then(setState)}
    >
      {t('alerts')}
    </Button>
  )
}

const ALERT_WORDS = { off: 'alertsOff', on: 'alertsOn', sound: 'alertsSound' } as const
