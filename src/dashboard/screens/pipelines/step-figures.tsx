import { Text } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import type { Page, Run } from '../../api/types.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import type { PipelineRun } from './types.ts'
import { words } from './words.ts'

interface AuditedCall {
  readonly call: string
  readonly run_ms: number
  readonly wait_ms: number
}

/** How long a step took and what it cost. Waiting for a person is not working, so the two are never added. */
export function StepFigures({ run, step }: { run: PipelineRun; step: string }) {
  const own = run.steps[step]
  if (own === undefined || own.status === 'waiting' || own.status === 'skipped') return null
  return own.run === undefined ? <CallFigures run={run.id} step={step} /> : <PanelFigures id={own.run} />
}

/** The calls of one run come in one request, whichever step asks. */
function CallFigures({ run, step }: { run: string; step: string }) {
  const t = useWords(words)
  const format = useFormat()
  const calls = useGet<Page<AuditedCall>>('audit', `/api/audit/calls?run=${run}&limit=200`)
  const own = (calls.data?.items ?? []).filter(({ call }) => call.startsWith(`call_${run}.${step}.`))
  if (own.length === 0) return null
  const sum = (key: 'run_ms' | 'wait_ms'): number => own.reduce((total, call) => total + call[key], 0)
  const waited = sum('wait_ms')
  return (
    <Text size="xs" c="dimmed">
      {format.duration(sum('run_ms'))}
      {waited >= 1_000 && ` · ${t('waited', { time: format.duration(waited) })}`}
    </Text>
  )
}

function PanelFigures({ id }: { id: string }) {
  const t = useWords(words)
  const format = useFormat()
  const { data: run } = useGet<Run>('runs', `/api/runs/${encodeURIComponent(id)}`)
  if (run === undefined) return null
  const ended = run.completed_at === null ? undefined : Date.parse(run.completed_at)
  return (
    <Text size="xs" c="dimmed">
      {ended !== undefined && `${format.duration(ended - Date.parse(run.created_at))} · `}
      {t('stepCost', {
        cost: format.money(run.cost_usd, t('unknownCost')),
        tokens: format.number(run.tokens),
      })}
    </Text>
  )
}
