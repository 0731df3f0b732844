import { Anchor, Button, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useGet } from '../../../api/api.ts'
import type { Page as PageOf, Run } from '../../../api/types.ts'
import { RunBadge } from '../../../components/badges.tsx'
import { DataTable } from '../../../components/data-table.tsx'
import { Page } from '../../../components/page.tsx'
import { Untrusted } from '../../../components/untrusted.tsx'
import { useFormat } from '../../../i18n/format.ts'
import { useWords } from '../../../i18n/language.tsx'
import { routes } from '../../../routes.ts'
import { words as runWords } from '../words.ts'
import { words } from './words.ts'

/** An address that was cut off or typed wrong: the runs that it may have meant. */
export function NoSuchRun({ id }: { id: string }) {
  const t = useWords(words)
  const r = useWords(runWords)
  const format = useFormat()
  const { data } = useGet<PageOf<Run>>('runs', '/api/runs?limit=200')
  const all = data?.items ?? []
  const near = all
    .map(run => ({ run, same: sameStart(run.id, id) }))
    .filter(({ same }) => same >= SHORTEST)
    .toSorted((a, b) => b.same - a.same)
    .map(({ run }) => run)
  const shown = (near.length > 0 ? near : all).slice(0, 5)
  return (
    <Page title={t('noSuchRun')} intro={<Untrusted text={id} most={80} />}>
      {shown.length > 0 && (
        <Stack gap="xs">
          <Text fw={600}>{near.length > 0 ? t('nearestRuns') : t('latestRuns')}</Text>
          <DataTable
            label={near.length > 0 ? t('nearestRuns') : t('latestRuns')}
            rows={shown}
            rowKey={run => run.id}
            href={run => routes.run(run.id)}
            columns={[
              {
                key: 'task',
                label: r('task'),
                phone: 'title',
                render: run => (
                  <Anchor component={Link} href={routes.run(run.id)}>
                    <Untrusted text={run.task} most={80} />
                  </Anchor>
                ),
              },
              { key: 'id', label: 'Id', render: run => <code>{run.id}</code> },
              { key: 'state', label: r('state'), render: run => <RunBadge run={run} /> },
              { key: 'at', label: r('started'), render: run => format.ago(Date.parse(run.created_at)) },
            ]}
          />
        </Stack>
      )}
      <Button component={Link} href={routes.runs()} variant="default" style={{ alignSelf: 'flex-start' }}>
        {t('allRuns')}
      </Button>
    </Page>
  )
}

/** Fewer characters in common say nothing. */
const SHORTEST = 3

function sameStart(a: string, b: string): number {
  let count = 0
  while (count < a.length && a[count] === b[count]?.toLowerCase()) count += 1
  return count
}
