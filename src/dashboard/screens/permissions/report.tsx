import { Alert, Badge, Group, Stack, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { OutcomeBadge } from '../../components/badges.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import type { DryRun } from './types.ts'
import { words } from './words.ts'

/** What other rules would have decided about recorded calls. */
export function Report({ report }: { report: DryRun }) {
  const t = useWords(words)
  const format = useFormat()
  const { calls, changed, transitions, notComparable } = report
  const regretted = changed.filter(({ deniedByPerson, now }) => deniedByPerson && now === 'allow').length
  const count = Object.values(transitions).reduce((sum, times) => sum + times, 0)
  return (
    <Stack gap="sm" role="status">
      <Group gap="xs">
        <Text fw={600}>{t('calls', { count: calls })}</Text>
        <Text>{t('changes', { count })}</Text>
        {Object.entries(transitions).map(([transition, times]) => (
          <Badge
            key={transition}
            color={transition.endsWith('allow') ? 'orange' : 'gray'}
            {...(transition === 'allow->deny' || transition.endsWith('allow')
              ? { leftSection: <TriangleAlert size={12} aria-hidden /> }
              : {})}
          >
            {transition.replace('->', ' → ')} {format.number(times)}
          </Badge>
        ))}
      </Group>
      {regretted > 0 && (
        <Alert color="red" icon={<TriangleAlert size={18} aria-hidden />}>
          {t('regretted', { count: regretted })}
        </Alert>
      )}
      {notComparable > 0 && (
        <Text size="sm" c="dimmed">
          {t('notComparable', { count: notComparable })}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('readOnly')}
      </Text>
      {changed.length > 0 && <Changes changed={changed} />}
    </Stack>
  )
}

function Changes({ changed }: Pick<DryRun, 'changed'>) {
  const t = useWords(words)
  const format = useFormat()
  const columns: readonly Column<DryRun['changed'][number]>[] = [
    { key: 'tool', label: t('tool'), phone: 'title', render: ({ tool }) => <Untrusted text={tool} /> },
    { key: 'at', label: t('at'), phone: 'hide', render: ({ at }) => format.dateTime(at) },
    {
      key: 'input',
      label: t('input'),
      render: ({ input }) => <Untrusted text={JSON.stringify(input)} most={160} />,
    },
    { key: 'was', label: t('was'), render: ({ was }) => <OutcomeBadge outcome={was} /> },
    { key: 'now', label: t('wouldBe'), render: ({ now }) => <OutcomeBadge outcome={now} /> },
    { key: 'by', label: t('by'), phone: 'hide', render: ({ by }) => <Untrusted text={by} /> },
  ]
  return (
    <DataTable
      label={t('dryRun')}
      columns={columns}
      rows={changed}
      rowKey={({ call }) => call}
      href={({ call }) => routes.audit({ call })}
    />
  )
}
