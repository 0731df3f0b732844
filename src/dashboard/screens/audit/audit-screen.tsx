import { Alert, Button, Drawer, Group, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Download, ScrollText, ShieldCheck, TriangleAlert } from 'lucide-react'
import { useMemo, useState } from 'react'
import { request, useGet, usePages } from '../../api/api.ts'
import type { AuditItem, Page as Pages } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { downloadText } from '../../components/download.ts'
import { LoadMore } from '../../components/load-more.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { usePlace, useShortPath } from '../../components/use-short-path.ts'
import { words as common } from '../../components/words.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { CallRecordView } from './call-record.tsx'
import { sayWhat } from './say-what.ts'
import { words } from './words.ts'

const SPANS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const
const KINDS = { calls: 'call-finished', answers: 'approval-answered', notes: 'note' } as const

export default function AuditScreen() {
  const t = useWords(words)
  const [filters, change, clear] = useFilters()
  const [call, openCall] = useUrlState('call')
  const path = useFilterPath(filters)
  const query = usePages<AuditItem>('audit', path)
  const save = useAction(() => exportAll(path), { topics: [] })
  const isFiltered = Object.values(filters).some(value => value !== '')
  return (
    <Page
      title={t('title')}
      intro={t('intro')}
      actions={
        <Button
          variant="default"
          loading={save.isPending}
          leftSection={<Download size={16} aria-hidden />}
          onClick={() => save.mutate()}
        >
          {t('export')}
        </Button>
      }
    >
      <Chain />
      <Filters filters={filters} onChange={change} />
      <DataRegion
        query={query}
        isEmpty={rows => rows.length === 0}
        empty={
          <Empty
            icon={<ScrollText size={36} aria-hidden />}
            title={isFiltered ? t('noneFiltered') : t('none')}
            {...(isFiltered
              ? {
                  action: (
                    <Button variant="default" onClick={clear}>
                      {t('clear')}
                    </Button>
                  ),
                }
              : {})}
          />
        }
      >
        {rows => <AuditTable rows={rows} />}
      </DataRegion>
      <LoadMore query={query} />
      <Drawer
        opened={call !== ''}
        onClose={() => openCall('')}
        title={t('call')}
        size="xl"
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        {call !== '' && <CallRecordView call={call} />}
      </Drawer>
    </Page>
  )
}

const MOST_PAGES = 200

/** All that matches, page by page. */
async function exportAll(path: string): Promise<void> {
  const lines: string[] = []
  let cursor = ''
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const wanted = path.replace('limit=50', 'limit=200')
    const { items, next } = await request<Pages<AuditItem>>(
      'GET',
      cursor === '' ? wanted : `${wanted}&cursor=${encodeURIComponent(cursor)}`,
    )
    lines.push(...items.map(item => JSON.stringify(item)))
    if (next === null) break
    cursor = next
  }
  downloadText('kogu-audit.ndjson', `${lines.join('\n')}\n`)
}

interface FilterValues {
  readonly kind: string
  readonly outcome: string
  readonly tool: string
  readonly text: string
  readonly span: string
  readonly run: string
  readonly by: string
}

function useFilters() {
  const [kind, setKind] = useUrlState('kind')
  const [outcome, setOutcome] = useUrlState('outcome')
  const [tool, setTool] = useUrlState('tool')
  const [text, setText] = useUrlState('text')
  const [span, setSpan] = useUrlState('span')
  const [run, setRun] = useUrlState('run')
  const [by, setBy] = useUrlState('by')
  const set = {
    ...{ kind: setKind, outcome: setOutcome, tool: setTool, text: setText, span: setSpan },
    ...{ run: setRun, by: setBy },
  }
  const change = (name: keyof FilterValues, value: string): void =>
    set[name](value, { replace: name === 'text' || name === 'tool' })
  const clear = (): void => {
    for (const name of Object.keys(set) as (keyof FilterValues)[]) change(name, '')
  }
  return [{ kind, outcome, tool, text, span, run, by } as FilterValues, change, clear] as const
}

function useFilterPath({ kind, outcome, tool, text, span, run, by }: FilterValues): string {
  const [typed] = useDebouncedValue(text, 250)
  const [named] = useDebouncedValue(tool, 250)
  // A range that ends now would be another query with every render.
  const [now] = useState(() => Date.now())
  return useMemo(() => {
    const type =
      kind === 'everything' ? undefined : KINDS[(kind === '' ? 'calls' : kind) as keyof typeof KINDS]
    const ms = SPANS[span as keyof typeof SPANS]
    const query = new URLSearchParams({
      limit: '50',
      ...(type === undefined ? {} : { type }),
      ...(outcome === '' ? {} : { outcome }),
      ...(named === '' ? {} : { tool: named }),
      ...(typed === '' ? {} : { text: typed }),
      ...(run === '' ? {} : { run }),
      ...(by === '' ? {} : { by }),
      ...(ms === undefined ? {} : { since: new Date(now - ms).toISOString() }),
    })
    return `/api/audit?${query}`
  }, [kind, outcome, named, typed, span, run, by, now])
}

