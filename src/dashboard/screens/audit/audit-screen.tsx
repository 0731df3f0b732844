import { Alert, Button, Drawer, Group, Menu, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, Download, ScrollText, ShieldCheck, TriangleAlert, X } from 'lucide-react'
import { ServerProblem } from '../../../client.ts'
import { request, useGet, usePages } from '../../api/api.ts'
import type { AuditItem } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { DataRegion, Empty, ErrorCard } from '../../components/data-region.tsx'
import { downloadText, toCsv } from '../../components/download.ts'
import { LoadMore } from '../../components/load-more.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { AuditTable, ColumnMenu } from './audit-table.tsx'
import { CallRecordView, NoteRecord } from './call-record.tsx'
import { Filters, type FilterValues, useFilterPath, useFilters } from './filters.tsx'
import { sayWhat } from './say-what.ts'
import { Views } from './views.tsx'
import { words } from './words.ts'

export default function AuditScreen() {
  const t = useWords(words)
  const [filters, change] = useFilters()
  const [call, openCall] = useUrlState('call')
  const [event, openEvent] = useUrlState('event')
  const wanted = useFilterPath(filters)
  const query = usePages<AuditItem>('audit', `/api/audit?limit=50&${wanted}`)
  const chain = useChain()
  return (
    <Page
      title={t('title')}
      intro={t('intro')}
      actions={
        <Group gap="xs">
          <Button
            variant="default"
            loading={chain.isFetching}
            leftSection={<ShieldCheck size={16} aria-hidden />}
            onClick={() => void chain.refetch()}
          >
            {t('verify')}
          </Button>
          <Export wanted={wanted} />
        </Group>
      }
    >
      {chain.data?.ok === false && <BrokenChain found={chain.data} />}
      {chain.isError && <ErrorCard error={chain.error} onRetry={() => void chain.refetch()} />}
      <Filters filters={filters} onChange={change} />
      <Group gap="xs">
        <Views />
        <ColumnMenu />
        <Matching wanted={wanted} verified={chain.isError ? undefined : chain.data} />
      </Group>
      <DataRegion
        query={query}
        isEmpty={rows => rows.length === 0}
        empty={<Nothing filters={filters} onChange={change} />}
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
      <Drawer
        opened={event !== ''}
        onClose={() => openEvent('')}
        title={t('record')}
        size="xl"
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        {event !== '' && <NoteRecord key={event} place={event} />}
      </Drawer>
    </Page>
  )
}

interface MatchingProps {
  readonly wanted: string
  readonly verified: (Verified & { readonly at: number }) | undefined
}

function Matching({ wanted, verified }: MatchingProps) {
  const t = useWords(words)
  const format = useFormat()
  const { data } = useGet<{ count: number }>('audit', `/api/audit/count?${wanted}`)
  return (
    <Group gap="xs" ml="auto">
      <Text size="sm" c="dimmed" role="status">
        {data !== undefined && t('matching', { events: format.number(data.count) })}
      </Text>
      {verified?.ok === true && (
        <Text size="sm" c="dimmed">
          {t('verified', { events: format.number(verified.events), time: format.time(verified.at) })}
        </Text>
      )}
    </Group>
  )
}

/** Says which filter takes everything away: how many there would be without each. */
function Nothing({
  filters,
  onChange,
}: {
  filters: FilterValues
  onChange: (name: keyof FilterValues, value: string) => void
}) {
  const t = useWords(words)
  const set = (Object.keys(filters) as (keyof FilterValues)[]).filter(name => filters[name] !== '')
  const icon = <ScrollText size={36} aria-hidden />
  if (set.length === 0) return <Empty icon={icon} title={t('none')} guide="audit" />
  return (
    <Empty
      icon={icon}
      title={t('noneFiltered')}
      action={
        <Group gap="xs" justify="center">
          {set.map(name => (
            <Without key={name} name={name} filters={filters} onTake={() => onChange(name, '')} />
          ))}
        </Group>
      }
    />
  )
}

