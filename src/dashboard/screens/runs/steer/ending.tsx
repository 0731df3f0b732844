import { Alert, Text } from '@mantine/core'
import type { Run } from '../../../api/types.ts'
import { Untrusted } from '../../../components/untrusted.tsx'
import { useWords } from '../../../i18n/language.tsx'
import type { ShownEvent } from '../run-events.ts'
import { useReasons } from '../stop-reason.ts'
import { oneLine } from '../transcript.tsx'
import { type CallItem, cutOffCalls, toItems } from '../transcript-items.ts'
import { words as runWords } from '../words.ts'
import { mayGoOn } from './run-actions.tsx'
import { words } from './words.ts'

const MOST_NAMED = 20

/** Why it ended early or stands still, which calls were cut off, and which of them may have had an effect all the same. */
export function Ending({ run, events }: { run: Run; events: readonly ShownEvent[] }) {
  const t = useWords(words)
  const r = useWords(runWords)
  const say = useReasons()
  const stands = run.status === 'pending' && mayGoOn(run)
  if (run.status !== 'failed' && run.status !== 'cancelled' && !stands) return null
  const { without, unclear } = cutOffCalls(toItems(events))
  const isStopped = run.status === 'cancelled'
  const why = run.error ?? say(run.stop_reason ?? '')
  return (
    <Alert
      color={run.status === 'failed' ? 'red' : 'orange'}
      py="xs"
      title={run.status === 'failed' ? r('whyFailed') : undefined}
    >
      {!isStopped && <Untrusted text={why} most={1_000} />}
      {isStopped && without.length + unclear.length === 0 && <Text size="sm">{t('nothingCut')}</Text>}
      {unclear.length > 0 && <Calls text={t('unclear', { calls: named(unclear) })} />}
      {without.length > 0 && <Calls text={t('cutOff', { calls: named(without) })} />}
      {stands && <Text size="sm">{t('goesOnFrom', { step: run.turn })}</Text>}
    </Alert>
  )
}

function Calls({ text }: { text: string }) {
  return (
    <Text size="sm">
      <Untrusted text={text} most={2_000} />
    </Text>
  )
}

function named(calls: readonly CallItem[]): string {
  const shown = calls
    .slice(0, MOST_NAMED)
    .map(({ tool, input }) => `${tool} ${oneLine(input)}`.slice(0, 120).trim())
  return [...shown, ...(calls.length > MOST_NAMED ? ['…'] : [])].join(', ')
}
