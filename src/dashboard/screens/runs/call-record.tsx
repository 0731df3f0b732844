import { Text } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import type { ShownEvent } from './run-events.ts'
import { words } from './steer/words.ts'

interface CallRecordProps {
  readonly run: string
  readonly call: string
  /** The call as the server gives it. */
  readonly whole: unknown
}

/** What happened with a call that has ended, as it is on record. */
export function CallRecord({ run, call, whole }: CallRecordProps) {
  const t = useWords(words)
  const format = useFormat()
  const { data } = useGet<{ items: readonly ShownEvent[] }>(
    'runs',
    `/api/runs/${encodeURIComponent(run)}/events?call=${encodeURIComponent(call)}`,
  )
  const events = data?.items ?? []
  const end = events.findLast(event => event.type === 'call.finished')
  return (
    <>
      {end !== undefined && (
        <Text size="sm" c="dimmed">
          {t('waited', { time: format.duration(end.waitMs) })}
        </Text>
      )}
      <details>
        <summary>{t('callEvents', { count: events.length })}</summary>
        <UntrustedBlock
          text={events.map(event => JSON.stringify(event)).join('\n')}
          lines={20}
          most={40_000}
          label={t('callEvents', { count: events.length })}
        />
      </details>
      <details>
        <summary>{t('raw')}</summary>
        <UntrustedBlock
          text={JSON.stringify(whole, null, 2) ?? ''}
          lines={40}
          most={40_000}
          label={t('raw')}
        />
      </details>
    </>
  )
}
