import { Anchor, Badge, Group, List, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { Score } from './dynamic-badges.tsx'
import { CATEGORIES, type DynamicDetail } from './types.ts'
import { words } from './words.ts'

interface PartProps {
  readonly tool: DynamicDetail
}

/** What it may want from outside, and what the analysis found in its code. */
export function Safety({ tool }: PartProps) {
  const t = useWords(words)
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
      <Issues
        issues={tool.safety_analysis.issues.map(({ type, severity, what, line }) => ({
          severity,
          line,
          text: `${type}: ${what}`,
        }))}
      />
    </Stack>
  )
}

export function Quality({ tool }: PartProps) {
  const t = useWords(words)
  const { categoryScores, issues } = tool.quality_assessment
  return (
    <Stack gap="md">
      <section aria-label={t('categories')}>
        <Title order={2}>{t('categories')}</Title>
        <List size="sm" listStyleType="none">
          {CATEGORIES.map(category => (
            <List.Item key={category}>
              <Group gap="xs">
                <Score value={categoryScores[category]} /> {t(category)}
              </Group>
            </List.Item>
          ))}
        </List>
      </section>
      <Issues
        issues={issues.map(({ category, severity, rule, line }) => ({
          severity,
          line,
          text: `${category}: ${rule}`,
        }))}
      />
    </Stack>
  )
}

const COLOURS: Readonly<Record<string, string>> = {
  critical: 'red',
  high: 'red',
  medium: 'orange',
  low: 'gray',
}

function Issues({ issues }: { issues: readonly { severity: string; line: number; text: string }[] }) {
  const t = useWords(words)
  if (issues.length === 0) return <Text size="sm">{t('noIssues')}</Text>
  return (
    <List size="sm">
      {issues.map(({ severity, line, text }) => (
        <List.Item key={`${text} ${line}`}>
          <Badge color={COLOURS[severity] ?? 'gray'}>{severity}</Badge> <Untrusted text={text} most={400} />{' '}
          <Anchor component={Link} href={`?tab=code&line=${line}`} size="xs">
            {t('line', { line })}
          </Anchor>
        </List.Item>
      ))}
    </List>
  )
}

export function Use({ tool }: PartProps) {
  const t = useWords(words)
  const format = useFormat()
  type Run = DynamicDetail['runs'][number]
  const columns: readonly Column<Run>[] = [
    { key: 'at', label: t('at'), phone: 'title', render: ({ at }) => format.dateTime(at) },
    {
      key: 'result',
      label: t('result'),
      render: ({ ok, error }) => (ok ? t('ok') : `${t('error')}: ${error ?? ''}`),
    },
    { key: 'took', label: t('took'), align: 'right', render: ({ ms }) => format.duration(ms) },
  ]
  const { successRate, medianMs } = tool.metrics
  return (
    <Stack gap="sm">
      <Text size="sm">
        {t('uses')}: {format.number(tool.uses)} · {t('success')}:{' '}
        {successRate === null ? t('notMeasured') : format.percent(successRate)} · {t('median')}:{' '}
        {medianMs === null ? t('notMeasured') : format.duration(medianMs)}
      </Text>
      {tool.runs.length > 0 && (
        <DataTable
          label={t('runs')}
          columns={columns}
          rows={tool.runs.toReversed()}
          rowKey={({ at }) => at}
        />
      )}
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
