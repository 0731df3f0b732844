import {
  Alert,
  Button,
  Checkbox,
  Group,
  Menu,
  Modal,
  Radio,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { Ban, ChevronDown, ShieldCheck } from 'lucide-react'
import { type MouseEvent, useMemo, useRef, useState } from 'react'
import type { AnswerRequest } from '../../../client.ts'
import { request, toShownError } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { parseDiff } from '../../components/parse-diff.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useLive } from '../../live/live-provider.tsx'
import { EditCall } from './edit-call.tsx'
import { useActGuard } from './use-act-guard.ts'
import { words } from './words.ts'

/** Sends an answer for exactly what was shown: the digest goes along, and the server refuses when it is another one by now. */
export function useAnswer() {
  return useAction(
    ({ question, ...answer }: Omit<AnswerRequest, 'digest'> & { question: Approval }) =>
      request<Approval>('POST', `/api/approvals/${encodeURIComponent(question.id)}/answer`, {
        ...answer,
        digest: question.digest,
      }),
    { topics: ['approvals', 'runs', 'grants', 'audit'], quiet: true },
  )
}

export interface ApprovalActionsProps {
  readonly question: Approval
  /** Why it cannot be approved yet. It can always be denied. */
  readonly blocked: string | undefined
}

export function ApprovalActions({ question, blocked }: ApprovalActionsProps) {
  const t = useWords(words)
  const { ready, isStray } = useActGuard(question.id)
  const { state } = useLive()
  const [typed, setTyped] = useState('')
  const files = useMemo(() => changedFiles(question), [question])
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const kept = files.filter(file => !left.has(file))
  const [telling, tell] = useDisclosure(false)
  const [keeping, dialog] = useDisclosure(false)
  const answer = useAnswer()
  const needsName = question.isDangerous
  const named = !needsName || typed === question.tool.name
  const idle = ready && !answer.isPending && state.kind !== 'offline'
  const mayApprove = idle && named && blocked === undefined && (files.length === 0 || kept.length > 0)
  const keep = left.size === 0 ? {} : { keep: kept }
  const act = (event: MouseEvent, wanted: Omit<AnswerRequest, 'digest'>): void => {
    if (isStray(event)) return
    const confirm = needsName && named ? { confirm: question.tool.name } : {}
    answer.mutate({ question, ...wanted, ...confirm })
  }
  const why = state.kind === 'offline' ? t('notConnected') : !ready ? t('wait') : (blocked ?? t('cannotUndo'))
  return (
    <Stack gap="sm" data-answer data-ready={idle}>
      {answer.error !== null && <Refused error={answer.error} onAgain={() => answer.reset()} />}
      {needsName && <Confirm tool={question.tool.name} value={typed} onChange={setTyped} disabled={!idle} />}
      {files.length > 1 && <KeptFiles files={files} left={left} onChange={setLeft} />}
      <Group justify="space-between" gap="lg">
        <Group gap="xs">
          <Button.Group>
            <Button
              color="red"
              variant="light"
              disabled={!idle}
              leftSection={<Ban size={16} aria-hidden />}
              onClick={event => act(event, { answer: 'deny' })}
            >
              {t('deny')}
            </Button>
            <Menu position="top-start">
              <Menu.Target>
                <Button color="red" variant="light" px={8} disabled={!idle} aria-label={t('denyTell')}>
                  <ChevronDown size={16} aria-hidden />
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={tell.open}>{t('denyTell')}</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Button.Group>
        </Group>
        <Group gap="xs">
          <EditCall question={question} disabled={!idle} isStray={isStray} />
          {question.offers.length > 0 && left.size === 0 && (
            <Button variant="default" disabled={!mayApprove} onClick={dialog.open}>
              {t('approveFor')}
            </Button>
          )}
          <Button
            disabled={!mayApprove}
            leftSection={<ShieldCheck size={16} aria-hidden />}
            onClick={event => act(event, { answer: 'once', ...keep })}
          >
            {t('approveOnce')}
          </Button>
        </Group>
      </Group>
      <Text size="xs" c="dimmed" role="status">
        {why}
      </Text>
      <DenyDialog
        opened={telling}
        onClose={tell.close}
        onSend={(event, message) => act(event, { answer: 'deny', message })}
      />
      <KeepDialog question={question} opened={keeping} onClose={dialog.close} onKeep={act} />
    </Stack>
  )
}

/** A command has already run on a layer of its own: what it changed can be kept file by file. */
function changedFiles({ subject, preview = '' }: Approval): readonly string[] {
  return subject.kind === 'changes' ? parseDiff(preview).map(({ path }) => path) : []
}

interface KeptFilesProps {
  readonly files: readonly string[]
  readonly left: ReadonlySet<string>
  readonly onChange: (left: ReadonlySet<string>) => void
}

function KeptFiles({ files, left, onChange }: KeptFilesProps) {
  const t = useWords(words)
  return (
    <Checkbox.Group
      label={t('keepWhich')}
      value={files.filter(file => !left.has(file))}
      onChange={kept => onChange(new Set(files.filter(file => !kept.includes(file))))}
    >
      <Stack gap={8} mt={6} mah={160} style={{ overflow: 'auto' }}>
        {files.map(file => (
          <Checkbox key={file} value={file} label={<Untrusted text={file} />} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

function Refused({ error, onAgain }: { error: unknown; onAgain: () => void }) {
  const t = useWords(words)
  if (toShownError(error).code !== 'stale') return <ErrorCard error={error} />
  return (
    <Alert color="orange" role="alert">
      <Group justify="space-between">
        <Text size="sm">{t('stale')}</Text>
        <Button size="compact-sm" variant="default" onClick={onAgain}>
          {t('lookAgain')}
        </Button>
      </Group>
    </Alert>
  )
}

interface ConfirmProps {
  readonly tool: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly disabled: boolean
}

/** A dangerous call is not approved by a single movement: the name is typed, or a finger stays down for a second. */
function Confirm({ tool, value, onChange, disabled }: ConfirmProps) {
  const t = useWords(words)
  const coarse = useMediaQuery('(pointer: coarse)')
  const timer = useRef<number>(undefined)
  const stop = (): void => clearTimeout(timer.current)
  if (coarse) {
    return (
      <Button
        variant="default"
        disabled={disabled || value === tool}
        onPointerDown={() => {
          timer.current = window.setTimeout(() => onChange(tool), HOLD_MS)
        }}
        onPointerUp={stop}
        onPointerLeave={stop}
        onPointerCancel={stop}
      >
        {t('holdToApprove')}
      </Button>
    )
  }
  return (
    <TextInput
      label={<Untrusted text={t('typeName', { tool })} />}
      value={value}
      autoComplete="off"
      spellCheck={false}
      maw={420}
      onChange={event => onChange(event.currentTarget.value)}
    />
  )
}

const HOLD_MS = 1_000

interface DenyDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly onSend: (event: MouseEvent, message: string) => void
}

function DenyDialog({ opened, onClose, onSend }: DenyDialogProps) {
  const t = useWords(words)
  const [message, setMessage] = useState('')
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('denyTell')}
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      <Stack data-answer>
        <Textarea
          label={t('messageLabel')}
          autosize
          minRows={3}
          value={message}
          onChange={event => setMessage(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button
            color="red"
            onClick={event => {
              onSend(event, message)
              onClose()
            }}
          >
            {t('send')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

interface KeepDialogProps {
  readonly question: Approval
  readonly opened: boolean
  readonly onClose: () => void
  readonly onKeep: (event: MouseEvent, answer: Omit<AnswerRequest, 'digest'>) => void
}

/** What may be remembered is what the server offers: each of these covers this very call for certain. */
function KeepDialog({ question, opened, onClose, onKeep }: KeepDialogProps) {
  const t = useWords(words)
  const [grant, setGrant] = useState(question.offers[0]?.id ?? '')
  const [span, setSpan] = useState<'session' | 'permanent'>('session')
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('approveFor')}
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      <Stack data-answer>
        <Radio.Group label={t('remember')} value={grant} onChange={setGrant}>
          <Stack gap="xs" mt="xs">
            {question.offers.map(({ id, label }) => (
              <Radio key={id} value={id} label={<Untrusted text={label} most={400} />} />
            ))}
          </Stack>
        </Radio.Group>
        <Radio.Group
          label={t('howLong')}
          value={span}
          onChange={value => setSpan(value === 'permanent' ? 'permanent' : 'session')}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="session" label={t('session')} />
            <Radio value="permanent" label={t('permanent')} />
          </Stack>
        </Radio.Group>
        <Text size="sm" c="dimmed">
          {t('rememberNote')}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button
            onClick={event => {
              onKeep(event, { answer: span, grant })
              onClose()
            }}
          >
            {t('approveRemember')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
