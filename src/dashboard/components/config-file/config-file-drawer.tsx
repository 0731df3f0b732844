import { Alert, Button, Drawer, Group, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { request, toShownError, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { useWords } from '../../i18n/language.tsx'
import { DataRegion, ErrorCard } from '../data-region.tsx'
import { DiffView } from '../diff-view.tsx'
import { Untrusted } from '../untrusted.tsx'
import { toPlainLines, withLineEnds } from './line-ends.ts'
import { words } from './words.ts'

export type ConfigLayer = 'user' | 'project' | 'local'

interface ConfigText {
  readonly layer: ConfigLayer
  readonly path: string
  readonly text: string
  readonly hash: string | null
}

export interface ConfigFileDrawerProps {
  readonly layer: ConfigLayer
  readonly opened: boolean
  readonly onClose: () => void
  /** What is proposed; the person sees it in the text and as a difference before it is saved. */
  readonly propose?: (text: string) => string
}

/** One configuration file: its text, what is wrong with it, and what would change. */
export function ConfigFileDrawer({ layer, opened, onClose, propose }: ConfigFileDrawerProps) {
  const t = useWords(words)
  const path = `/api/config/files/${layer}`
  const file = useGet<ConfigText>('settings', path, { enabled: opened })
  return (
    <Drawer opened={opened} onClose={onClose} size="xl" title={t('edit', { file: file.data?.path ?? '' })}>
      {opened && (
        <DataRegion query={file}>
          {loaded => (
            <Editor
              key={layer}
              file={loaded}
              initial={propose?.(toPlainLines(loaded.text)) ?? toPlainLines(loaded.text)}
              onReload={file.refetch}
              onClose={onClose}
            />
          )}
        </DataRegion>
      )}
    </Drawer>
  )
}

interface EditorProps {
  readonly file: ConfigText
  readonly initial: string
  readonly onReload: () => unknown
  readonly onClose: () => void
}

function Editor({ file, initial, onReload, onClose }: EditorProps) {
  const t = useWords(words)
  const [typed, setText] = useState(initial)
  const text = withLineEnds(typed, file.text)
  // What the text began from; the file can change under it, and what was typed must not be lost then.
  const [base, setBase] = useState(file)
  const [checked] = useDebouncedValue(text, 300)
  const path = `/api/config/files/${file.layer}`
  const findings = useQuery({
    queryKey: ['settings', path, 'check', checked],
    queryFn: () => request<{ problems: string[]; diff: string }>('POST', `${path}/check`, { text: checked }),
  })
  const save = useAction(() => request('PUT', path, { text, base: base.hash }), {
    topics: ['settings', 'rules', 'models', 'mcp'],
    quiet: true,
    onDone() {
      notifications.show({ message: t('saved') })
      onClose()
    },
  })
  const problems = findings.data?.problems ?? []
  const isSettled = checked === text && findings.data !== undefined
  useEffect(() => save.reset(), [save.reset])
  const isRefused = save.error !== null && toShownError(save.error).status === 409
  useEffect(() => {
    if (isRefused) void onReload()
  }, [isRefused, onReload])
  const isStale = isRefused || file.hash !== base.hash
  const goOnWith = (mine: string): void => {
    save.reset()
    setBase(file)
    setText(mine)
  }
  return (
    <Stack gap="md">
      <Textarea
        label={t('text')}
        value={typed}
        onChange={event => setText(event.currentTarget.value)}
        autosize
        minRows={12}
        maxRows={28}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
      />
      {problems.length > 0 && (
        <Alert color="red" title={t('problems')} role="alert">
          {problems.map(problem => (
            <Text size="sm" key={problem}>
              <Untrusted text={problem} most={1_000} />
            </Text>
          ))}
        </Alert>
      )}
      {save.error !== null && !isRefused && <ErrorCard error={save.error} />}
      {isStale && (
        <Alert color="orange" title={t('conflict')} role="alert">
          <Text size="sm">{t('conflictText')}</Text>
          <Group gap="xs" mt="xs">
            <Button size="compact-sm" variant="default" onClick={() => goOnWith(toPlainLines(file.text))}>
              {t('takeTheirs')}
            </Button>
            <Button size="compact-sm" variant="default" onClick={() => goOnWith(typed)}>
              {t('keepMine')}
            </Button>
          </Group>
        </Alert>
      )}
      <section aria-label={t('changes')}>
        <DiffView diff={findings.data?.diff ?? ''} />
      </section>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t('restart')}
        </Text>
        <Group gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button
            onClick={() => save.mutate()}
            loading={save.isPending}
            disabled={!isSettled || isStale || problems.length > 0 || text === file.text}
          >
            {t('save')}
          </Button>
        </Group>
      </Group>
    </Stack>
  )
}
