import { Button, Group, Text } from '@mantine/core'
import { Download, Octagon, RotateCw } from 'lucide-react'
import { request } from '../../api/api.ts'
import type { Run } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { downloadText } from '../../components/download.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

/** For the runs that were chosen in the list. */
export function BulkActions({ runs, onDone }: { runs: readonly Run[]; onDone: () => void }) {
  const t = useWords(words)
  const active = runs.filter(({ status }) => status === 'running' || status === 'pending')
  const act = useAction(
    async ({ verb, of }: { verb: 'stop' | 'again'; of: readonly Run[] }) => {
      for (const { id } of of) await request('POST', `/api/runs/${encodeURIComponent(id)}/${verb}`, {})
    },
    { topics: ['runs', 'approvals'], onDone },
  )
  if (runs.length === 0) return null
  return (
    <Group gap="xs" role="group" aria-label={t('selected', { count: runs.length })}>
      <Text size="sm" role="status">
        {t('selected', { count: runs.length })}
      </Text>
      <Button
        size="compact-sm"
        color="red"
        variant="light"
        disabled={active.length === 0}
        loading={act.isPending}
        leftSection={<Octagon size={14} aria-hidden />}
        onClick={() => act.mutate({ verb: 'stop', of: active })}
      >
        {t('stop')} ({active.length})
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        loading={act.isPending}
        leftSection={<RotateCw size={14} aria-hidden />}
        onClick={() => act.mutate({ verb: 'again', of: runs })}
      >
        {t('again')}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Download size={14} aria-hidden />}
        onClick={() =>
          downloadText('kogu-runs.ndjson', `${runs.map(run => JSON.stringify(run)).join('\n')}\n`)
        }
      >
        {t('exportRuns')}
      </Button>
    </Group>
  )
}
