import { Button, Checkbox, Group, Modal, Select, Stack, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import type { Run } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { isEnter } from '../../components/is-enter.ts'
import { toChoices } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { words } from './words.ts'

export function StartRun() {
  const t = useWords(words)
  const [opened, dialog] = useDisclosure(false)
  return (
    <>
      <Button leftSection={<Play size={16} aria-hidden />} onClick={dialog.open}>
        {t('start')}
      </Button>
      <Modal
        opened={opened}
        onClose={dialog.close}
        title={t('start')}
        size="lg"
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <StartForm onClose={dialog.close} />
      </Modal>
    </>
  )
}

function StartForm({ onClose }: { onClose: () => void }) {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const [task, setTask] = useState('')
  const [panel, setPanel] = useState<string | null>(null)
  const [readOnly, setReadOnly] = useState(false)
  const panels = useGet<{ name: string; state: string }[]>('panels', '/api/panels').data ?? []
  const start = useAction(
    () =>
      request<Run>('POST', '/api/runs', {
        task,
        ...(panel === null ? {} : { panel }),
        ...(readOnly ? { tools: 'read-only' } : {}),
      }),
    {
      topics: ['runs'],
      quiet: true,
      onDone(run) {
        onClose()
        navigate(routes.run(run.id))
      },
    },
  )
  return (
    <Stack
      component="form"
      onSubmit={event => {
        event.preventDefault()
        start.mutate()
      }}
    >
      <Select
        label={t('panel')}
        placeholder={t('noPanel')}
        clearable
        data={toChoices(panels.filter(({ state }) => state === 'trusted').map(({ name }) => name))}
        value={panel}
        onChange={setPanel}
      />
      <Textarea
        label={t('task')}
        description={t('taskHint')}
        autosize
        minRows={4}
        required={panel === null}
        value={task}
        onChange={event => setTask(event.currentTarget.value)}
        onKeyDown={event => {
          const sends = isEnter(event.nativeEvent) && (event.metaKey || event.ctrlKey)
          // As the button does: a task that is needed is asked for, and nothing is started twice.
          if (sends && !start.isPending) event.currentTarget.form?.requestSubmit()
        }}
      />
      <Checkbox
        label={t('readOnly')}
        checked={readOnly}
        onChange={event => setReadOnly(event.currentTarget.checked)}
      />
      {start.error !== null && <ErrorCard error={start.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button type="submit" loading={start.isPending} disabled={task.trim() === '' && panel === null}>
          {t('go')}
        </Button>
      </Group>
    </Stack>
  )
}
