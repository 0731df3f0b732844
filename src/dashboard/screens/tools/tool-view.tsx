import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { OutcomeBadge, ToolRiskBadge } from '../../components/badges.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { Reasons } from '../../components/reasons.tsx'
import { TryCall } from '../../components/try-call/try-call.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes } from '../../routes.ts'
import type { Verdict } from './types.ts'
import { words } from './words.ts'

export function ToolView({ name }: { name: string }) {
  const t = useWords(words)
  const tool = useGet<Tool>('tools', `/api/tools/${inAddress(name)}`)
  const verdicts = useGet<Verdict[]>('tools', '/api/tools/verdicts')
  return (
    <Page
      title={name}
      intro={
        <Anchor component={Link} href={routes.tools()}>
          {t('back')}
        </Anchor>
      }
    >
      <DataRegion query={tool}>
        {found => (
          <Stack gap="lg">
            <Group gap="xs">
              <ToolRiskBadge risk={found.risk} />
              <Text size="sm">
                <Untrusted text={found.title} /> · <Untrusted text={found.provider} />
              </Text>
              {found.aliases.length > 0 && (
                <Text size="sm" c="dimmed">
                  {t('aliases')}: <Untrusted text={found.aliases.join(', ')} />
                </Text>
              )}
              <Anchor component={Link} href={routes.audit({ tool: found.name })} size="sm">
                {t('recent')}
              </Anchor>
            </Group>
            <VerdictCard verdict={verdicts.data?.find(each => each.tool === found.name)} />
            <section aria-label={t('tryIt')}>
              <Title order={2} mb="xs">
                {t('tryIt')}
              </Title>
              <TryCall key={found.name} tool={found.name} schema={found.definition.input_schema} />
            </section>
            <div>
              <Title order={2} mb="xs">
                {t('description')}
              </Title>
              <UntrustedBlock text={found.definition.description} label={t('description')} />
            </div>
            <div>
              <Title order={2} mb="xs">
                {t('parameters')}
              </Title>
              <UntrustedBlock
                text={JSON.stringify(found.definition.input_schema, null, 2)}
                most={20_000}
                label={t('parameters')}
              />
            </div>
          </Stack>
        )}
      </DataRegion>
    </Page>
  )
}

export function VerdictCard({ verdict }: { verdict: Verdict | undefined }) {
  const t = useWords(words)
  if (verdict === undefined) return null
  const { outcome, by, reasons, rule, sample } = verdict
  const where =
    rule === null ? by : `${rule.id} (${rule.source}${rule.line === undefined ? '' : `:${rule.line}`})`
  return (
    <section className="kogu-card" aria-label={t('verdict')} style={{ padding: 'var(--mantine-spacing-md)' }}>
      <Stack gap="xs">
        <Group gap="xs">
          <Title order={2}>{t('verdict')}</Title>
          <OutcomeBadge outcome={outcome} />
        </Group>
        <Text size="sm">
          {t('typical')}: <Untrusted text={JSON.stringify(sample)} />
        </Text>
        <Text size="sm">
          <Untrusted text={t('decidedBy', { by: where })} />
        </Text>
        <Reasons reasons={reasons} />
      </Stack>
    </section>
  )
}
