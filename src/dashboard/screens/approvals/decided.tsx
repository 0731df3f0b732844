import { usePages } from '../../api/api.ts'
import type { AuditItem } from '../../api/types.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { LoadMore } from '../../components/load-more.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useShortPath } from '../../components/use-short-path.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { sayWhat } from '../audit/say-what.ts'
import { words } from './words.ts'

/** What people answered, from the audit log. */
export function Decided() {
  const t = useWords(words)
  return <Ended by="user" label={t('decidedTab')} none={t('noneDecided')} when={t('when')} />
}

/** What nobody answered in time: neither a yes nor a person's no. */
export function Expired() {
  const t = useWords(words)
  return <Ended by="timeout" label={t('expiredTab')} none={t('noneExpired')} when={t('whenOver')} />
}

interface EndedProps {
  readonly by: 'user' | 'timeout'
  readonly label: string
  readonly none: string
  readonly when: string
}

function Ended({ by, label, none, when }: EndedProps) {
  const t = useWords(words)
  const format = useFormat()
  const shorten = useShortPath()
  const query = usePages<AuditItem>('audit', `/api/audit?type=call-finished&by=${by}&limit=50`)
  return (
    <>
      <DataRegion
        query={query}
        isEmpty={rows => rows.length === 0}
        empty={<Empty title={none} guide="permissions" />}
      >
        {rows => (
          <DataTable
            label={label}
            rows={rows}
            rowKey={row => `${row.segment}-${row.seq}`}
            href={row => routes.audit(row.call === undefined ? {} : { call: row.call })}
            columns={[
              {
                key: 'call',
                label: t('tool'),
                phone: 'title',
                render: row => <Untrusted text={`${row.tool ?? ''} ${shorten(sayWhat(row))}`} most={110} />,
              },
              {
                key: 'answer',
                label: t('decision'),
                render: ({ decision }) =>
                  by === 'timeout' || decision === undefined ? (
                    t('expired')
                  ) : (
                    <OutcomeBadge outcome={decision.outcome} />
                  ),
              },
              {
                key: 'by',
                label: t('by'),
                render: ({ decision }) => <Untrusted text={decision?.user ?? '–'} most={60} />,
              },
              { key: 'when', label: when, align: 'right', render: row => format.dateTime(row.at) },
            ]}
          />
        )}
      </DataRegion>
      <LoadMore query={query} />
    </>
  )
}
