import { Alert, Button, Checkbox, Group, Menu, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { Ban, ChevronDown, ChevronUp, RefreshCw, ShieldCheck } from 'lucide-react'
import { type MouseEvent, useMemo, useRef, useState } from 'react'
import type { AnswerRequest } from '../../../client.ts'
import { request, toShownError } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useShortPath } from '../../components/use-short-path.ts'
import { useWords } from '../../i18n/language.tsx'
import { useLive } from '../../live/live-provider.tsx'
import { ApproveParts } from './approve-parts.tsx'
import { ByKeyboard } from './by-keyboard.tsx'
import { DenyDialog } from './deny-dialog.tsx'
import { canEdit, EditCall } from './edit-call.tsx'
import { changedEntries, keptPaths } from './kept-files.ts'
import { KeepDialog } from './remember/keep-dialog.tsx'
import { useActGuard } from './use-act-guard.ts'
import { useContext } from './use-context.ts'
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
  /** Parts of the proposed text that are not wanted. */
  readonly leftOut: ReadonlySet<number>
}

export function ApprovalActions({ question, blocked, leftOut }: ApprovalActionsProps) {
  const t = useWords(words)
  const { ready, isStray } = useActGuard(question.id)
  const { state } = useLive()
  const [typed, setTyped] = useState('')
  const entries = useMemo(() => changedEntries(question), [question])
  const { files } = entries
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const changed = useContext(question.id, true).data?.changed ?? []
  const [telling, tell] = useDisclosure(false)
  const [keeping, remember] = useDisclosure(false)
  const [editing, edit] = useDisclosure(false)
  const answer = useAnswer()
  const needsName = question.isDangerous
  const named = !needsName || typed === question.tool.name
  const idle = ready && !answer.isPending && state.kind !== 'offline'
  const mayApprove =
    idle && named && blocked === undefined && (files.length === 0 || left.size < files.length)
  const keep = left.size === 0 ? {} : { keep: keptPaths(entries, left) }
  const act = (event: { timeStamp: number }, wanted: Omit<AnswerRequest, 'digest'>): void => {
    if (isStray(event)) return
    const confirm = needsName && named ? { confirm: question.tool.name } : {}
    answer.mutate({ question, ...wanted, ...confirm })
  }
  const why =
    state.kind === 'offline'
      ? t('notConnected')
      : !ready
        ? t('wait')
        : (blocked ?? t(leftOut.size > 0 ? 'partsNote' : 'cannotUndo'))
  const more: readonly OtherWay[] = [
    ...(canEdit(question) ? [{ label: t('edit'), disabled: !idle, onClick: edit.open }] : []),
    ...(question.offers.length > 0 && left.size + leftOut.size + changed.length === 0
      ? [{ label: t('approveFor'), disabled: !mayApprove, onClick: remember.open }]
      : []),
  ]
  return (
    <Stack gap="xs" data-answer data-ready={idle}>
      {answer.error !== null && <Refused error={answer.error} onAgain={() => answer.reset()} />}
      <ChangedSince paths={changed} />
      {needsName && <Confirm tool={question.tool.name} value={typed} onChange={setTyped} disabled={!idle} />}
      {files.length > 1 && <KeptFiles files={files} left={left} onChange={setLeft} />}
      <Group justify="space-between" gap="lg" wrap="nowrap">
        <Deny disabled={!idle} onDeny={event => act(event, { answer: 'deny' })} onTell={tell.open} />
        <Group gap="xs" wrap="nowrap">
          <OtherWays ways={more} onTell={tell.open} isIdle={idle} />
          {leftOut.size > 0 ? (
            <ApproveParts question={question} left={leftOut} disabled={!mayApprove} isStray={isStray} />
          ) : (
            <Button
              disabled={!mayApprove}
              leftSection={
                changed.length > 0 ? (
                  <RefreshCw size={16} aria-hidden />
                ) : (
                  <ShieldCheck size={16} aria-hidden />
                )
              }
              onClick={event => act(event, { answer: 'once', ...keep })}
            >
              {changed.length > 0 ? t('askAgain') : t('approveOnce')}
            </Button>
          )}
        </Group>
      </Group>
      <ByKeyboard
        mayApprove={mayApprove && changed.length + leftOut.size === 0}
        onApprove={event => act(event, { answer: 'once', ...keep })}
      />
      <Text size="xs" c="dimmed" role="status">
        {why}
      </Text>
      <DenyDialog
        opened={telling}
        onClose={tell.close}
        canRemember={question.subject.kind !== 'gate'}
        onSend={act}
      />
      <KeepDialog question={question} opened={keeping} onClose={remember.close} onKeep={act} />
      <EditCall question={question} opened={editing} onClose={edit.close} isStray={isStray} />
    </Stack>
  )
}

interface DenyProps {
  readonly disabled: boolean
  readonly onDeny: (event: MouseEvent) => void
  readonly onTell: () => void
}

function Deny({ disabled, onDeny, onTell }: DenyProps) {
  const t = useWords(words)
  return (
    <Button.Group>
      <Button
        color="red"
        variant="light"
        disabled={disabled}
        leftSection={<Ban size={16} aria-hidden />}
        onClick={onDeny}
      >
        {t('deny')}
      </Button>
      <Menu position="top-start">
        <Menu.Target>
          <Button
            color="red"
            variant="light"
            px={8}
            visibleFrom="sm"
            disabled={disabled}
            aria-label={t('denyTell')}
          >
            <ChevronDown size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onTell}>{t('denyTell')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Button.Group>
  )
}

interface OtherWay {
  readonly label: string
  readonly disabled: boolean
  readonly onClick: () => void
}

interface OtherWaysProps {
  readonly ways: readonly OtherWay[]
  readonly onTell: () => void
  readonly isIdle: boolean
}

/** Buttons where there is room; a menu on a phone, where yes and no stand alone. */
function OtherWays({ ways, onTell, isIdle }: OtherWaysProps) {
  const t = useWords(words)
  return (
    <>
      {ways.map(({ label, disabled, onClick }) => (
        <Button key={label} variant="default" visibleFrom="sm" disabled={disabled} onClick={onClick}>
          {label}
        </Button>
      ))}
      <Menu position="top-end">
        <Menu.Target>
          <Button variant="default" px={8} hiddenFrom="sm" aria-label={t('moreWays')}>
            <ChevronUp size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ways.map(({ label, disabled, onClick }) => (
            <Menu.Item key={label} disabled={disabled} onClick={onClick}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Item disabled={!isIdle} onClick={onTell}>
            {t('denyTell')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}

/** Before the answer and not only after it: what would be written is no longer what is shown. */
function ChangedSince({ paths }: { paths: readonly string[] }) {
  const t = useWords(words)
  const shorten = useShortPath()
  if (paths.length === 0) return null
  return (
    <Alert color="orange" role="alert" py="xs">
      <Untrusted
        text={t('changedSince', { paths: paths.slice(0, 5).map(shorten).join(', ') })}
        most={1_000}
      />
    </Alert>
  )
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
