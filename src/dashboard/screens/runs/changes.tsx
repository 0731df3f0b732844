import { Anchor, Badge, Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { request, useGet } from '../../api/api.ts'
import type { Change, UndoPlan } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { DataRegion, Empty, ErrorCard } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

type Selection = { readonly run: string } | { readonly calls: readonly string[] }

/** The files that a run changed, and the way back. */
export function Changes({ run }: { run: string }) {
  const t = useWords(words)
  const format = useFormat()
  const [undoing, undo] = useState<Selection>()
  const query = useGet<Change[]>('changes', `/api/changes?run=${encodeURIComponent(run)}&limit=500`)
  const changeWord = (change: string): string =>
    change === 'created' || change === 'changed' || change === 'deleted' ? t(change) : change
  return (
    <>
      <DataRegion
        query={query}
        isEmpty={all => all.length === 0}
        empty={<Empty title={t('noChanges')} guide="files" />}
      >
        {all => (
          <Stack gap="sm">
            <Group justify="flex-end">
              <Button
                variant="default"
                leftSection={<Undo2 size={16} aria-hidden />}
                disabled={all.every(({ undone }) => undone)}
                onClick={() => undo({ run })}
              >
                {t('undoAll')}
              </Button>
            </Group>
            <DataTable
              label={t('changes')}
              rows={all}
              rowKey={({ call }) => call}
              columns={[
                {
                  key: 'files',
                  label: t('files'),
                  phone: 'title',
                  render: ({ paths, call }) => (
                    <Stack gap={2}>
                      {paths.map(({ path, change }) => (
                        <Text key={path} size="sm" ff="monospace">
                          <Untrusted text={path} /> <Badge color="gray">{changeWord(change)}</Badge>
                        </Text>
                      ))}
                      <Difference call={call} />
                    </Stack>
                  ),
                },
                { key: 'tool', label: t('tool'), render: ({ tool }) => <Untrusted text={tool} most={40} /> },
                { key: 'at', label: t('when'), render: ({ at }) => format.time(at) },
                {
                  key: 'undo',
                  label: t('undoCall'),
                  render: ({ call, undone }) =>
                    undone ? (
                      <Badge color="gray">{t('undone')}</Badge>
                    ) : (
                      <Button size="compact-sm" variant="default" onClick={() => undo({ calls: [call] })}>
                        {t('undoCall')}
                      </Button>
                    ),
                },
              ]}
            />
          </Stack>
        )}
      </DataRegion>
      <Modal
        opened={undoing !== undefined}
        onClose={() => undo(undefined)}
        title={t('undoTitle')}
        size="lg"
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        {undoing !== undefined && <UndoPlanView selection={undoing} onDone={() => undo(undefined)} />}
      </Modal>
    </>
  )
}

interface FileDifference {
  readonly path: string
  readonly diff: string | null
  readonly reason: string | null
}

function Difference({ call }: { call: string }) {
  const t = useWords(words)
  const [opened, open] = useDisclosure(false)
  const query = useGet<FileDifference[]>('changes', `/api/changes/${encodeURIComponent(call)}/diff`, {
    enabled: opened,
  })
  return (
    <>
      <Anchor
        component="button"
        type="button"
        size="sm"
        ta="left"
        aria-expanded={opened}
        onClick={open.toggle}
      >
        {t('difference')}
      </Anchor>
      {opened && (
        <DataRegion query={query}>
          {files =>
            files.map(({ path, diff, reason }) =>
              diff === null ? (
                <Text key={path} size="sm" c="dimmed">
                  <Untrusted text={`${path}: ${reason ?? ''}`} />
                </Text>
              ) : (
                <DiffView key={path} diff={diff} />
              ),
            )
          }
        </DataRegion>
      )}
    </>
  )
}

const ACTIONS = { create: 'undoCreate', restore: 'undoRestore', delete: 'undoDelete' } as const

/** Says what comes back before anything is touched. */
function UndoPlanView({ selection, onDone }: { selection: Selection; onDone: () => void }) {
  const t = useWords(words)
  const [plan, setPlan] = useState<UndoPlan>()
  const look = useAction(() => request<UndoPlan>('POST', '/api/changes/undo/plan', selection), {
    topics: [],
    quiet: true,
    onDone: setPlan,
  })
  const apply = useAction(
    () =>
      request('POST', '/api/changes/undo', {
        selection,
        skip_conflicts: (plan?.conflicts.length ?? 0) > 0,
        digest: plan?.digest,
      }),
    {
      topics: ['changes', 'runs', 'audit'],
      quiet: true,
      onDone() {
        notifications.show({ color: 'green', message: t('undoDone') })
        onDone()
      },
    },
  )
  if (plan === undefined && !look.isPending && look.error === null) look.mutate()
  const error = look.error ?? apply.error
  const lookAgain = (): void => {
    apply.reset()
    look.mutate()
  }
  return (
    <Stack>
      {error !== null && <ErrorCard error={error} onRetry={lookAgain} />}
      {plan !== undefined && (
        <>
          {plan.steps.length === 0 && <Text>{t('undoNothing')}</Text>}
          <List size="sm" spacing={4}>
            {plan.steps.map(({ path, action }) => (
              <List.Item key={path}>
                <Text span ff="monospace" size="sm">
                  <Untrusted text={path} />
                </Text>{' '}
                {t(ACTIONS[action])}
              </List.Item>
            ))}
          </List>
          {plan.conflicts.length > 0 && (
            <>
              <Text size="sm">{t('undoConflicts')}</Text>
              <List size="sm">
                {plan.conflicts.map(({ path, reason }) => (
                  <List.Item key={path}>
                    <Untrusted text={`${path}: ${reason}`} />
                  </List.Item>
                ))}
              </List>
            </>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onDone}>
              {t('cancel')}
            </Button>
            <Button
              disabled={plan.steps.length === 0}
              loading={apply.isPending}
              leftSection={<Undo2 size={16} aria-hidden />}
              onClick={() => apply.mutate()}
            >
              {t('undoGo')}
            </Button>
          </Group>
        </>
      )}
    </Stack>
  )
}
