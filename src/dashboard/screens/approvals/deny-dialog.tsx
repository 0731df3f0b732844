import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { type MouseEvent, useState } from 'react'
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
