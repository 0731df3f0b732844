import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { Lock } from 'lucide-react'
import { Untrusted } from '../../../components/untrusted.tsx'
import { useWords } from '../../../i18n/language.tsx'
import { type Chosen, type LineWord, stateOf, turn } from './chips.ts'
import { words } from './words.ts'

export interface RuleChipsProps {
  readonly line: readonly LineWord[]
  readonly chosen: Chosen
  readonly onChange: (chosen: Chosen) => void
}

/** The command line word by word: which have to stand there, which can be any word, and which cannot be chosen, and why. */
export function RuleChips({ line, chosen, onChange }: RuleChipsProps) {
  const t = useWords(words)
  const canChoose = line.every(({ lock }) => lock === null || lock === 'says-what' || lock === 'option')
  const locks = [...new Set(line.flatMap(({ lock }) => (lock === null ? [] : [lock])))].filter(isLock)
  return (
    <Stack gap={6}>
      <Group gap={6} role="group" aria-label={t('words')}>
        {line.map((word, index) => (
          <Chip
            // biome-ignore lint/suspicious/noArrayIndexKey: words of one line, which never moves
            key={index}
            word={word}
            state={stateOf(chosen, index)}
            onClick={() => onChange(turn(chosen, index))}
          />
        ))}
        {canChoose && (
          <Button
            size="compact-sm"
            radius="xl"
            variant={chosen.more ? 'light' : 'default'}
            aria-pressed={chosen.more}
            onClick={() => onChange({ ...chosen, more: !chosen.more })}
          >
            {chosen.more ? t('more') : t('noMore')}
          </Button>
        )}
      </Group>
      {canChoose && (
        <Text size="xs" c="dimmed">
          {t('howToChoose')}
        </Text>
      )}
      {locks.map(lock => (
        <Text key={lock} size="xs" c="dimmed">
          <Lock size={12} aria-hidden /> {t(LOCKS[lock])}
        </Text>
      ))}
    </Stack>
  )
}

interface ChipProps {
  readonly word: LineWord
  readonly state: 'exact' | 'any' | 'removed'
  readonly onClick: () => void
}

function Chip({ word: { text, lock }, state, onClick }: ChipProps) {
  const t = useWords(words)
  if (lock !== null)
    return (
      <Badge
        color="gray"
        size="lg"
        ff="monospace"
        tt="none"
        maw="100%"
        leftSection={<Lock size={12} aria-label={t('locked')} />}
      >
        <Untrusted text={text} most={60} />
      </Badge>
    )
  return (
    <Button
      size="compact-sm"
      radius="xl"
      ff="monospace"
      maw="100%"
      variant={state === 'removed' ? 'default' : 'light'}
      data-chip={state}
      onClick={onClick}
      rightSection={
        <Text span size="xs" ff="text">
          {t(state)}
        </Text>
      }
    >
      {state === 'any' ? '*' : <Untrusted text={text} most={60} />}
    </Button>
  )
}

const LOCKS = {
  'says-what': 'lockSaysWhat',
  option: 'lockOption',
  interpreter: 'lockInterpreter',
  'package-runner': 'lockPackageRunner',
  fetcher: 'lockFetcher',
  wrapper: 'lockWrapper',
  'whole-line': 'lockWholeLine',
} as const

function isLock(name: string): name is keyof typeof LOCKS {
  return Object.hasOwn(LOCKS, name)
}
