import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core'
import { CircleDot, Save } from 'lucide-react'
import { useEffect, useEffectEvent } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { ErrorCard } from '../data-region.tsx'
import { useLeaveGuard } from '../use-leave-guard.ts'
import type { Editing } from './use-saved-file.ts'
import { words } from './words.ts'

/** Whether it is saved, and the buttons for it. Ctrl+S saves. */
export function SaveButtons<Content>({
  editing,
  isBlocked = false,
}: {
  editing: Editing<Content>
  isBlocked?: boolean
}) {
  const t = useWords(words)
  const { isDirty, isSaving, isStale } = editing
  useLeaveGuard(isDirty, t('leave'))
  const canSave = isDirty && !isSaving && !isStale && !isBlocked
  const onSave = useEffectEvent(() => {
    if (canSave) void editing.save()
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      onSave()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      {/* Without a box of its own, so that it takes no place while it says nothing. */}
      <span role="status" style={{ display: 'contents' }}>
        {isDirty ? (
          <Badge color="yellow" leftSection={<CircleDot size={12} aria-hidden />}>
            {t('unsaved')}
          </Badge>
        ) : null}
      </span>
      {isDirty && (
        <Button variant="subtle" onClick={editing.discard}>
          {t('discard')}
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<Save size={16} aria-hidden />}
        aria-keyshortcuts="Control+S"
        disabled={!canSave}
        loading={isSaving}
        onClick={() => void editing.save()}
      >
        {t('save')}
      </Button>
    </>
  )
}

/** What stands in the way: somebody else's change, or a save that failed. */
export function SaveNotices<Content>({ editing }: { editing: Editing<Content> }) {
  const t = useWords(words)
  return (
    <>
      {editing.error !== null && <ErrorCard error={editing.error} />}
      {editing.isStale && (
        <Alert color="orange" title={t('elsewhere')} role="alert">
          <Stack gap="xs">
            <Text size="sm">{t('elsewhereText')}</Text>
            <Group gap="xs">
              <Button size="compact-sm" variant="default" onClick={editing.discard}>
                {t('reload')}
              </Button>
              <Button size="compact-sm" variant="default" onClick={editing.overwrite}>
                {t('overwrite')}
              </Button>
            </Group>
          </Stack>
        </Alert>
      )}
      {editing.content === null && <Alert color="red">{t('fixFile')}</Alert>}
      {editing.losesComments && <Alert color="yellow">{t('comments')}</Alert>}
    </>
  )
}
