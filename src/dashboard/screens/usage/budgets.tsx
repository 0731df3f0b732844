import { Alert, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import type { Budget, Summary } from './types.ts'
import { words } from './words.ts'

export function Budgets({ budget }: { budget: Summary['budget'] }) {
  const t = useWords(words)
  const { day, month, warn_at } = budget
  const isSet = day.limit_usd !== null || month.limit_usd !== null
  return (
    <section aria-label={t('budgets')}>
      <Title order={2} mb="xs">
        {t('budgets')}
      </Title>
      {isSet ? (
        <Stack gap="sm">
          <Line label={t('budgetDay')} budget={day} warnAt={warn_at} />
          <Line label={t('budgetMonth')} budget={month} warnAt={warn_at} />
        </Stack>
      ) : (
        <Text size="sm" c="dimmed">
          {t('noBudget')}
        </Text>
      )}
    </section>
  )
}

function Line({ label, budget, warnAt }: { label: string; budget: Budget; warnAt: number }) {
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
          {t(isOver ? 'budgetOver' : 'budgetNear')}
        </Alert>
      )}
    </div>
  )
}
