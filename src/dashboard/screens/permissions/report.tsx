import { Alert, Badge, Button, Group, List, Stack, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { OutcomeBadge } from '../../components/badges.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { words as history } from './history/words.ts'
import { exampleOf } from './rule-draft.ts'
import type { DryRun } from './types.ts'
import { words } from './words.ts'

export interface ReportProps {
  readonly report: DryRun
  /** How many days it is about. */
  readonly days: number
  /** Takes a call over as an example of the rule that is being written. */
  readonly onAddExample?: (example: string, by: string) => void
}

/** What other rules would have decided about recorded calls. */
export function Report({ report, days, onAddExample }: ReportProps) {
  const t = useWords(words)
  const h = useWords(history)
  const { calls, changed, transitions, notComparable } = report
  const regretted = changed.filter(({ deniedByPerson, now }) => deniedByPerson && now === 'allow').length
  const failing = transitions['allow->deny'] ?? 0
  const count = Object.values(transitions).reduce((sum, times) => sum + times, 0)
  return (
    <Stack gap="sm" role="status">
      <Group gap="xs">
        <Text fw={600}>{t('calls', { count: calls })}</Text>
        <Text>{t('changes', { count })}</Text>
      </Group>
      {count > 0 && (
        <List size="sm" spacing={4} listStyleType="none">
          {Object.entries(transitions).map(([transition, times]) => (
            <Transition key={transition} name={transition} times={times} report={report} days={days} />
          ))}
        </List>
      )}
      {failing > 0 && (
        <Text size="sm">
          <TriangleAlert size={14} aria-hidden /> {h('wouldFail', { count: failing })}
        </Text>
      )}
      {regretted > 0 ? (
        <Alert color="red" icon={<TriangleAlert size={18} aria-hidden />}>
          {h('regretted', { count: regretted })}
        </Alert>
      ) : (
        transitions['ask->allow'] !== undefined && <Text size="sm">{h('regretted', { count: 0 })}</Text>
      )}
      {notComparable > 0 && (
        <Text size="sm" c="dimmed">
          {t('notComparable', { count: notComparable })}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('readOnly')}
      </Text>
      {changed.length > 0 && <Changes changed={changed} onAddExample={onAddExample} />}
    </Stack>
  )
}

interface TransitionProps extends Pick<ReportProps, 'report' | 'days'> {
  readonly name: string
  readonly times: number
}

/** How often, with examples, and what that means for a day of the person who answers. */
function Transition({ name, times, report, days }: TransitionProps) {
  const h = useWords(history)
  const format = useFormat()
  const [was, now] = name.split('->')
  const own = report.changed.filter(each => each.was === was && each.now === now)
  const examples = [...new Set(own.map(({ tool, input }) => exampleOf(input) ?? tool))]
  const isWarning = now === 'allow' || name === 'allow->deny'
  const aDay = Math.round(times / days)
  return (
    <List.Item>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Badge
          color={now === 'allow' ? 'orange' : 'gray'}
          style={{ flex: 'none' }}
          {...(isWarning ? { leftSection: <TriangleAlert size={12} aria-hidden /> } : {})}
        >
          {was} → {now} {format.number(times)}
        </Badge>
        <Text size="sm" style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          <Untrusted text={examples.slice(0, MOST_EXAMPLES).join(', ')} most={240} />
          {examples.length > MOST_EXAMPLES && ' …'}
          {aDay > 0 && was === 'ask' && ` – ${h('perDay', { count: aDay })}`}
          {aDay > 0 && now === 'ask' && ` – ${h('asksPerDay', { count: aDay })}`}
        </Text>
      </Group>
    </List.Item>
  )
}

const MOST_EXAMPLES = 4

type ChangesProps = Pick<DryRun, 'changed'> & {
  readonly onAddExample: ReportProps['onAddExample'] | undefined
}

function Changes({ changed, onAddExample }: ChangesProps) {
  const t = useWords(words)
  const h = useWords(history)
  const format = useFormat()
  const columns: readonly Column<DryRun['changed'][number]>[] = [
    {
      key: 'call',
      label: h('call'),
      phone: 'title',
      render: ({ tool, input }) => (
        <Untrusted text={`${tool} ${exampleOf(input) ?? JSON.stringify(input)}`} most={160} />
      ),
    },
    { key: 'at', label: t('at'), phone: 'hide', render: ({ at }) => format.dateTime(at) },
    { key: 'was', label: t('was'), render: ({ was }) => <OutcomeBadge outcome={was} /> },
    { key: 'now', label: t('wouldBe'), render: ({ now }) => <OutcomeBadge outcome={now} /> },
    { key: 'by', label: t('by'), phone: 'hide', render: ({ by }) => <Untrusted text={by} /> },
    {
      key: 'example',
      label: t('actions'),
      render({ input, by }) {
        const example = exampleOf(input)
        if (example === undefined) return null
        return (
          <Button size="compact-xs" variant="default" onClick={() => onAddExample?.(example, by)}>
            {h('addExample')}
          </Button>
        )
      },
    },
  ]
  return (
    <DataTable
      label={t('dryRun')}
      columns={columns.filter(({ key }) => key !== 'example' || onAddExample !== undefined)}
      rows={changed}
      rowKey={({ call }) => call}
      href={({ call }) => routes.audit({ call })}
    />
  )
}
