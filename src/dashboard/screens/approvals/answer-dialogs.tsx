import { Badge, Button, Group, Modal, Radio, Stack, Text, Textarea } from '@mantine/core'
import { type MouseEvent, useState } from 'react'
import type { AnswerRequest } from '../../../client.ts'
import { useGet } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

interface DenyDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly onSend: (event: MouseEvent, message: string) => void
}

export function DenyDialog({ opened, onClose, onSend }: DenyDialogProps) {
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

const SPANS = {
  session: { answer: 'session' },
  hour: { answer: 'permanent', hours: 1 },
  week: { answer: 'permanent', hours: 7 * 24 },
  permanent: { answer: 'permanent' },
} as const

/** What may be remembered is what the server offers: each of these covers this very call for certain. */
export function KeepDialog({ question, opened, onClose, onKeep }: KeepDialogProps) {
  const t = useWords(words)
  const [grant, setGrant] = useState(question.offers[0]?.id ?? '')
  const [span, setSpan] = useState<keyof typeof SPANS>('session')
  const matches = useGet<OfferMatches[]>(
    'audit',
    `/api/approvals/${encodeURIComponent(question.id)}/offers`,
    { enabled: opened },
  )
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
              <Radio
                key={id}
                value={id}
                label={
                  <Offer
                    label={label.replaceAll(question.cwd, question.cwd.split('/').at(-1) ?? '')}
                    matches={matches.data?.find(each => each.id === id)}
                  />
                }
              />
            ))}
          </Stack>
        </Radio.Group>
        {question.offers.length === 1 && 'command' in question.input && (
          <Text size="sm" c="dimmed">
            {t('onlyExact')}
          </Text>
        )}
        <Radio.Group
          label={t('howLong')}
          value={span}
          // `as`: the radios below are made of these keys
          onChange={value => setSpan(value as keyof typeof SPANS)}
        >
          <Stack gap="xs" mt="xs">
            {(Object.keys(SPANS) as (keyof typeof SPANS)[]).map(each => (
              <Radio key={each} value={each} label={t(each)} />
            ))}
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
              onKeep(event, { ...SPANS[span], grant })
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

interface OfferMatches {
  readonly id: string
  /** Of a command line: how it has to begin. */
  readonly words: readonly string[]
  readonly calls: number
  readonly denied: number
}

/** The rule as the words that have to stand there, what it means, and what it would have covered. */
function Offer({ label, matches }: { label: string; matches: OfferMatches | undefined }) {
  const t = useWords(words)
  return (
    <Stack gap={4}>
      {matches !== undefined && matches.words.length > 0 && (
        <Group gap={4}>
          {matches.words.map((word, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: words of one line, which never moves
            <Badge key={index} color="indigo" ff="monospace" tt="none">
              <Untrusted text={word} most={60} />
            </Badge>
          ))}
          <Badge color="gray" variant="outline">
            {t('anyWords')}
          </Badge>
        </Group>
      )}
      <Untrusted text={label} most={400} />
      {matches !== undefined && (
        <Text size="xs" c="dimmed">
          {t('offerMatches', { count: matches.calls })}
          {matches.denied > 0 && ` · ${t('offerDenied', { count: matches.denied })}`}
        </Text>
      )}
    </Stack>
  )
}
