import { Badge, Group, List, Text } from '@mantine/core'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words as effectWords, sayEffect } from './effects/words.ts'
import { words as reading } from './reading/words.ts'
import { Section } from './section.tsx'
import { useContext } from './use-context.ts'

/** A command line taken apart as the engine does: each program with its words, its options and what it does. */
export function CommandSteps({ question, isOpen }: { question: string; isOpen: boolean }) {
  const t = useWords(reading)
  const say = useWords(effectWords)
  const { data } = useContext(question, isOpen)
  if (data === undefined || data.commands.length === 0) return null
  return (
    <Section label={t('taken')}>
      <List type="ordered" size="sm" spacing={4}>
        {data.commands.map(({ program, words, options, level, effects }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: commands of one line, which never moves
          <List.Item key={index}>
            <Group gap={6}>
              <Text span size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                <strong>
                  <Untrusted text={program} most={200} />
                </strong>{' '}
                <Untrusted text={words.join(' ')} most={400} />
              </Text>
              {options.length > 0 && (
                <Text span size="xs" c="dimmed">
                  <Untrusted text={t('options', { options: options.join(' ') })} most={400} />
                </Text>
              )}
              {isLevel(level) && (
                <Badge color={level === 'safe' ? 'gray' : 'orange'}>{t(LEVELS[level])}</Badge>
              )}
              <Text span size="xs" c="dimmed">
                <Untrusted text={effects.map(effect => sayEffect(say, effect)).join(', ')} most={300} />
              </Text>
            </Group>
          </List.Item>
        ))}
      </List>
      {data.beside.map(text => (
        <Text key={text} size="sm">
          <Untrusted text={text} most={400} />
        </Text>
      ))}
    </Section>
  )
}

const LEVELS = {
  safe: 'levelSafe',
  caution: 'levelCaution',
  interactive: 'levelInteractive',
  unknown: 'levelUnknown',
  dangerous: 'levelDangerous',
  forbidden: 'levelForbidden',
} as const

function isLevel(name: string): name is keyof typeof LEVELS {
  return Object.hasOwn(LEVELS, name)
}
