import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import { BarChart } from '../../components/bar-chart.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { TableToggle } from '../../components/table-toggle.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes } from '../../routes.ts'
import { type AuditedCall, callersOf, daysOf } from './tool-use.ts'
import type { DynamicDetail } from './types.ts'
import { words } from './words.ts'

/** How often it ran and how that went, what failed, and who called it. */
export function Use({ tool }: { tool: DynamicDetail }) {
  const t = useWords(words)
  const format = useFormat()
  const { successRate, medianMs, p95Ms } = tool.metrics
  const say = (ms: number | null): string => (ms === null ? t('notMeasured') : format.duration(ms))
  return (
    <Stack gap="md">
      <Text size="sm">
        {t('uses')}: {format.number(tool.uses)} · {t('uses30')}: {format.number(tool.uses_30d)} ·{' '}
        {t('errorRate')}: {successRate === null ? t('notMeasured') : format.percent(1 - successRate)} ·{' '}
        {t('times')}: {say(medianMs)} / {say(p95Ms)}
      </Text>
      {tool.runs.length > 0 && <Runs runs={tool.runs} />}
      <Calls name={tool.name} />
    </Stack>
  )
}

type Run = DynamicDetail['runs'][number]

function Runs({ runs }: { runs: readonly Run[] }) {
  const t = useWords(words)
  const format = useFormat()
  const columns: readonly Column<Run>[] = [
    { key: 'at', label: t('at'), phone: 'title', render: ({ at }) => format.dateTime(at) },
    {
      key: 'result',
      label: t('result'),
      render: ({ ok, error }) =>
        ok ? t('ok') : <Untrusted text={`${t('error')}: ${error ?? ''}`} most={100} />,
    },
    { key: 'took', label: t('took'), align: 'right', render: ({ ms }) => format.duration(ms) },
  ]
  const bars = daysOf(runs, Date.now()).map(({ day, ok, failed }) => ({
    label: format.day(`${day}T12:00:00`),
    parts: [
      { key: t('ok'), value: ok },
      { key: t('error'), value: failed },
    ],
  }))
  return (
    <TableToggle
      label={t('runs')}
      table={
        <DataTable
          label={t('runs')}
          columns={columns}
          rows={runs.map((run, index) => ({ ...run, index })).toReversed()}
          rowKey={run => `${'index' in run ? run.index : ''} ${run.at}`}
        />
      }
    >
      <BarChart label={t('runs')} bars={bars} keys={[t('ok'), t('error')]} format={format.number} />
    </TableToggle>
  )
}

/** From the audit log: by its own name, and through run_dynamic_tool. */
function Calls({ name }: { name: string }) {
  const t = useWords(words)
  const format = useFormat()
  const find = (tool: string, text: string): string =>
    `/api/audit/calls?limit=100&tool=${inAddress(tool)}&text=${inAddress(text)}`
  const direct = useGet<{ items: AuditedCall[] }>('audit', find(name, ''))
  const byName = useGet<{ items: AuditedCall[] }>('audit', find('run_dynamic_tool', name))
  type Caller = ReturnType<typeof callersOf>[number]
  const columns: readonly Column<Caller>[] = [
    { key: 'who', label: t('caller'), phone: 'title', render: ({ who }) => <Untrusted text={who} /> },
    { key: 'calls', label: t('callCount'), align: 'right', render: ({ calls }) => format.number(calls) },
    { key: 'failed', label: t('error'), align: 'right', render: ({ failed }) => format.number(failed) },
    { key: 'last', label: t('lastCall'), render: ({ last }) => format.ago(last) },
  ]
  return (
    <DataRegion query={direct}>
      {({ items }) => {
        const through = (byName.data?.items ?? []).filter(({ input }) => input?.tool_name === name)
        const calls = [...items, ...through].sort((a, b) => (a.at < b.at ? 1 : -1))
        const failures = calls.filter(({ ok }) => !ok).slice(0, 20)
        return (
          <Stack gap="md">
            <DataTable
              label={t('callers')}
              columns={columns}
              rows={callersOf(calls)}
              rowKey={({ who }) => who}
            />
            {failures.map(({ call, at, error }) => (
              <Text size="sm" key={call}>
                <Anchor component={Link} href={routes.audit({ call })} size="sm">
                  {format.dateTime(at)}
                </Anchor>{' '}
                <Untrusted text={(error?.message ?? t('error')).replaceAll(/\s+/g, ' ')} most={300} />
              </Text>
            ))}
          </Stack>
        )
      }}
    </DataRegion>
  )
}
