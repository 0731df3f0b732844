import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import type { PipelineRun } from './types.ts'
import { pipelinePath } from './use-editing.ts'
import { words } from './words.ts'

/** Begins again in the middle of a run, and says first what would be done a second time. */
export function RunFromHere({ name, run, step }: { name: string; run: PipelineRun; step: string }) {
  const t = useWords(words)
  const [, setRun] = useUrlState('run')
  const [extent, setExtent] = useState<'from' | 'only'>('from')
  const [opened, dialog] = useDisclosure(false)
  const again = { of: run.id, step, extent }
  const plan = useAction(
    (wanted: 'from' | 'only') =>
      request<{ repeats: string[] }>('POST', `${pipelinePath(name)}/repeats`, { ...again, extent: wanted }),
    { topics: [], quiet: true },
  )
  const start = useAction(
    () => {
      const repeats = plan.data?.repeats ?? []
      return request<PipelineRun>('POST', `${pipelinePath(name)}/run`, { again: { ...again, repeats } })
    },
    {
      topics: ['pipelines'],
      quiet: true,
      onDone: begun => {
        setRun(begun.id)
        dialog.close()
      },
    },
  )
  const open = (wanted: 'from' | 'only'): void => {
    setExtent(wanted)
    plan.mutate(wanted)
    start.reset()
    dialog.open()
  }
  return (
    <Group gap="xs">
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<Play size={14} aria-hidden />}
        onClick={() => open('from')}
      >
        {t('runFrom')}
      </Button>
      <Button variant="default" size="compact-sm" onClick={() => open('only')}>
        {t('runOnly')}
      </Button>
      <Modal
        opened={opened}
        onClose={dialog.close}
        title={extent === 'from' ? t('runFrom') : t('runOnly')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Stack>
          <Text size="sm">{t('reuses', { run: run.id })}</Text>
          {plan.error !== null && <ErrorCard error={plan.error} />}
          {start.error !== null && <ErrorCard error={start.error} />}
          {(plan.data?.repeats.length ?? 0) > 0 && (
            <Alert color="orange" title={t('repeats')}>
              <List size="sm">
                {plan.data?.repeats.map(line => (
                  <List.Item key={line}>
                    <Untrusted text={line} />
                  </List.Item>
                ))}
              </List>
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={dialog.close}>
              {t('cancel')}
            </Button>
            <Button
              disabled={plan.data === undefined}
              loading={start.isPending}
              onClick={() => start.mutate()}
            >
              {t('run')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Group>
  )
}
