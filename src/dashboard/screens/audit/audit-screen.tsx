import { Alert, Button, Drawer, Group, Menu, Text } from '@mantine/core'
import { ChevronDown, Download, ScrollText, ShieldCheck, TriangleAlert, X } from 'lucide-react'
import { request, useGet, usePages } from '../../api/api.ts'
import type { AuditItem, Page as Pages } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { downloadText, toCsv } from '../../components/download.ts'
import { LoadMore } from '../../components/load-more.tsx'
import { Page } from '../../components/page.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { AuditTable, ColumnMenu } from './audit-table.tsx'
import { CallRecordView } from './call-record.tsx'
import { Filters, type FilterValues, useFilterPath, useFilters } from './filters.tsx'
import { sayWhat } from './say-what.ts'
import { Views } from './views.tsx'
import { words } from './words.ts'

export default function AuditScreen() {
  const t = useWords(words)
  const [filters, change] = useFilters()
  const [call, openCall] = useUrlState('call')
  const wanted = useFilterPath(filters)
  const query = usePages<AuditItem>('audit', `/api/audit?limit=50&${wanted}`)
  const chain = useGet<Verified>('audit', '/api/audit/verify', { enabled: false })
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
      {chain.data !== undefined && <Chain found={chain.data} />}
      <Filters filters={filters} onChange={change} />
      <Group gap="xs">
        <Views />
        <ColumnMenu />
        <Matching wanted={wanted} />
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
    </Page>
  )
}

function Matching({ wanted }: { wanted: string }) {
  const t = useWords(words)
  const format = useFormat()
  const { data } = useGet<{ count: number }>('audit', `/api/audit/count?${wanted}`)
  return (
    <Text size="sm" c="dimmed" ml="auto" role="status">
      {data !== undefined && t('matching', { events: format.number(data.count) })}
    </Text>
  )
}

/** Says which filters there are, because one of them may take everything away. */
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
  if (set.length === 0) return <Empty icon={icon} title={t('none')} />
  return (
    <Empty
      icon={icon}
      title={t('noneFiltered')}
      action={
        <Group gap="xs" justify="center">
          {set.map(name => (
            <Button
              key={name}
              variant="default"
              rightSection={<X size={14} aria-hidden />}
              onClick={() => onChange(name, '')}
            >
              {t(FILTER_WORDS[name])}: <Untrusted text={filters[name]} most={40} />
            </Button>
          ))}
        </Group>
      }
    />
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
} as const

const MOST_PAGES = 200
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

/** All that matches, page by page. */
async function loadAll(wanted: string): Promise<AuditItem[]> {
  const found: AuditItem[] = []
  let cursor = ''
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { items, next } = await request<Pages<AuditItem>>(
      'GET',
      `/api/audit?limit=200&${wanted}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    found.push(...items)
    if (next === null) break
    cursor = next
  }
  return found
}

interface Verified {
  readonly ok: boolean
  readonly events?: number
  readonly segments?: number | readonly unknown[]
}

function Chain({ found }: { found: Verified }) {
  const t = useWords(words)
  const format = useFormat()
  const segments = Array.isArray(found.segments) ? found.segments.length : Number(found.segments ?? 1)
  return found.ok ? (
    <Alert color="green" py="xs" role="status" icon={<ShieldCheck size={18} aria-hidden />}>
      {t('verified', { events: format.number(found.events ?? 0), segments })}
    </Alert>
  ) : (
    <Alert color="red" role="alert" icon={<TriangleAlert size={18} aria-hidden />}>
      {t('broken')}
    </Alert>
  )
}
