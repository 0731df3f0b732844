import { Button, Menu, Text } from '@mantine/core'
import { Columns3 } from 'lucide-react'
import { useSearch } from 'wouter'
import type { AuditItem } from '../../api/types.ts'
import { OutcomeBadge, RiskBadge } from '../../components/badges.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { usePlace, useShortPath } from '../../components/use-short-path.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes, useUrlState } from '../../routes.ts'
import { sayWhat } from './say-what.ts'
import { words } from './words.ts'

const OPTIONAL = ['about', 'outcome', 'by', 'risk', 'waited', 'took', 'run', 'when'] as const
const AT_FIRST = 'about,outcome,by,took,when'

function useColumns() {
  const [listed, setListed] = useUrlState('columns', AT_FIRST)
  const shown = listed.split(',')
  const toggle = (key: string): void =>
    setListed(OPTIONAL.filter(each => shown.includes(each) !== (each === key)).join(',') || 'none')
  return { shown, toggle }
}

/** Which columns there are; kept in the address, and so in a saved view. */
export function ColumnMenu() {
  const t = useWords(words)
  const { shown, toggle } = useColumns()
  return (
    <Menu closeOnItemClick={false} position="bottom-start">
      <Menu.Target>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Columns3 size={14} aria-hidden />}
          visibleFrom="xs"
        >
          {t('columns')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {OPTIONAL.map(key => (
          <Menu.CheckboxItem key={key} checked={shown.includes(key)} onChange={() => toggle(key)}>
            {t(key)}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

export function AuditTable({ rows }: { rows: readonly AuditItem[] }) {
  const t = useWords(words)
  const format = useFormat()
  const shorten = useShortPath()
  const { shown } = useColumns()
  const here = useSearch()
  const time = (ms: number | undefined): string => (ms === undefined ? '–' : format.duration(ms))
  const columns: readonly Column<AuditItem>[] = [
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
      key: 'risk',
      label: t('risk'),
      render: ({ risk }) => (risk === 'low' || risk === 'high' ? <RiskBadge risk={risk} /> : '–'),
    },
    { key: 'waited', label: t('waited'), align: 'right', render: row => time(row.waitMs) },
    { key: 'took', label: t('took'), align: 'right', phone: 'hide', render: row => time(row.runMs) },
    { key: 'run', label: t('run'), render: row => <Untrusted text={row.run ?? '–'} most={40} /> },
    {
      key: 'when',
      label: t('when'),
      align: 'right',
      render: row => <time dateTime={row.at}>{format.dateTime(row.at)}</time>,
    },
  ]
  return (
    <DataTable
      label={t('title')}
      rows={rows}
      rowKey={keyOf}
      // The filters stay: who closes the record is back in the same list.
      href={row =>
        routes.audit({
          ...Object.fromEntries(new URLSearchParams(here)),
          ...(row.call === undefined ? { event: keyOf(row) } : { call: row.call }),
        })
      }
      columns={[
        {
          key: 'what',
          label: t('what'),
          phone: 'title',
          render: row => <Untrusted text={row.tool ?? row.action ?? row.type} most={60} />,
        },
        ...columns.filter(({ key }) => shown.includes(key)),
      ]}
    />
  )
}

function keyOf({ segment, seq }: AuditItem): string {
  return `${segment} ${seq}`
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
/** Nobody has decided about a call that only began; who made it is in its record. */
function Decider({ row: { decision, user } }: { row: AuditItem }) {
  const t = useWords(words)
  const place = usePlace()
  if (decision === undefined) return <Untrusted text={user ?? '–'} most={70} />
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
