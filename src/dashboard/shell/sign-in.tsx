import { Button, Code, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { request, toShownError } from '../api/api.ts'
import { useAction } from '../api/use-action.ts'
import { visibleLine } from '../components/untrusted.tsx'
import { useWords } from '../i18n/language.tsx'
import { useLive } from '../live/live-provider.tsx'
import { words } from './words.ts'

/** All that is shown without a session: how to get one, and a place for the link. The address stays as it is. */
export function SignIn() {
  const t = useWords(words)
  const queries = useQueryClient()
  const live = useLive()
  const [link, setLink] = useState('')
  const lookAgain = (): void => {
    void queries.invalidateQueries()
    live.retry()
  }
  const signIn = useAction(() => request('POST', '/api/auth/login', { link }), {
    topics: [],
    quiet: true,
    onDone: lookAgain,
  })
  const refusal = useRefusal(signIn.error)
  return (
    <Stack component="main" align="center" justify="center" p="lg" ta="center" style={OVER_ALL}>
      <Title order={1}>{t('expired')}</Title>
      <Text maw={480}>{t('expiredText')}</Text>
      <Code fz="md" px="md" py="xs">
        kogu open
      </Code>
      <form
        style={{ width: '100%', maxWidth: 480 }}
        onSubmit={event => {
          event.preventDefault()
          signIn.mutate()
        }}
      >
        <Stack>
          <TextInput
            ta="start"
            label={t('pasteLink')}
            value={link}
            onChange={event => setLink(event.currentTarget.value)}
            error={refusal}
            autoComplete="off"
            spellCheck={false}
            maxLength={4_000}
          />
          <Button type="submit" disabled={link.trim() === ''} loading={signIn.isPending}>
            {t('signIn')}
          </Button>
        </Stack>
      </form>
      <Button variant="default" onClick={lookAgain}>
        {t('expiredReload')}
      </Button>
    </Stack>
  )
}

/** Over dialogs, too. */
const OVER_ALL = {
  position: 'fixed',
  inset: 0,
  zIndex: 1_000,
  overflow: 'auto',
  background: 'var(--mantine-color-body)',
} as const

function useRefusal(error: Error | null): string | undefined {
  const t = useWords(words)
  if (error === null) return undefined
  const { code, detail } = toShownError(error)
  if (code === 'invalid_input') return t('linkWrong')
  return code === 'unauthorized' ? t('linkUsed') : visibleLine(detail, 300)
}
