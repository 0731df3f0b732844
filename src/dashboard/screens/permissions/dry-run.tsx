import { Alert, Badge, Button, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion, ErrorCard } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import type { DryRun } from './types.ts'
import { words } from './words.ts'

const SPANS = { day1: 1, days7: 7, days30: 30 } as const
const DAY_MS = 86_400_000

export function DryRunTab() {
  const file = useGet<{ text: string }>('rules', '/api/config/files/user')
  return <DataRegion query={file}>{({ text }) => <Trial initial={text} />}</DataRegion>
}

/** Decides recorded calls again, by the same engine, under other rules. */
function Trial({ initial }: { initial: string }) {
  const t = useWords(words)
  const [text, setText] = useState(initial)
  const [rule] = useUrlState('rule')
  const [span, setSpan] = useUrlState('span', 'days7')
  const days = SPANS[span as keyof typeof SPANS] ?? SPANS.days7
  const trial = useAction(
    () =>
      request<DryRun>('POST', '/api/rules/dry-run', {
        since: new Date(Date.now() - days * DAY_MS).toISOString(),
        ...(text === initial ? {} : { text }),
        remove: rule === '' ? [] : [rule],
      }),
    { topics: [], quiet: true },
  )
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Group gap="xs">
          <Text size="sm">{t('since')}</Text>
          <SegmentedControl
            aria-label={t('since')}
            value={span}
            onChange={setSpan}
            data={(Object.keys(SPANS) as (keyof typeof SPANS)[]).map(value => ({ value, label: t(value) }))}
          />
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
        label={t('ruleText')}
        description={t('ruleTextHint')}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
        autosize
        minRows={6}
        maxRows={20}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
      />
      {trial.error !== null && <ErrorCard error={trial.error} />}
      {trial.data !== undefined && <Report report={trial.data} />}
    </Stack>
  )
}

function Report({ report }: { report: DryRun }) {
  const t = useWords(words)
  const format = useFormat()
  const { calls, changed, transitions, notComparable } = report
  const regretted = changed.filter(({ deniedByPerson, now }) => deniedByPerson && now === 'allow').length
  const count = Object.values(transitions).reduce((sum, times) => sum + times, 0)
  type Changed = DryRun['changed'][number]
  const columns: readonly Column<Changed>[] = [
    { key: 'tool', label: t('tool'), phone: 'title', render: ({ tool }) => <Untrusted text={tool} /> },
    { key: 'at', label: t('at'), phone: 'hide', render: ({ at }) => format.dateTime(at) },
    {
      key: 'input',
      label: t('input'),
      render: ({ input }) => <Untrusted text={JSON.stringify(input)} most={160} />,
    },
    { key: 'was', label: t('was'), render: ({ was }) => <OutcomeBadge outcome={was} /> },
    { key: 'now', label: t('wouldBe'), render: ({ now }) => <OutcomeBadge outcome={now} /> },
    { key: 'by', label: t('by'), phone: 'hide', render: ({ by }) => <Untrusted text={by} /> },
  ]
  return (
    <Stack gap="sm" role="status">
      <Group gap="xs">
        <Text fw={600}>{t('calls', { count: calls })}</Text>
        <Text>{t('changes', { count })}</Text>
        {Object.entries(transitions).map(([transition, times]) => (
          <Badge key={transition} color={transition.endsWith('allow') ? 'orange' : 'gray'}>
            {transition.replace('->', ' → ')} {format.number(times)}
          </Badge>
        ))}
      </Group>
      {regretted > 0 && (
        <Alert color="red" icon={<TriangleAlert size={18} aria-hidden />}>
          {t('regretted', { count: regretted })}
        </Alert>
      )}
      {notComparable > 0 && (
        <Text size="sm" c="dimmed">
          {t('notComparable', { count: notComparable })}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('readOnly')}
      </Text>
      {changed.length > 0 && (
        <DataTable
          label={t('dryRun')}
          columns={columns}
          rows={changed}
          rowKey={({ call }) => call}
          href={({ call }) => routes.audit({ call })}
        />
      )}
    </Stack>
  )
}
