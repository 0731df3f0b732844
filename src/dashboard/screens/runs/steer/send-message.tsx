import { Button, Group, Text, Textarea } from '@mantine/core'
import { Send } from 'lucide-react'
import type { Dispatch, SetStateAction } from 'react'
import { request } from '../../../api/api.ts'
import { useAction } from '../../../api/use-action.ts'
import { isEnter } from '../../../components/is-enter.ts'
import { useWords } from '../../../i18n/language.tsx'
import { words } from './words.ts'

interface SendMessageProps {
  readonly run: string
  /** One sub-agent of it. */
  readonly execution?: string
  readonly label: string
  /** What is typed so far. Held by whoever outlives the tab in which it is typed. */
  readonly draft: readonly [string, Dispatch<SetStateAction<string>>]
}

/** To a run or to one of its sub-agents. */
export function SendMessage({ run, execution, label, draft: [text, setText] }: SendMessageProps) {
  const t = useWords(words)
  const say = useAction(
    () =>
      request('POST', `/api/runs/${encodeURIComponent(run)}/say`, {
        ...{ text, ...(execution === undefined ? {} : { execution_id: execution }) },
      }),
    { topics: ['runs'] },
  )
  const send = (): void => {
    if (say.isPending || text.trim() === '') return
    // What was typed meanwhile was not sent.
    say.mutate(undefined, { onSuccess: () => setText(now => (now === text ? '' : now)) })
  }
  return (
    <>
      <Group mt="sm" gap="xs" align="flex-end">
        <Textarea
          label={label}
          autosize
          minRows={1}
          maxRows={6}
          style={{ flex: '1 1 240px' }}
          value={text}
          onChange={event => setText(event.currentTarget.value)}
          onKeyDown={event => {
            if (isEnter(event.nativeEvent) && (event.metaKey || event.ctrlKey)) send()
          }}
        />
        <Button
          variant="default"
          disabled={text.trim() === ''}
          loading={say.isPending}
          leftSection={<Send size={16} aria-hidden />}
          aria-keyshortcuts="Control+Enter"
          onClick={send}
        >
          {t('send')}
        </Button>
      </Group>
      <Text size="sm" role="status">
        {say.isSuccess && text === '' ? t('sent') : ''}
      </Text>
    </>
  )
}
