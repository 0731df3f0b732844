import { List, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { type Setting, SettingPlace, sayValue } from '../../components/setting.tsx'
import { Untrusted, visibleLine } from '../../components/untrusted.tsx'
import { usePlace, useShortPath } from '../../components/use-short-path.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import type { Effective, Grant, Outcome, Rule, ToolVerdict } from './types.ts'
import { words } from './words.ts'

/** What holds now, from the first word to the last, and from which file. */
export function EffectiveTab() {
  const config = useGet<Effective>('settings', '/api/config')
  const rules = useGet<Rule[]>('rules', '/api/rules')
  return (
    <Stack gap="lg">
      <DataRegion query={rules}>{list => <Order rules={list} />}</DataRegion>
      <DataRegion query={config}>{loaded => <Settings config={loaded} />}</DataRegion>
      <ToolVerdicts />
    </Stack>
  )
}

/** The stages in which a call is judged, each with what is in it. */
function Order({ rules }: { rules: readonly Rule[] }) {
  const t = useWords(words)
  const grants = useGet<Grant[]>('grants', '/api/grants')
  const shorten = useShortPath()
  const place = usePlace()
  const stages: readonly (readonly [string, readonly string[]])[] = [
    [t('stageHard'), [t('stageHardAbout')]],
    ...(['deny', 'ask', 'allow'] as const).map(
      outcome => [t(STAGES[outcome]), linesOf(rules, outcome, place)] as const,
    ),
    [t('stageGrants'), (grants.data ?? []).map(({ covers }) => shorten(covers))],
    [t('stageMode'), [t('stageModeAbout')]],
  ]
  return (
    <section aria-label={t('order')}>
      <Title order={2} mb="xs">
        {t('order')}
      </Title>
      <List type="ordered" size="sm" spacing="xs">
        {stages.map(([title, lines]) => (
          <List.Item key={title}>
            <Text size="sm" fw={600} component="span">
              {title}
            </Text>
            {lines.length === 0 && (
              <Text size="sm" c="dimmed">
                {t('noneHere')}
              </Text>
            )}
            {lines.map(line => (
              <Text size="sm" key={line} component="div">
                <Untrusted text={line} most={400} />
              </Text>
            ))}
          </List.Item>
        ))}
      </List>
    </section>
  )
}

const STAGES = { deny: 'stageDeny', ask: 'stageAsk', allow: 'stageAllow' } as const

function linesOf(rules: readonly Rule[], outcome: Outcome, place: (rule: Rule) => string): string[] {
  return rules
    .filter(({ decision }) => decision === outcome)
    .map(rule => `${rule.id}: ${rule.text} (${place(rule)})`)
}

function Settings({ config }: { config: Effective }) {
  const t = useWords(words)
  const wanted = config.settings.filter(
    ({ key }) => key === 'mode' || /^permissions\.(?!rules?$)/.test(key) || /^sandbox\./.test(key),
  )
  const columns: readonly Column<Setting>[] = [
    {
      key: 'key',
      label: t('setting'),
      phone: 'title',
      render: ({ key }) => <code style={{ whiteSpace: 'nowrap' }}>{visibleLine(key, 80)}</code>,
    },
    {
      key: 'value',
      label: t('value'),
      render: setting => <Untrusted text={sayValue(setting)} most={200} />,
    },
    {
      key: 'from',
      label: t('source'),
      render: ({ origin }) => <SettingPlace origin={origin} />,
    },
  ]
  return (
    <section aria-label={t('settings')}>
      <Title order={2} mb="xs">
        {t('settings')}
      </Title>
      <DataTable label={t('settings')} columns={columns} rows={wanted} rowKey={({ key }) => key} />
    </section>
  )
}

/** By the engine itself, so that the list never differs from what happens. */
export function ToolVerdicts() {
  const t = useWords(words)
  const verdicts = useGet<ToolVerdict[]>('rules', '/api/tools/verdicts')
  const columns: readonly Column<ToolVerdict>[] = [
    {
      key: 'tool',
      label: t('tool'),
      phone: 'title',
      render: ({ tool }) => (
        <span style={{ whiteSpace: 'nowrap' }}>
          <Untrusted text={tool} />
        </span>
      ),
    },
    { key: 'outcome', label: t('decision'), render: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
    {
      key: 'by',
      label: t('by'),
      render: ({ by, rule }) => (
        <Untrusted
          text={
            rule === null
              ? by
              : `${rule.id} (${rule.source}${rule.line === undefined ? '' : `:${rule.line}`})`
          }
        />
      ),
    },
    {
      key: 'sample',
      label: t('typicalCall'),
      phone: 'hide',
      render: ({ sample, tool }) => (
        <Link href={routes.permissions({ tab: 'test', tool, input: JSON.stringify(sample) })}>
          <Untrusted text={JSON.stringify(sample)} most={100} />
        </Link>
      ),
    },
  ]
  return (
    <section aria-label={t('perTool')}>
      <Title order={2} mb="xs">
        {t('perTool')}
      </Title>
      <DataRegion query={verdicts}>
        {rows => <DataTable label={t('perTool')} columns={columns} rows={rows} rowKey={({ tool }) => tool} />}
      </DataRegion>
    </section>
  )
}
