import { Alert, Badge, Button, Group, List, Stack, Text, Title } from '@mantine/core'
import { ShieldAlert, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { TrustDiff } from '../../components/trust-diff.tsx'
import { CutTexts, EscapeWarning, Untrusted } from '../../components/untrusted.tsx'
import { words as common } from '../../components/words.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

interface Trust {
  readonly status: 'not-needed' | 'trusted' | 'untrusted' | 'changed'
  readonly lines: readonly { readonly kind: string; readonly file: string; readonly text: string }[]
  readonly changes: readonly { readonly change: 'added' | 'removed' | 'reordered'; readonly text: string }[]
  readonly digest: string
}

const SAYS = {
  'not-needed': 'trustNotNeeded',
  trusted: 'trustTrusted',
  untrusted: 'trustUntrusted',
  changed: 'trustChanged',
} as const

/** Everything that the project's own files would switch on, to be read before it is trusted. */
export function ProjectTrust() {
  const trust = useGet<Trust>('settings', '/api/trust')
  return <DataRegion query={trust}>{now => <Review now={now} />}</DataRegion>
}

/** A yes is to what was read: files that change meanwhile change nothing under the reader's eyes. */
function Review({ now }: { now: Trust }) {
  const t = useWords(words)
  const c = useWords(common)
  const [read, setRead] = useState(now)
  const [unread, setUnread] = useState(0)
  const decide = useAction(
    (given: { digest: string; trusted: boolean }) => request('POST', '/api/trust', given),
    { topics: ['settings', 'rules'] },
  )
  const { status } = now
  const hasChanged = now.digest !== read.digest
  const isFine = status === 'trusted' || status === 'not-needed'
  return (
    <Stack gap="md">
      <Alert
        color={isFine ? 'green' : 'yellow'}
        icon={isFine ? <ShieldCheck size={18} aria-hidden /> : <ShieldAlert size={18} aria-hidden />}
      >
        {t(SAYS[status])}
      </Alert>
      <CutTexts value={setUnread}>
        <Brought trust={hasChanged ? read : now} isFine={isFine} />
      </CutTexts>
      {hasChanged && (
        <Alert color="orange" role="alert" icon={<ShieldAlert size={18} aria-hidden />}>
          <Group gap="xs">
            {t('changedWhileRead')}
            <Button size="xs" variant="default" onClick={() => setRead(now)}>
              {t('readAgain')}
            </Button>
          </Group>
        </Alert>
      )}
      {status !== 'not-needed' && (
        <Group>
          {status !== 'trusted' && (
            <Button
              loading={decide.isPending}
              disabled={hasChanged || unread > 0}
              onClick={() => decide.mutate({ digest: read.digest, trusted: true })}
            >
              {t('trustButton')}
            </Button>
          )}
          {status !== 'untrusted' && (
            <Button
              variant="default"
              loading={decide.isPending}
              onClick={() => decide.mutate({ digest: now.digest, trusted: false })}
            >
              {t('untrustButton')}
            </Button>
          )}
          <Text size="sm" c="dimmed">
            {unread > 0 && !isFine ? c('wholeFirst') : t('trustNext')}
          </Text>
        </Group>
      )}
    </Stack>
  )
}

function Brought({ trust: { lines, changes }, isFine }: { trust: Trust; isFine: boolean }) {
  const t = useWords(words)
  return (
    <>
      <EscapeWarning texts={lines.map(({ text }) => text)} />
      {changes.length > 0 && (
        <section aria-label={t('changedSince')}>
          <Title order={2}>{t('changedSince')}</Title>
          <List size="sm">
            {changes.map(({ change, text }) => (
              <List.Item key={`${change} ${text}`}>
                <Badge color={change === 'removed' ? 'red' : 'green'}>{t(change)}</Badge>{' '}
                <Untrusted text={text} most={2_000} />
              </List.Item>
            ))}
          </List>
        </section>
      )}
      {lines.length > 0 && (
        <section aria-label={t('wouldDo')}>
          <Title order={2}>{t('wouldDo')}</Title>
          {isFine ? (
            <List size="sm">
              {lines.map(({ kind, file, text }) => (
                <List.Item key={`${file} ${text}`}>
                  <Badge color={kind === 'restrict' ? 'gray' : 'orange'}>{kind}</Badge>{' '}
                  <Untrusted text={text} most={2_000} />{' '}
                  <Text span size="xs" c="dimmed">
                    <Untrusted text={file} />
                  </Text>
                </List.Item>
              ))}
            </List>
          ) : (
            <TrustDiff lines={lines} />
          )}
        </section>
      )}
    </>
  )
}
