import { Alert, Anchor, Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { request } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { RiskBadge } from '../../components/badges.tsx'
import type { DiffParts } from '../../components/diff-view.tsx'
import { CutTexts, EscapeWarning, Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { riskOf } from '../../shell/waiting.ts'
import { AgentPath, agentDepth } from './agent-path.tsx'
import { ApprovalActions } from './approval-actions.tsx'
import classes from './approvals.module.css'
import { CommandSteps } from './command-steps.tsx'
import { ContextParts } from './context-parts.tsx'
import { Change } from './large-change.tsx'
import { Reasons } from './reasons.tsx'
import { RequestParts } from './request-parts.tsx'
import { Section } from './section.tsx'
import { ServerClaims } from './server-claims.tsx'
import { TryCommand } from './try-command.tsx'
import { words } from './words.ts'

export interface ApprovalCardProps {
  readonly question: Approval
  /** False once it has ended. */
  readonly isOpen: boolean
  readonly others: readonly Approval[]
}

/** Everything that is known about a call before it is made, and the answer. */
export function ApprovalCard({ question, isOpen, others }: ApprovalCardProps) {
  const t = useWords(words)
  const [unread, setUnread] = useState(0)
  const [leftOut, leaveOut] = useState<ReadonlySet<number>>(new Set())
  const isAnswerable = isOpen && question.answer === null
  const onToggle = (part: number): void => leaveOut(before => before.symmetricDifference(new Set([part])))
  return (
    <article
      className="kogu-card"
      aria-labelledby={`q-${question.id}`}
      data-question={question.id}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who answers by keyboard has to be here first, and nowhere in it
      tabIndex={0}
    >
      <Stack gap="md" p="md">
        <Heading question={question} isOpen={isAnswerable} />
        <CutTexts value={setUnread}>
          <QuestionBody
            question={question}
            parts={isAnswerable && question.parts !== undefined ? { left: leftOut, onToggle } : undefined}
          />
        </CutTexts>
        {isOpen && canTry(question) && <TryCommand question={question.id} />}
        <CommandSteps question={question.id} isOpen={isOpen} />
        <ServerClaims tool={question.tool.name} />
        <Reasons question={question} />
        <ContextParts question={question.id} isOpen={isOpen} />
        <Together question={question} others={others} />
      </Stack>
      <div className={classes.actions}>
        {isAnswerable ? (
          <ApprovalActions
            question={question}
            blocked={unread > 0 ? t('expandFirst') : undefined}
            leftOut={leftOut}
          />
        ) : (
          <Outcome question={question} others={others} />
        )}
      </div>
    </article>
  )
}

function Heading({ question, isOpen }: { question: Approval; isOpen: boolean }) {
  const t = useWords(words)
  const format = useFormat()
  const tool = question.tool.name
  const [outermost = ''] = question.runPath
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs" align="flex-start">
        <Title order={2} id={`q-${question.id}`}>
          <Untrusted text={t(titleKey(question), { tool })} />
        </Title>
        <RiskBadge risk={riskOf(question)} />
      </Group>
      {question.task !== undefined && (
        <Text size="sm" lineClamp={2}>
          <Untrusted text={t('task', { task: question.task })} most={300} />
        </Text>
      )}
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          {t('asked', { when: format.ago(question.createdAt) })} ·{' '}
          {question.expiresAt < Date.now()
            ? t('expired')
            : t('expiresIn', { when: format.ago(question.expiresAt) })}
        </Text>
        {isOpen && <MoreTime question={question.id} />}
        {isRunId(outermost) && (
          <Anchor component={Link} href={routes.run(outermost)} size="sm">
            {t('openRun')}
          </Anchor>
        )}
        {question.agent !== undefined && (
          <Badge color="gray">
            <Untrusted text={t('agent', { name: question.agent })} />
          </Badge>
        )}
        {agentDepth(question) > 0 && (
          <Badge color="gray">{t('depth', { count: agentDepth(question) })}</Badge>
        )}
        {question.within?.map(({ callId, tool }) => (
          <Badge key={callId} color="gray">
            <Untrusted text={t('part', { tool })} />
          </Badge>
        ))}
        <AgentPath question={question} />
      </Group>
    </Stack>
  )
}

function MoreTime({ question }: { question: string }) {
  const t = useWords(words)
  const more = useAction(
    () => request('POST', `/api/approvals/${encodeURIComponent(question)}/extend`, { hours: 1 }),
    { topics: ['approvals'] },
  )
  return (
    <Button size="compact-xs" variant="default" loading={more.isPending} onClick={() => more.mutate()}>
      {t('moreTime')}
    </Button>
  )
}

/** The one tool that can run on a copy of the files first. */
function canTry({ tool, subject, answer }: Approval): boolean {
  return tool.name === 'run_command' && subject.kind === 'call' && answer === null
}

function isRunId(id: string): boolean {
  return /^[0-9a-f]{8}-/.test(id)
}

function titleKey({ subject, preview, access }: Approval) {
  if (subject.kind === 'changes') return 'keepChanges'
  if (access.some(({ kind }) => kind === 'execute')) return 'wantsCommand'
  if (preview !== undefined || access.some(({ kind }) => kind === 'file_write')) return 'wantsWrite'
  return 'wants'
}

interface QuestionBodyProps {
  readonly question: Approval
  readonly parts?: DiffParts | undefined
}

/** The difference, the exact command, or the input: never shortened in the middle without saying so. */
export function QuestionBody({ question, parts }: QuestionBodyProps) {
  const t = useWords(words)
  const { preview, details, input, cwd, subject } = question
  const { command } = input
  const rest = Object.entries(input).filter(([key, value]) => !SHOWN_APART.has(key) && !isNothing(value))
  const inputText = JSON.stringify(Object.fromEntries(rest), null, 2)
  return (
    <>
      <EscapeWarning texts={[...Object.values(input).map(toText), details ?? '', preview ?? '']} />
      {typeof input.description === 'string' && input.description !== '' && typeof command === 'string' && (
        <Text size="sm">
          “<Untrusted text={input.description} most={400} />”{' '}
          <Text span size="xs" c="dimmed">
            {t('modelSays')}
          </Text>
        </Text>
      )}
      <RequestParts question={question} />
      {typeof command === 'string' && (
        <Section label={t('exactCommand')}>
          <UntrustedBlock text={command} label={t('exactCommand')} />
          <Text size="sm" c="dimmed">
            <Untrusted text={t('folder', { path: cwd })} />
            {rest.map(([key, value]) => (
              <span key={key}>
                {' · '}
                <Untrusted text={`${key} ${JSON.stringify(value)}`} most={2_000} />
              </span>
            ))}
          </Text>
        </Section>
      )}
      {subject.kind === 'changes' && (
        <Text>
          <Untrusted text={subject.summary} most={2_000} />
        </Text>
      )}
      {preview !== undefined && (
        <Section label={t('changes')}>
          <Change question={question} parts={parts} />
        </Section>
      )}
      {details !== undefined && details !== command && (
        <Section label={t('details')}>
          <UntrustedBlock text={details} label={t('details')} />
        </Section>
      )}
      {preview === undefined && command === undefined && rest.length > 0 && (
        <Section label={t('input')}>
          <UntrustedBlock text={inputText} label={t('input')} />
        </Section>
      )}
    </>
  )
}

/** The command and what it is for have their own place. */
const SHOWN_APART: ReadonlySet<string> = new Set(['command', 'description'])

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Switches that are off and lists without anything in them say nothing. */
function isNothing(value: unknown): boolean {
  return (
    value === false ||
    value === null ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  )
}

/** Questions of the same run can be judged at once. */
function Together({ question, others }: { question: Approval; others: readonly Approval[] }) {
  const t = useWords(words)
  const [run = ''] = question.runPath
  const count = others.filter(
    ({ id, runPath, answer, isDangerous }) =>
      id !== question.id && runPath[0] === run && answer === null && !isDangerous,
  ).length
  if (count === 0 || question.isDangerous || question.answer !== null) return null
  return (
    <Group gap="xs">
      <Text size="sm">{t('together', { count })}</Text>
      <Anchor component={Link} size="sm" href={`${routes.approvals()}?run=${encodeURIComponent(run)}`}>
        {t('judgeTogether')}
      </Anchor>
    </Group>
  )
}

export const ANSWER_WORDS = {
  once: 'answerOnce',
  session: 'answerSession',
  permanent: 'answerPermanent',
  deny: 'answerDeny',
  'deny-permanently': 'answerDenyPermanently',
} as const

function Outcome({ question, others }: { question: Approval; others: readonly Approval[] }) {
  const t = useWords(words)
  const format = useFormat()
  const { answer } = question
  const next = others.find(({ id, answer: given }) => id !== question.id && given === null)
  const text =
    answer === null
      ? t('closed')
      : t('answered', {
          ...{ answer: t(ANSWER_WORDS[answer.kind]), user: answer.user },
          when: format.dateTime(answer.at),
        })
  return (
    <Group justify="space-between" gap="sm">
      <Alert
        color={answer === null ? 'gray' : 'indigo'}
        py="xs"
        role="status"
        icon={<CircleCheck size={18} aria-hidden />}
      >
        <Untrusted text={text} />
      </Alert>
      {next !== undefined && (
        <Button component={Link} href={routes.approval(next.id)} variant="default">
          {t('next')}
        </Button>
      )}
    </Group>
  )
}
