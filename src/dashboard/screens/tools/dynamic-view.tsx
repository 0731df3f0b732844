import { Alert, Anchor, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { ShieldAlert } from 'lucide-react'
import { Link } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { EscapeWarning, Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useLanguage, useWords } from '../../i18n/language.tsx'
import { inAddress, routes, useUrlChoice } from '../../routes.ts'
import { Author, Score, StatusBadge, sayTests } from './dynamic-badges.tsx'
import { Code } from './dynamic-code.tsx'
import { Permissions, Quality, Safety, Versions } from './dynamic-parts.tsx'
import { Tests, TryTool } from './dynamic-tests.tsx'
import { Use } from './dynamic-use.tsx'
import type { DynamicDetail } from './types.ts'
import { words } from './words.ts'

/** A tool that a model wrote: what it is, what was found in it, and what a person does with it. */
export function DynamicView({ name }: { name: string }) {
  const t = useWords(words)
  const { language } = useLanguage()
  const tool = useGet<DynamicDetail>('tools', `/api/dynamic-tools/${inAddress(name)}?language=${language}`)
  return (
    <Page
      title={name}
      intro={
        <Anchor component={Link} href={`${routes.tools()}?tab=dynamic`}>
          {t('back')}
        </Anchor>
      }
    >
      <DataRegion query={tool}>{found => <Details tool={found} />}</DataRegion>
    </Page>
  )
}

function Details({ tool }: { tool: DynamicDetail }) {
  const t = useWords(words)
  const [tab, setTab] = useUrlChoice('tab', TABS, 'code')
  return (
    <Stack gap="md">
      <Group gap="xs">
        <StatusBadge status={tool.status} />
        <Text size="sm">
          {t('version')} {tool.version} · {t(tool.scope)}
        </Text>
        <Text size="sm">{t('safety')}</Text>
        <Score value={tool.safety} />
        <Text size="sm">{t('quality')}</Text>
        <Score value={tool.quality} />
        <Text size="sm">{t('confidence')}</Text>
        <Score value={tool.uses === 0 ? null : tool.confidence} />
      </Group>
      {tool.quarantined !== null && (
        <Alert color="red" icon={<ShieldAlert size={18} aria-hidden />} title={t('quarantined')}>
          <Untrusted text={tool.quarantined} most={600} />
        </Alert>
      )}
      <EscapeWarning texts={[tool.code, tool.description]} />
      <Text>
        <Untrusted text={tool.description} most={2_000} />
      </Text>
      <Verified tool={tool} />
      <Actions tool={tool} />
      <Tabs value={tab} onChange={value => setTab(value ?? 'code')} keepMounted={false}>
        <Tabs.List aria-label={tool.name}>
          {TABS.map(value => (
            <Tabs.Tab key={value} value={value}>
              {value === 'tests' ? `${t('tests')} ${sayTests(tool) ?? ''}` : t(value)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="code" pt="md">
          <Code tool={tool} />
        </Tabs.Panel>
        <Tabs.Panel value="safety" pt="md">
          <Safety tool={tool} />
        </Tabs.Panel>
        <Tabs.Panel value="quality" pt="md">
          <Quality tool={tool} />
        </Tabs.Panel>
        <Tabs.Panel value="tests" pt="md">
          <Tests tool={tool} />
        </Tabs.Panel>
        <Tabs.Panel value="tryTab" pt="md">
          <TryTool tool={tool} />
        </Tabs.Panel>
        <Tabs.Panel value="usage" pt="md">
          <Use tool={tool} />
        </Tabs.Panel>
        <Tabs.Panel value="versions" pt="md">
          <Versions tool={tool} />
        </Tabs.Panel>
        <Tabs.Panel value="permissions" pt="md">
          <Permissions tool={tool} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

const TABS = [
  ...(['code', 'safety', 'quality', 'tests'] as const),
  ...(['tryTab', 'usage', 'versions', 'permissions'] as const),
] as const

/** What was done before it may run, and whether what runs is what was looked at. */
function Verified({ tool }: { tool: DynamicDetail }) {
  const t = useWords(words)
  const format = useFormat()
  const { verified, hash, is_running, version } = tool
  return (
    <Text size="sm">
      {t('checkedCode', { version, date: format.dateTime(tool.updated_at) })} ·{' '}
      {verified === null
        ? t('noExamples')
        : t('ranExamples', {
            passed: verified.passed,
            count: verified.total,
            date: format.dateTime(verified.at),
          })}{' '}
      ·{' '}
      <Text span ff="monospace" size="sm" title={hash}>
        {hash.slice(0, 8)}…
      </Text>{' '}
      {is_running ? t('isRunning') : t('notRunning')} · {t('author')} <Author tool={tool} />
    </Text>
  )
}

function Actions({ tool }: { tool: DynamicDetail }) {
  const t = useWords(words)
  const path = `/api/dynamic-tools/${inAddress(tool.name)}`
  const act = useAction(
    (verb: string) => request('POST', `${path}/${verb}`, verb === 'quarantine' ? {} : { hash: tool.hash }),
    { topics: ['tools'] },
  )
  const verbs = [
    tool.quarantined === null ? 'quarantine' : 'release',
    ...(tool.status === 'deprecated' ? [] : ['retire']),
    ...(tool.scope === 'user' ? [] : ['promote']),
  ] as const
  return (
    <Group gap="xs">
      {verbs.map(verb => (
        <Button key={verb} variant="default" loading={act.isPending} onClick={() => act.mutate(verb)}>
          {t(verb as 'quarantine' | 'release' | 'retire' | 'promote')}
        </Button>
      ))}
      <Button variant="default" component="a" href={`${path}/export`} download={`${tool.name}.json`}>
        {t('export')}
      </Button>
    </Group>
  )
}
