import { Button, Group, Stack, Text } from '@mantine/core'
import { Pin } from 'lucide-react'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { pinOf } from './definition.ts'
import { words } from './pin/words.ts'
import type { WorkProps } from './step-work.tsx'
import type { StepRun } from './types.ts'

/** What a step says in a rehearsal instead of doing its work, taken from a real run. */
export function PinnedOutput({
  step,
  definition,
  set,
  last,
}: Omit<WorkProps, 'references'> & { last: StepRun | undefined }) {
  const t = useWords(words)
  const pin = last === undefined ? undefined : pinOf(definition, step.id, last)
  const { rehearsal } = step
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500}>
        {t('pinned')}
      </Text>
      <Text size="xs" c="dimmed">
        {t('pinnedAbout')}
      </Text>
      {rehearsal !== undefined && (
        <UntrustedBlock
          text={typeof rehearsal === 'string' ? rehearsal : JSON.stringify(rehearsal, null, 2)}
          most={1_000}
          label={t('pinned')}
        />
      )}
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Pin size={14} aria-hidden />}
          disabled={pin === undefined}
          onClick={() => set({ rehearsal: pin })}
        >
          {t('pinLast')}
        </Button>
        {rehearsal !== undefined && (
          <Button size="compact-sm" variant="subtle" onClick={() => set({ rehearsal: undefined })}>
            {t('unpin')}
          </Button>
        )}
        {pin === undefined && (
          <Text size="xs" c="dimmed">
            {t(last?.status === 'done' ? 'cannotPin' : 'nothingToPin')}
          </Text>
        )}
      </Group>
    </Stack>
  )
}
