import { Badge, Button, Group, Stack } from '@mantine/core'
import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react'
import { useGet } from '../../api/api.ts'
import { CopyText } from '../../components/copy-text.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

interface Check {
  readonly id: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly summary: string
  readonly remedy?: string
}

interface Diagnosis {
  readonly overall: Check['status']
  readonly checks: readonly Check[]
}

const LOOKS = {
  ok: { icon: CircleCheck, color: 'green' },
  warn: { icon: TriangleAlert, color: 'yellow' },
  fail: { icon: CircleX, color: 'red' },
} as const

/** What `kogu doctor` finds. */
export function Diagnostics() {
  const t = useWords(words)
  const report = useGet<Diagnosis>('settings', '/api/doctor')
  const columns: readonly Column<Check>[] = [
    {
      key: 'status',
      label: t('status'),
      phone: 'title',
      render: ({ status }) => {
        const { icon: Icon, color } = LOOKS[status]
        return (
          <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
            {t(status)}
          </Badge>
        )
      },
    },
    { key: 'id', label: t('check'), render: ({ id }) => id },
    {
      key: 'finding',
      label: t('finding'),
      render: ({ summary }) => <Untrusted text={summary} most={1_000} />,
    },
    { key: 'remedy', label: t('remedy'), render: ({ remedy }) => remedy ?? '' },
  ]
  return (
    <DataRegion query={report}>
      {({ overall, checks }) => (
        <Stack gap="sm">
          <Group>
            <Button variant="default" loading={report.isFetching} onClick={() => void report.refetch()}>
              {t('runAgain')}
            </Button>
            <CopyText text={JSON.stringify({ overall, checks }, null, 2)} label={t('copyReport')} />
          </Group>
          <DataTable
            label={t('diagnostics')}
            columns={columns}
            rows={checks}
            rowKey={({ id, summary }) => `${id} ${summary}`}
          />
        </Stack>
      )}
    </DataRegion>
  )
}
