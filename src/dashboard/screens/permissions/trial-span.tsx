import { Group, SegmentedControl, Text } from '@mantine/core'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

/** How far back recorded calls are decided again. */
export const TRIAL_DAYS = { day1: 1, days7: 7, days30: 30 } as const
export type TrialSpan = keyof typeof TRIAL_DAYS

const SPANS = Object.keys(TRIAL_DAYS) as TrialSpan[] // `as`: Object.keys widens to string

export function isTrialSpan(value: string): value is TrialSpan {
  return Object.hasOwn(TRIAL_DAYS, value)
}

export interface TrialSpanChoiceProps {
  readonly value: TrialSpan
  readonly onChange: (value: TrialSpan) => void
}

export function TrialSpanChoice({ value, onChange }: TrialSpanChoiceProps) {
  const t = useWords(words)
  return (
    <Group gap="xs">
      <Text size="sm">{t('since')}</Text>
      <SegmentedControl
        size="xs"
        aria-label={t('since')}
        value={value}
        onChange={next => isTrialSpan(next) && onChange(next)}
        data={SPANS.map(span => ({ value: span, label: t(span) }))}
      />
    </Group>
  )
}
