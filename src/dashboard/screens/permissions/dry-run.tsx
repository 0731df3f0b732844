import { Badge, Button, Checkbox, Group, NativeSelect, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import type { ConfigLayer } from '../../components/config-file/config-file-drawer.tsx'
import { DataRegion, ErrorCard } from '../../components/data-region.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { Report } from './report.tsx'
import { isTrialSpan, TRIAL_DAYS, TrialSpanChoice } from './trial-span.tsx'
import type { DryRun } from './types.ts'
import { words } from './words.ts'

const DAY_MS = 86_400_000

const LAYERS = ['user', 'project', 'local'] as const

export function DryRunTab() {
  const t = useWords(words)
  const [of, setOf] = useUrlState('file', 'user')
  const layer = LAYERS.find(each => each === of) ?? 'user'
  const file = useGet<{ text: string; layer: ConfigLayer }>('rules', `/api/config/files/${layer}`)
  return (
    <Stack gap="md">
      <NativeSelect
        label={t('source')}
        maw={320}
        data={LAYERS.map(value => ({ value, label: t(value) }))}
        value={layer}
        onChange={event => setOf(event.currentTarget.value)}
      />
      <DataRegion query={file}>
        {loaded => <Trial key={loaded.layer} initial={loaded.text} layer={loaded.layer} />}
      </DataRegion>
    </Stack>
  )
}

/** Decides recorded calls again, by the same engine, under other rules. */
function Trial({ initial, layer }: { initial: string; layer: ConfigLayer }) {
  const t = useWords(words)
  const [text, setText] = useState(initial)
  const [rule] = useUrlState('rule')
  const [only, setOnly] = useState(false)
  const [span, setSpan] = useUrlState('span', 'days7')
  const chosen = isTrialSpan(span) ? span : 'days7'
  const days = TRIAL_DAYS[chosen]
  const trial = useAction(
    () =>
      request<DryRun>('POST', '/api/rules/dry-run', {
        since: new Date(Date.now() - days * DAY_MS).toISOString(),
        ...(text === initial && !only ? {} : { text, layer, only }),
        remove: rule === '' ? [] : [rule],
      }),
    { topics: [], quiet: true },
  )
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Group gap="xs">
          <TrialSpanChoice value={chosen} onChange={setSpan} />
          {rule !== '' && (
            <Badge color="gray">
              <Untrusted text={t('removed', { rules: rule })} />
            </Badge>
          )}
        </Group>
        <Button loading={trial.isPending} onClick={() => trial.mutate()}>
          {t('run')}
        </Button>
      </Group>
      <Textarea
        label={t(layer === 'user' ? 'ruleText' : 'fileText')}
        description={t('ruleTextHint')}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
        autosize
        minRows={6}
        maxRows={20}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
      />
      <Checkbox label={t('only')} checked={only} onChange={event => setOnly(event.currentTarget.checked)} />
      {trial.error !== null && <ErrorCard error={trial.error} />}
      {trial.data !== undefined && <Report report={trial.data} days={days} />}
    </Stack>
  )
}