function Filters({
  filters,
  onChange,
}: {
  filters: FilterValues
  onChange: (name: keyof FilterValues, value: string) => void
}) {
  const t = useWords(words)
  const c = useWords(common)
  const pick = (
    name: keyof FilterValues,
    label: string,
    data: readonly { value: string; label: string }[],
    empty: string,
  ) => (
    <Select
      label={label}
      placeholder={empty}
      clearable
      w={{ base: '100%', xs: 150 }}
      data={[...data]}
      value={filters[name] === '' ? null : filters[name]}
      onChange={value => onChange(name, value ?? '')}
    />
  )
  return (
    <Group gap="sm" align="flex-end">
      {pick(
        'kind',
        t('kind'),
        [
          { value: 'answers', label: t('answers') },
          { value: 'notes', label: t('notes') },
          { value: 'everything', label: t('everything') },
        ],
        t('calls'),
      )}
      {pick(
        'span',
        t('since'),
        [
          { value: 'hour', label: t('hour') },
          { value: 'day', label: t('day') },
          { value: 'week', label: t('week') },
        ],
        t('always'),
      )}
      {pick(
        'outcome',
        t('decision'),
        (['allow', 'ask', 'deny'] as const).map(value => ({ value, label: c(value) })),
        t('any'),
      )}
      {pick(
        'by',
        t('decider'),
        (['rule', 'grant', 'user', 'timeout'] as const).map(value => ({ value, label: t(`pick_${value}`) })),
        t('anyone'),
      )}
      <TextInput
        label={t('tool')}
        w={{ base: '100%', xs: 130 }}
        value={filters.tool}
        onChange={event => onChange('tool', event.currentTarget.value)}
      />
      <TextInput
        label={t('text')}
        w={{ base: '100%', xs: 170 }}
        data-filter
        value={filters.text}
        onChange={event => onChange('text', event.currentTarget.value)}
      />
    </Group>
  )
}

function AuditTable({ rows }: { rows: readonly AuditItem[] }) {
  const t = useWords(words)
  const format = useFormat()
  const shorten = useShortPath()
  return (
    <DataTable
      label={t('title')}
      rows={rows}
      rowKey={row => `${row.segment} ${row.seq}`}
      href={row => routes.audit(row.call === undefined ? {} : { call: row.call })}
      columns={[
        {
          key: 'what',
          label: t('what'),
          phone: 'title',
          render: row => <Untrusted text={row.tool ?? row.action ?? row.type} most={60} />,
        },
        {
          key: 'about',
          label: t('about'),
          render: row => (
            <Text size="sm" ff="monospace" lineClamp={2} component="div">
              <Untrusted text={shorten(sayWhat(row))} most={110} />
            </Text>
          ),
        },
        { key: 'outcome', label: t('outcome'), render: row => <Result row={row} /> },
        { key: 'by', label: t('by'), render: row => <Decider row={row} /> },
        {
          key: 'took',
          label: t('took'),
          align: 'right',
          phone: 'hide',
          render: row => (row.runMs === undefined ? '–' : format.duration(row.runMs)),
        },
        {
          key: 'when',
          label: t('when'),
          align: 'right',
          render: row => <time dateTime={row.at}>{format.dateTime(row.at)}</time>,
        },
      ]}
    />
  )
}

function Result({ row }: { row: AuditItem }) {
  const t = useWords(words)
  if (row.type === 'call-finished' && row.decision !== undefined) {
    if (row.decision.outcome === 'deny') return <OutcomeBadge outcome="deny" />
    return <>{row.ok === true ? `✓ ${t('ok')}` : `✕ ${t('failed')}`}</>
  }
  if (row.type === 'approval-answered') return <>{t('answered', { answer: row.answer ?? '' })}</>
  if (row.type === 'approval-requested') return <>{t('asked')}</>
  return <>{row.type === 'note' ? t('note') : t('started')}</>
}

/** Which rule, grant, mode or person it was, and in which file it stands. */
function Decider({ row: { decision, user, caller } }: { row: AuditItem }) {
  const t = useWords(words)
  const place = usePlace()
  if (decision === undefined) return <Untrusted text={user ?? caller ?? '–'} most={70} />
  const { by, ref } = decision
  const isBuiltIn = ref?.source === 'built-in'
  const name =
    by === 'user'
      ? (decision.user ?? '–')
      : by === 'rule' && isBuiltIn
        ? t('builtIn')
        : t(`by_${by}`, { id: ref?.id ?? '' })
  return (
    <div>
      <Untrusted text={name} most={70} />
      {ref !== null && (
        <Text size="xs" c="dimmed" component="div">
          <Untrusted text={isBuiltIn ? ref.id : place(ref)} most={120} />
        </Text>
      )}
    </div>
  )
}

function Chain() {
  const t = useWords(words)
  const format = useFormat()
  const [wanted, want] = useState(false)
  const { data, isFetching } = useGet<{ ok: boolean; events?: number; segments?: number | unknown[] }>(
    'audit',
    '/api/audit/verify',
    { enabled: wanted },
  )
  if (data === undefined) {
    return (
      <Group>
        <Button size="compact-sm" variant="default" loading={isFetching} onClick={() => want(true)}>
          {t('verify')}
        </Button>
      </Group>
    )
  }
  const segments = Array.isArray(data.segments) ? data.segments.length : (data.segments ?? 1)
  return data.ok ? (
    <Alert color="green" py="xs" role="status" icon={<ShieldCheck size={18} aria-hidden />}>
      {t('verified', { events: format.number(data.events ?? 0), segments })}
    </Alert>
  ) : (
    <Alert color="red" role="alert" icon={<TriangleAlert size={18} aria-hidden />}>
      {t('broken')}
    </Alert>
  )
}
