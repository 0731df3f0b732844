import { Anchor, Badge, Group, List, Stack, Text, Title } from '@mantine/core'
import { CircleCheck, ShieldCheck, TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import { DiffView } from '../../components/diff-view.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { Score } from './dynamic-badges.tsx'
import { VerdictCard } from './tool-view.tsx'
import type { DynamicDetail, Finding, Verdict } from './types.ts'
import { words } from './words.ts'

interface PartProps {
  readonly tool: DynamicDetail
}

/** Every check that was made: what it did not find, what was declared, and what it found, with the line. */
export function Safety({ tool }: PartProps) {
  const t = useWords(words)
  return (
    <List size="sm" listStyleType="none" spacing={6} aria-label={t('safety')}>
      {tool.evidence.safety.map(({ kind, text, state, findings }) => {
        const { icon: Icon, color } = CHECKS[state]
        return (
          <List.Item key={kind} icon={<Icon size={16} color={color} aria-hidden />}>
            {text}: {t(state)}
            <Findings findings={findings} />
          </List.Item>
        )
      })}
    </List>
  )
}

const CHECKS = {
  clear: { icon: CircleCheck, color: 'var(--mantine-color-green-7)' },
  declared: { icon: ShieldCheck, color: 'var(--mantine-color-yellow-7)' },
  found: { icon: TriangleAlert, color: 'var(--mantine-color-red-7)' },
} as const

export function Quality({ tool }: PartProps) {
  const t = useWords(words)
  return (
    <section aria-label={t('categories')}>
      <Title order={2}>{t('categories')}</Title>
      <List size="sm" listStyleType="none" spacing={6}>
        {tool.evidence.quality.map(({ category, score, findings }) => (
          <List.Item key={category}>
            <Group gap="xs">
              <Score value={score} /> {t(category)}
            </Group>
            <Findings findings={findings} />
          </List.Item>
        ))}
      </List>
    </section>
  )
}

const COLOURS = { critical: 'red', high: 'red', medium: 'orange', low: 'gray', good: 'green' } as const

function Findings({ findings }: { findings: readonly Finding[] }) {
  const t = useWords(words)
  if (findings.length === 0) return null
  return (
    <List size="sm" withPadding>
      {findings.map(({ severity, line, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a fixed list, in order
        <List.Item key={index}>
          <Badge color={COLOURS[severity]}>{t(severity)}</Badge> <Untrusted text={text} most={400} />{' '}
          <Anchor component={Link} href={`?tab=code&line=${line}`} size="xs">
            {t('line', { line })}
          </Anchor>
        </List.Item>
      ))}
    </List>
  )
}

/** What it may want from outside, and what the rules say about a call of it. */
export function Permissions({ tool }: PartProps) {
  const t = useWords(words)
  const verdicts = useGet<Verdict[]>('tools', '/api/tools/verdicts')
  const { network, read, tools } = tool.capabilities
  const allowed = [
    { label: t('network'), names: network },
    { label: t('reads'), names: read },
    { label: t('calls'), names: tools },
  ]
  return (
    <Stack gap="md">
      <section aria-label={t('may')}>
        <Title order={2}>{t('may')}</Title>
        <List size="sm">
          {allowed.map(({ label, names }) => (
            <List.Item key={label}>
              {label}: {names.length === 0 ? t('nothing') : <Untrusted text={names.join(', ')} most={600} />}
            </List.Item>
          ))}
        </List>
      </section>
      <VerdictCard verdict={verdicts.data?.find(each => each.tool === tool.name)} />
    </Stack>
  )
}

export function Versions({ tool }: PartProps) {
  const t = useWords(words)
  const format = useFormat()
  if (tool.versions.length === 0) return <Text size="sm">{t('firstVersion')}</Text>
  return (
    <Stack gap="md">
      {tool.versions.map(({ version, updatedAt, safetyScore, qualityScore, diff }) => (
        <section key={version} aria-label={`${t('version')} ${version}`}>
          <Group gap="xs" mb="xs">
            <Title order={2}>
              {version} → {version + 1}
            </Title>
            <Text size="sm" c="dimmed">
              {format.dateTime(updatedAt)}
            </Text>
            <Text size="sm">{t('safety')}</Text>
            <Score value={safetyScore} />
            <Text size="sm">{t('quality')}</Text>
            <Score value={qualityScore} />
          </Group>
          <DiffView diff={diff} />
        </section>
      ))}
    </Stack>
  )
}