interface WithoutProps {
  readonly name: keyof FilterValues
  readonly filters: FilterValues
  readonly onTake: () => void
}

function Without({ name, filters, onTake }: WithoutProps) {
  const t = useWords(words)
  const format = useFormat()
  const wanted = useFilterPath({ ...filters, [name]: '' })
  const { data } = useGet<{ count: number }>('audit', `/api/audit/count?${wanted}`)
  return (
    <Button variant="default" rightSection={<X size={14} aria-hidden />} onClick={onTake}>
      <span>
        {t(FILTER_WORDS[name])}: <Untrusted text={filters[name]} most={40} />
        {data !== undefined && ` · ${t('without', { events: format.number(data.count) })}`}
      </span>
    </Button>
  )
}

const FILTER_WORDS = {
  kind: 'kind',
  span: 'since',
  outcome: 'decision',
  by: 'decider',
  risk: 'risk',
  tool: 'tool',
  text: 'text',
  run: 'run',
  agent: 'agent',
} as const

const FIELDS = ['at', 'type', 'tool', 'run', 'call', 'outcome', 'by', 'rule', 'ok', 'runMs', 'about'] as const

function Export({ wanted }: { wanted: string }) {
  const t = useWords(words)
  const save = useAction(
    async (kind: 'ndjson' | 'csv') => {
      const items = await loadAll(wanted)
      if (kind === 'csv') return downloadText('kogu-audit.csv', toCsv(FIELDS, items.map(toRow)))
      downloadText('kogu-audit.ndjson', items.map(item => `${JSON.stringify(item)}\n`).join(''))
    },
    { topics: [] },
  )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          loading={save.isPending}
          leftSection={<Download size={16} aria-hidden />}
          rightSection={<ChevronDown size={14} aria-hidden />}
        >
          {t('export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => save.mutate('ndjson')}>NDJSON</Menu.Item>
        <Menu.Item onClick={() => save.mutate('csv')}>CSV</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function toRow(item: AuditItem): Record<(typeof FIELDS)[number], unknown> {
  const { at, type, tool, run, call, decision, ok, runMs } = item
  const { outcome, by, ref } = decision ?? {}
  return { at, type, tool, run, call, outcome, by, rule: ref?.id, ok, runMs, about: sayWhat(item) }
}

/** All that matches, in one answer. The server puts on record that it was taken. */
async function loadAll(wanted: string): Promise<AuditItem[]> {
  const answer = await fetch(`/api/audit/export?${wanted}`)
  if (!answer.ok) throw new ServerProblem(await answer.json())
  const lines = (await answer.text()).split('\n').filter(line => line !== '')
  return lines.map(line => JSON.parse(line) as AuditItem) // as the server wrote them
}

interface Verified {
  readonly ok: boolean
  readonly events: number
  readonly segments: number
  readonly problems: readonly {
    readonly segment: string
    readonly line: number
    readonly seq?: number
    readonly message: string
  }[]
}

/** Looked at once when the screen opens: each line of the whole log is hashed. */
function useChain() {
  return useQuery({
    queryKey: ['audit-chain'],
    queryFn: async () => ({
      ...(await request<Verified>('GET', '/api/audit/verify')),
      at: Date.now(),
    }),
    staleTime: CHAIN_MS,
    retry: false,
  })
}

const CHAIN_MS = 10 * 60_000
const MOST_PROBLEMS = 5

function BrokenChain({ found: { problems } }: { found: Verified }) {
  const t = useWords(words)
  const [first] = problems
  return (
    <Alert
      color="red"
      role="alert"
      icon={<TriangleAlert size={18} aria-hidden />}
      title={t('brokenAt', { place: first?.seq === undefined ? (first?.segment ?? '?') : `#${first.seq}` })}
    >
      {t('broken')}
      {problems.slice(0, MOST_PROBLEMS).map(({ segment, line, message }) => (
        <Text key={`${segment} ${line} ${message}`} size="sm">
          <Untrusted text={`${segment}:${line} ${message}`} most={400} />
        </Text>
      ))}
    </Alert>
  )
}
