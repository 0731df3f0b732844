import { Button, Divider, Group, Stack, Text, Title } from '@mantine/core'
import { Ban, ShieldCheck } from 'lucide-react'
import { Fragment, type MouseEvent, useState } from 'react'
import type { Approval } from '../../api/types.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { CutTexts, Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useAnswer } from './approval-actions.tsx'
import { QuestionBody } from './approval-card.tsx'
import classes from './approvals.module.css'
import { useActGuard } from './use-act-guard.ts'
import { words } from './words.ts'

/**
 * Several questions of one run, each shown whole, answered by one decision. Dangerous ones are never among them, and one that
 * comes while others are read is among them only when it is asked for: it would stand below what is on the screen.
 */
export function BatchCard({ questions: waiting }: { questions: readonly Approval[] }) {
  const t = useWords(words)
  const [taken, take] = useState(() => waiting.map(({ id }) => id))
  const questions = waiting.filter(({ id }) => taken.includes(id))
  const more = waiting.length - questions.length
  const { ready, isStray } = useActGuard(questions.map(({ id }) => id).join())
  const answer = useAnswer()
  const [unread, setUnread] = useState(0)
  const idle = ready && !answer.isPending && questions.length > 0
  const act = async (event: MouseEvent, kind: 'once' | 'deny'): Promise<void> => {
    if (isStray(event)) return
    // One after another: a failure leaves the others as they are.
    for (const question of questions) await answer.mutateAsync({ question, answer: kind })
  }
  const count = questions.length
  return (
    <article className="kogu-card">
      <Stack p="md" gap="md">
        <Title order={2}>{t('batch')}</Title>
        {count === 0 && <Text c="dimmed">{t('closed')}</Text>}
        {questions.map((question, index) => (
          <Fragment key={question.id}>
            {index > 0 && <Divider />}
            <Title order={3}>
              <Untrusted text={question.tool.title} />
            </Title>
            <CutTexts value={setUnread}>
              <QuestionBody question={question} />
            </CutTexts>
          </Fragment>
        ))}
      </Stack>
      <Stack className={classes.actions} gap="sm" data-answer data-ready={idle}>
        {more > 0 && (
          <Group gap="xs">
            <Text size="sm">{t('cameSince', { count: more })}</Text>
            <Button size="compact-sm" variant="default" onClick={() => take(waiting.map(({ id }) => id))}>
              {t('takeThem')}
            </Button>
          </Group>
        )}
        {answer.error !== null && <ErrorCard error={answer.error} />}
        {unread > 0 && <Text size="sm">{t('expandFirst')}</Text>}
        <Group justify="space-between">
          <Button
            color="red"
            variant="light"
            disabled={!idle}
            leftSection={<Ban size={16} aria-hidden />}
            onClick={event => void act(event, 'deny').catch(() => undefined)}
          >
            {t('denyAll', { count })}
          </Button>
          <Button
            disabled={!idle || unread > 0}
            leftSection={<ShieldCheck size={16} aria-hidden />}
            onClick={event => void act(event, 'once').catch(() => undefined)}
          >
            {t('approveAll', { count })}
          </Button>
        </Group>
      </Stack>
    </article>
  )
}
