import { Badge, Group, Stack, Text } from '@mantine/core'
import type { Approval } from '../../api/types.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { usePlace, useShortPath } from '../../components/use-short-path.ts'
import { useWords } from '../../i18n/language.tsx'
import { words as effectWords, sayEffect } from './effects/words.ts'
import { Section } from './section.tsx'
import { words } from './words.ts'

/** What it does, what it touches, and which rule wants a person to decide. */
export function Reasons({ question }: { question: Approval }) {
  const t = useWords(words)
  const say = useWords(effectWords)
  const shorten = useShortPath()
  const place = usePlace()
  const { effects, reasons, decision, cwd } = question
  const access = question.access.filter(each => !isTheCommand(each, question))
  const by = decision.ref === null ? decision.by : `${decision.ref.id} (${place(decision.ref)})`
  return (
    <Stack gap="xs">
      {effects.length > 0 && (
        <Section label={t('effects')}>
          <Group gap={6}>
            {effects.map(effect => (
              <Badge key={effect} color="orange">
                <Untrusted text={sayEffect(say, effect)} most={120} />
              </Badge>
            ))}
          </Group>
        </Section>
      )}
      {access.length > 0 && (
        <Section label={t('touches')}>
          <Group gap={6}>
            {access.slice(0, MOST_TOUCHED).map(each => (
              <Badge key={JSON.stringify(each)} color="gray" maw="100%" style={{ textTransform: 'none' }}>
                <Untrusted text={describeAccess(each, cwd)} most={140} />
              </Badge>
            ))}
          </Group>
        </Section>
      )}
      <Section label={t('why')}>
        <Stack gap={2}>
          {reasons.map(reason => (
            <Text key={reason} size="sm">
              <Untrusted text={shorten(reason)} most={600} />
            </Text>
          ))}
          <Text size="sm" c="dimmed">
            <Untrusted text={t('decidedBy', { by })} />
          </Text>
          {decision.also !== undefined && decision.also.length > 0 && (
            <Text size="sm" c="dimmed">
              {t('also')}:{' '}
              <Untrusted
                text={decision.also.map(({ id, outcome, why }) => `${outcome} ${id} (${why})`).join(', ')}
              />
            </Text>
          )}
        </Stack>
      </Section>
    </Stack>
  )
}

const MOST_TOUCHED = 20

function describeAccess(access: Approval['access'][number], cwd: string): string {
  switch (access.kind) {
    case 'execute':
      return `run ${access.command}`
    case 'network':
      return `${access.method ?? 'GET'} ${access.url}`
    case 'custom':
      return access.details
    default:
      return `${access.kind.replace('file_', '')} ${access.path.startsWith(`${cwd}/`) ? access.path.slice(cwd.length + 1) : access.path}`
  }
}

/** Shown whole above already. */
function isTheCommand(access: Approval['access'][number], { input }: Approval): boolean {
  return access.kind === 'execute' && access.command === input.command
}
