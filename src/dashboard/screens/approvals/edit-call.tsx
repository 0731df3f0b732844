import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { ShieldCheck } from 'lucide-react'
import { lazy, type MouseEvent, Suspense, useMemo, useState } from 'react'
import { request, toShownError } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { reverseDiff } from '../../components/reverse-diff.ts'
import { toChoices, Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

const MergeEditor = lazy(() => import('../../components/merge-editor.tsx'))

export interface EditCallProps {
  readonly question: Approval
  readonly opened: boolean
  readonly onClose: () => void
  readonly isStray: (event: MouseEvent) => boolean
}

export function canEdit({ subject, input, within }: Approval): boolean {
  return subject.kind === 'call' && within === undefined && Object.keys(input).length > 0
}

interface InsteadRequest {
  readonly values?: Readonly<Record<string, unknown>>
  /** Parts of the difference, counted from 0. */
  readonly leave_out?: readonly number[]
  readonly confirm?: string
}

/** Makes the call with other values in the place of the one that was proposed. */
export function useInstead(question: Approval) {
  const t = useWords(words)
  return useAction(
    (changed: InsteadRequest) =>
      request('POST', `/api/approvals/${encodeURIComponent(question.id)}/instead`, {
        ...changed,
        digest: question.digest,
      }),
    {
      topics: ['approvals', 'runs', 'audit', 'changes'],
      quiet: true,
      // The card has ended by now, and the form with it.
      onDone: () => notifications.show({ color: 'green', message: t('editedDone') }),
    },
  )
}

/** Change what the call is given, then approve that: it is another call, which is judged again, and the agent is told. */
export function EditCall({ question, opened, onClose, isStray }: EditCallProps) {
  const t = useWords(words)
  const fields = useMemo(() => toFields(question), [question])
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('editTitle')}
      size="80rem"
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      <EditForm question={question} fields={fields} isStray={isStray} onClose={onClose} />
    </Modal>
  )
}

interface Field {
  readonly key: string
  readonly text: string
  /** What the text is compared with: the file as it is now, or what the agent wrote. */
  readonly before: string
  readonly isJson: boolean
}

/** What a person wants to change, first; of tools that are not known, the longest value. */
const FIRST = ['new_string', 'content', 'command']

function toFields({ input, preview }: Approval): Field[] {
  return Object.entries(input)
    .map(([key, value]) => {
      const isJson = typeof value !== 'string'
      const text = isJson ? (JSON.stringify(value, null, 2) ?? '') : value
      return { key, text, isJson, before: beforeOf(key, text, input, preview) }
    })
    .toSorted((a, b) => rankOf(b) - rankOf(a) || b.text.length - a.text.length)
}

function rankOf({ key }: Pick<Field, 'key'>): number {
  return FIRST.includes(key) ? 1 : 0
}

function beforeOf(key: string, text: string, input: Approval['input'], preview: string | undefined): string {
  if (key === 'new_string' && typeof input.old_string === 'string') return input.old_string
  if (key === 'content' && preview !== undefined) return reverseDiff(text, preview) ?? text
  return text
}

interface EditFormProps {
  readonly question: Approval
  readonly fields: readonly Field[]
  readonly isStray: (event: MouseEvent) => boolean
  readonly onClose: () => void
}

function EditForm({ question, fields, isStray, onClose }: EditFormProps) {
  const t = useWords(words)
  const [key, setKey] = useState(fields[0]?.key ?? '')
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const [confirm, setConfirm] = useState('')
  const field = fields.find(each => each.key === key)
  const changed = fields.filter(each => (texts[each.key] ?? each.text) !== each.text)
  const broken = changed.find(each => each.isJson && !isJson(texts[each.key] ?? ''))
  const send = useInstead(question)
  const needsName = question.isDangerous || (toShownError(send.error).hint ?? '').includes('confirm')
  const mayApprove =
    changed.length > 0 && broken === undefined && (!needsName || confirm === question.tool.name)
  return (
    <Stack data-answer>
      <Text size="sm" c="dimmed">
        {t('editAbout')}
      </Text>
      {fields.length > 1 && (
        <Select
          label={t('editField')}
          maw={320}
          allowDeselect={false}
          data={toChoices(fields.map(each => each.key))}
          value={key}
          onChange={value => setKey(value ?? key)}
        />
      )}
      {field !== undefined && (
        <Suspense fallback={<UntrustedBlock text={field.text} />}>
          <MergeEditor
            key={field.key}
            label={field.key}
            before={field.before}
            text={texts[field.key] ?? field.text}
            onChange={text => setTexts(before => ({ ...before, [field.key]: text }))}
          />
        </Suspense>
      )}
      {needsName && (
        <TextInput
          label={<Untrusted text={t('typeName', { tool: question.tool.name })} />}
          value={confirm}
          autoComplete="off"
          onChange={event => setConfirm(event.currentTarget.value)}
        />
      )}
      {send.error !== null && <ErrorCard error={send.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button
          disabled={!mayApprove}
          loading={send.isPending}
          leftSection={<ShieldCheck size={16} aria-hidden />}
          onClick={event => {
            if (isStray(event)) return
            send.mutate({
              values: Object.fromEntries(changed.map(each => [each.key, givenValue(each, texts)])),
              ...(confirm === '' ? {} : { confirm }),
            })
          }}
        >
          {t('approveEdited')}
        </Button>
      </Group>
    </Stack>
  )
}

function givenValue({ key, text, isJson: wasJson }: Field, texts: Readonly<Record<string, string>>): unknown {
  const given = texts[key] ?? text
  return wasJson ? JSON.parse(given) : given
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
