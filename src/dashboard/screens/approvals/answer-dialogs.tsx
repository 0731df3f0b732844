import { Button, Group, Modal, Radio, Stack, Text, Textarea } from '@mantine/core'
import { type MouseEvent, useState } from 'react'
import type { AnswerRequest } from '../../../client.ts'
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
