import { Alert, Anchor, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import type { Budget, Summary } from './types.ts'
import { words } from './words.ts'

export function Budgets({ budget, unknown }: { budget: Summary['budget']; unknown: number }) {
  const t = useWords(words)
  const format = useFormat()
  const { day, month, warn_at, run_usd } = budget
  const isSet = day.limit_usd !== null || month.limit_usd !== null
  const first = `${new Date().toISOString().slice(0, 7)}-01`
  return (
    <section aria-label={t('budgets')}>
      <Title order={2} mb="xs">
        {t('budgets')}
      </Title>
      {isSet ? (
        <Stack gap="sm">
          <Line
            label={t('budgetDay')}
            budget={day}
            warnAt={warn_at}
            spentBy={routes.usage({ range: 'today', by: 'panel' })}
          />
          <Line
            label={t('budgetMonth')}
            budget={month}
            warnAt={warn_at}
            spentBy={routes.usage({ range: 'custom', from: first, by: 'panel' })}
          />
          {unknown > 0 && (
            <Text size="sm" c="dimmed">
              {t('budgetUnknown')}
            </Text>
          )}
        </Stack>
      ) : (
        <Text size="sm" c="dimmed">
          {t('noBudget')}
        </Text>
      )}
      {run_usd !== null && (
        <Text size="sm" mt="xs">
          {t('budgetRun', { limit: format.money(run_usd, '') })}
        </Text>
      )}
    </section>
  )
}

interface LineProps {
  readonly label: string
  readonly budget: Budget
  readonly warnAt: number
  /** Where it is shown what spent it. */
  readonly spentBy: string
}

function Line({ label, budget, warnAt, spentBy }: LineProps) {
  const t = useWords(words)
  const format = useFormat()
  const { limit_usd: limit, spent_usd: spent } = budget
  if (limit === null) return null
  const part = limit === 0 ? 1 : spent / limit
  const isOver = part >= 1
  const isNear = part >= warnAt
  return (
    <div>
      <Group justify="space-between">
        <Text size="sm">{label}</Text>
        <Text size="sm">
          {t('spent', { spent: format.money(spent, ''), limit: format.money(limit, '') })}
        </Text>
      </Group>
      <Progress
        value={Math.min(100, part * 100)}
        color={isOver ? 'red' : isNear ? 'orange' : 'indigo'}
        aria-label={label}
      />
      {isNear && (
        <Alert
          color={isOver ? 'red' : 'orange'}
          icon={<TriangleAlert size={16} aria-hidden />}
          mt="xs"
          py={4}
        >
          {t(isOver ? 'budgetOver' : 'budgetNear')}{' '}
          <Anchor component={Link} href={spentBy} size="sm">
            {t('whatSpentIt')}
          </Anchor>
        </Alert>
      )}
    </div>
  )
}
