import { usePages } from '../../api/api.ts'
import type { AuditItem } from '../../api/types.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { ANSWER_WORDS } from './approval-card.tsx'
import { words } from './words.ts'

/** What was answered, from the audit log. */
export function Decided() {
  const t = useWords(words)
  const format = useFormat()
  const query = usePages<AuditItem>('audit', '/api/audit?type=approval-answered&limit=50')
  const answerText = (answer = ''): string =>
    answer in ANSWER_WORDS ? t(ANSWER_WORDS[answer as keyof typeof ANSWER_WORDS]) : answer
  return (
    <DataRegion query={query} isEmpty={rows => rows.length === 0} empty={<Empty title={t('noneDecided')} />}>
      {rows => (
        <DataTable
          label={t('decidedTab')}
          rows={rows}
          rowKey={row => `${row.segment}-${row.seq}`}
          href={row => routes.audit(row.call === undefined ? {} : { call: row.call })}
          columns={[
            { key: 'when', label: t('when'), render: row => format.dateTime(row.at) },
            {
              key: 'answer',
              label: t('decision'),
              render: row => answerText(row.answer),
            },
            { key: 'by', label: t('by'), render: row => <Untrusted text={row.user ?? '–'} most={60} /> },
            {
              key: 'call',
              label: 'ID',
              render: row => <Untrusted text={row.call ?? ''} most={40} />,
              phone: 'hide',
            },
          ]}
        />
      )}
    </DataRegion>
  )
}
