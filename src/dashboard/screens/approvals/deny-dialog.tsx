import { Button, Checkbox, Group, Modal, Stack, Textarea } from '@mantine/core'
import { type MouseEvent, useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

interface DenyDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** Whether a no can be remembered: only one to a call. */
  readonly canRemember: boolean
  readonly onSend: (event: MouseEvent, answer: Denial) => void
}

interface Denial {
  readonly answer: 'deny' | 'deny-permanently'
  readonly message: string
}

export function DenyDialog({ opened, onClose, canRemember, onSend }: DenyDialogProps) {
  const t = useWords(words)
  const [message, setMessage] = useState('')
  const [always, setAlways] = useState(false)
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
        {canRemember && (
          <Checkbox
            label={t('denyAlways')}
            checked={always}
            onChange={event => setAlways(event.currentTarget.checked)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button
            color="red"
            onClick={event => {
              onSend(event, { answer: always ? 'deny-permanently' : 'deny', message })
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
