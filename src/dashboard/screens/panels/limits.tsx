import { NativeSelect, NumberInput, SimpleGrid, Stack, TextInput, Title } from '@mantine/core'
import { useWords } from '../../i18n/language.tsx'
import type { SectionProps } from './prompts.tsx'
import type { PanelLimits } from './types.ts'
import { words } from './words.ts'

export function Limits({ settings, onChange }: SectionProps) {
  const t = useWords(words)
  const limits = settings.limits ?? {}
  const set = <Key extends keyof PanelLimits>(key: Key, value: PanelLimits[Key] | undefined): void => {
    const { [key]: _before, ...others } = limits
    const next = value === undefined ? others : { ...others, [key]: value }
    onChange({ limits: Object.keys(next).length === 0 ? undefined : next })
  }
  return (
    <Stack gap="xs">
      <Title order={2}>{t('limits')}</Title>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput
          label={t('maxTurns')}
          description={t('maxTurnsAbout')}
          min={1}
          allowDecimal={false}
          placeholder={t('notSet')}
          value={limits.max_turns ?? ''}
          onChange={value => set('max_turns', typeof value === 'number' ? value : undefined)}
        />
        <TextInput
          label={t('maxTime')}
          description={t('maxTimeAbout')}
          placeholder={t('notSet')}
          value={limits.max_time ?? ''}
          onChange={event => set('max_time', event.currentTarget.value.trim() || undefined)}
        />
        <NumberInput
          label={t('maxCost')}
          description={t('maxCostAbout')}
          min={0}
          prefix="$"
          placeholder={t('notSet')}
          value={limits.max_cost ?? ''}
          onChange={value => set('max_cost', typeof value === 'number' ? value : undefined)}
        />
        <NativeSelect
          label={t('onLimit')}
          description={t('onLimitAbout')}
          value={limits.on_limit ?? ''}
          onChange={event =>
            set(
              'on_limit',
              ON_LIMIT.find(each => each === event.currentTarget.value),
            )
          }
          data={[
            { value: '', label: t('notSet') },
            { value: 'stop', label: t('onLimitStop') },
            { value: 'ask', label: t('onLimitAsk') },
          ]}
        />
      </SimpleGrid>
    </Stack>
  )
}

const ON_LIMIT = ['stop', 'ask'] as const
