import { Anchor, Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Ban, CircleCheck, CircleX, Clock, Hand, Loader, MinusCircle, TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { useWaiting } from '../../shell/waiting.ts'
import classes from './pipelines.module.css'
import { StepFigures } from './step-figures.tsx'
import type { PipelineRun, StepRun } from './types.ts'
import { words } from './words.ts'

/** How a step stands in a run, and what a person can do about it. */
export function StepState({ run, step }: { run: PipelineRun; step: string }) {
  const t = useWords(words)
  const own = run.steps[step]
  const waiting = useWaiting()
  if (own === undefined) return null
  const said = own.verdict?.why ?? own.error ?? own.reason
  const question = waiting.find(
    ({ callId, runId }) => callId.includes(`${run.id}.${step}.`) || runId === own.run,
  )
  return (
    <Group gap="xs" className={classes.state}>
      <StepBadge own={own} isAsked={question !== undefined} />
      <StepFigures run={run} step={step} />
      {own.attempts > 1 && (
        <Text size="xs" c="dimmed">
          {t('tries', { count: own.attempts })}
        </Text>
      )}
      {question !== undefined && (
        <Anchor component={Link} href={routes.approval(question.id)} size="sm">
          {t('review')}
        </Anchor>
      )}
      {own.run !== undefined && (
        <Anchor component={Link} href={routes.run(own.run)} size="sm">
          {t('openRun')}
        </Anchor>
      )}
      {own.status === 'waiting' && own.gate === true && <OpenGate run={run} step={step} />}
      {said !== undefined && (
        <Text size="xs" c={hasFailed(own) ? 'red' : 'dimmed'} style={{ whiteSpace: 'pre-wrap' }}>
          <Untrusted text={said} />
        </Text>
      )}
    </Group>
  )
}

/** A step that ran and says no has failed as well. */
function hasFailed({ status, verdict }: StepRun): boolean {
  return status === 'failed' || verdict?.is === 'failed'
}

export function StepBadge({ own, isAsked }: { own: StepRun; isAsked: boolean }) {
  const t = useWords(words)
  const [Icon, color, word] = hasFailed(own)
    ? ([CircleX, 'red', t('failed')] as const)
    : own.status === 'done'
      ? own.verdict === undefined
        ? ([CircleCheck, 'green', t('done')] as const)
        : ([TriangleAlert, 'yellow', t('warning')] as const)
      : own.status === 'skipped'
        ? ([MinusCircle, 'gray', t('skipped')] as const)
        : own.status === 'running'
          ? ([Loader, 'indigo', t('running')] as const)
          : own.gate === true
            ? ([Hand, 'yellow', t('atGate')] as const)
            : isAsked
              ? ([Clock, 'yellow', t('waitsForYou')] as const)
              : ([Clock, 'gray', t('waits')] as const)
  return (
    <Badge color={color} leftSection={<Icon size={12} aria-hidden />} style={{ flex: 'none' }}>
      {word}
    </Badge>
  )
}

/** A gate is a person's word that the step may begin: asked once more, never by one stray click. */
function OpenGate({ run, step }: { run: PipelineRun; step: string }) {
  const t = useWords(words)
  const [opened, dialog] = useDisclosure(false)
  const pass = useAction(
    (answer: 'approve' | 'stop') =>
      answer === 'approve'
        ? request('POST', `/api/pipeline-runs/${run.id}/resume`, { approve: [step] })
        : request('POST', `/api/pipeline-runs/${run.id}/stop`, {}),
    { topics: ['pipelines'], onDone: dialog.close },
  )
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={dialog.open}>
        {t('openGate')}
      </Button>
      <Modal
        opened={opened}
        onClose={dialog.close}
        title={t('openGate')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Stack>
          <Text size="sm">{t('gateSure', { step })}</Text>
          <Group justify="flex-end">
            <Button variant="default" leftSection={<Ban size={14} aria-hidden />} onClick={dialog.close}>
              {t('cancel')}
            </Button>
            <Button loading={pass.isPending} onClick={() => pass.mutate('approve')}>
              {t('letBegin')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
