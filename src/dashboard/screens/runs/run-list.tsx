import { Button, Checkbox, Group } from '@mantine/core'
import { Activity } from 'lucide-react'
import { useState } from 'react'
import { usePages } from '../../api/api.ts'
import type { Run } from '../../api/types.ts'
import { RunBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { LoadMore } from '../../components/load-more.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted, visibleLine } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { BulkActions } from './bulk-actions.tsx'
import { RunFilters, useRunFilters } from './run-filters.tsx'
import { StartRun } from './start-run.tsx'
import { useStarter } from './steer/starter.ts'
import { words as steerWords } from './steer/words.ts'
import { words } from './words.ts'

export function RunList() {
  const t = useWords(words)
  const filters = useRunFilters()
  const query = usePages<Run>('runs', filters.path)
  const columns = useColumns()
  const fresh = useFresh(query.data ?? [], filters.path)
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const selected = (query.data ?? []).filter(({ id }) => chosen.has(id))
  return (
    <Page title={t('title')} intro={t('intro')} actions={<StartRun />}>
      <RunFilters filters={filters} />
      {fresh.count > 0 && (
        <Button variant="light" size="compact-sm" onClick={fresh.show} style={{ alignSelf: 'flex-start' }}>
          {t('newRuns', { count: fresh.count })}
        </Button>
      )}
      <BulkActions runs={selected} onDone={() => choose(new Set())} />
      <DataRegion
        query={query}
        isEmpty={rows => rows.length === 0}
        empty={
          filters.isFiltered ? (
            <Empty
              title={t('noneFiltered')}
              action={
                <Button variant="default" onClick={filters.clear}>
                  {t('clear')}
                </Button>
              }
            />
          ) : (
            <Empty
              icon={<Activity size={36} aria-hidden />}
              title={t('none')}
              action={<StartRun />}
              guide="agents"
            >
              {t('noneText')}
            </Empty>
          )
        }
      >
        {all => {
          const rows = fresh.without(all)
          return (
            <DataTable
              label={t('title')}
              rows={rows}
              rowKey={run => run.id}
              href={run => routes.run(run.id)}
              columns={columns}
              lead={{
                head: (
                  <Checkbox
                    aria-label={t('selectAll')}
                    checked={selected.length === rows.length}
                    indeterminate={selected.length > 0 && selected.length < rows.length}
                    onChange={event =>
                      choose(new Set(event.currentTarget.checked ? rows.map(({ id }) => id) : []))
                    }
                  />
                ),
                render: run => (
                  <Checkbox
                    aria-label={t('select', { task: visibleLine(run.task, 60) })}
                    checked={chosen.has(run.id)}
                    onChange={event => choose(toggled(chosen, run.id, event.currentTarget.checked))}
                  />
                ),
              }}
            />
          )
        }}
      </DataRegion>
      <LoadMore query={query} />
    </Page>
  )
}

/** Rows that came after one began to look wait behind a button: what one is about to click stays in its place. */
function useFresh(rows: readonly Run[], list: string) {
  const [seen, setSeen] = useState<{ list: string; until: string }>()
  const newest = rows[0]?.created_at
  if (newest !== undefined && seen?.list !== list) setSeen({ list, until: newest })
  const isFresh = ({ created_at }: Run): boolean => seen?.list === list && created_at > seen.until
  return {
    count: rows.filter(isFresh).length,
    show: () => newest !== undefined && setSeen({ list, until: newest }),
    without: (all: readonly Run[]) => all.filter(run => !isFresh(run)),
  }
}

function toggled(chosen: ReadonlySet<string>, id: string, on: boolean): ReadonlySet<string> {
  const next = new Set(chosen)
  if (on) next.add(id)
  else next.delete(id)
  return next
}

function useColumns(): readonly Column<Run>[] {
  const t = useWords(words)
  const own = useWords(steerWords)
  const format = useFormat()
  const starterOf = useStarter()
  return [
    {
      key: 'task',
      label: t('task'),
      phone: 'title',
      render: run => <Untrusted text={run.task} most={90} />,
      below: run => <Untrusted text={run.agent ?? ''} most={40} />,
    },
    { key: 'state', label: t('state'), render: run => <RunBadge run={run} /> },
    {
      key: 'started',
      label: t('started'),
      render: run => <span title={format.dateTime(run.created_at)}>{format.ago(run.created_at)}</span>,
      below: run => run.started_by !== null && <Untrusted text={starterOf(run.started_by)} most={60} />,
    },
    {
      key: 'duration',
      label: t('duration'),
      align: 'right',
      render: run =>
        run.status === 'pending'
          ? '–'
          : format.duration(
              (run.completed_at === null ? Date.now() : Date.parse(run.completed_at)) -
                Date.parse(run.created_at),
            ),
    },
    {
      key: 'steps',
      label: own('steps'),
      align: 'right',
      phone: 'hide',
      // The number is that of the next one.
      render: run => format.number(Math.max(0, run.turn - 1)),
    },
    {
      key: 'calls',
      label: t('calls'),
      align: 'right',
      phone: 'hide',
      render: run => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {format.number(run.calls)}
          {(run.asked ?? 0) > 0 && <span>({own('asked', { count: run.asked ?? 0 })})</span>}
          {(run.denied ?? 0) > 0 && <span>({t('deniedCalls', { count: run.denied ?? 0 })})</span>}
        </Group>
      ),
    },
    {
      key: 'cost',
      label: t('cost'),
      align: 'right',
      render: run => format.money(run.cost_usd, t('unknown')),
      below: run => t('tokenCount', { count: run.tokens }),
    },
  ]
}
