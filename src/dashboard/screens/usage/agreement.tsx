import { Text } from '@mantine/core'
import { BarChart } from '../../components/bar-chart.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { ChartCard } from './chart-card.tsx'
import type { Agreement } from './types.ts'
import { words } from './words.ts'

type Reviewer = Agreement['reviewers'][number]

/** How reviewers voted, how often they agreed, and how often people agreed with them. */
export function AgreementChart({ record: { calls, unanimous, reviewers } }: { record: Agreement }) {
  const t = useWords(words)
  const format = useFormat()
  if (calls === 0) return null
  const share = (value: number | null): string => (value === null ? t('unknown') : format.percent(value))
  const columns: readonly Column<Reviewer>[] = [
    { key: 'name', label: t('reviewer'), phone: 'title', render: row => <Untrusted text={row.reviewer} /> },
    { key: 'yes', label: t('approvals'), align: 'right', render: row => format.number(row.approvals) },
    { key: 'stood', label: t('stood'), align: 'right', render: row => share(row.approval_precision) },
    { key: 'no', label: t('rejections'), align: 'right', render: row => format.number(row.rejections) },
    { key: 'right', label: t('right'), align: 'right', render: row => share(row.rejection_precision) },
    {
      key: 'none',
      label: t('noVote'),
      align: 'right',
      phone: 'hide',
      render: row => format.number(row.without_vote),
    },
  ]
  const bars = reviewers.map(row => ({
    label: row.reviewer,
    parts: [
      { key: t('approvals'), value: row.approvals },
      { key: t('rejections'), value: row.rejections },
      { key: t('noVote'), value: row.without_vote },
    ],
  }))
  return (
    <ChartCard
      label={t('agreement')}
      table={
        <DataTable
          label={t('agreement')}
          columns={columns}
          rows={reviewers}
          rowKey={({ reviewer }) => reviewer}
        />
      }
    >
      <BarChart
        label={t('agreement')}
        bars={bars}
        keys={[t('approvals'), t('rejections'), t('noVote')]}
        format={format.number}
      />
      <Text size="sm" c="dimmed" mt="xs">
        {t('unanimous', { count: calls, share: format.percent(unanimous / calls) })}
      </Text>
    </ChartCard>
  )
}
