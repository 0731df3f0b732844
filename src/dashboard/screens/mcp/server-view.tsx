import { Accordion, Alert, Anchor, Badge, Button, Group, List, Stack, Text, Title } from '@mantine/core'
import { CircleCheck, ShieldAlert, ShieldQuestionMark } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { setTomlKey } from '../../components/config-file/toml-edit.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Page } from '../../components/page.tsx'
import { TryCall } from '../../components/try-call/try-call.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { ServerBadge } from './server-badge.tsx'
import type { McpServer, McpTool, ToolUse, ToolVerdict } from './types.ts'
import { words } from './words.ts'

type Server = McpServer & { readonly tool_list: readonly McpTool[] }

export function ServerView({ name }: { name: string }) {
  const t = useWords(words)
  const server = useGet<Server>('mcp', `/api/mcp/servers/${encodeURIComponent(name)}`)
  return (
    <Page
      title={name}
      intro={
        <Anchor component={Link} href={routes.mcp()}>
          {t('back')}
        </Anchor>
      }
    >
      <DataRegion query={server}>
        {found => (
          <Stack gap="lg">
            <Facts server={found} />
            <Tools server={found} />
          </Stack>
        )}
      </DataRegion>
    </Page>
  )
}

interface Tested {
  readonly ok: boolean
  readonly ms: number
  readonly tools: number
  readonly tokens: number
  readonly problems: readonly string[]
}

function Facts({ server }: { server: Server }) {
  const t = useWords(words)
  const format = useFormat()
  const path = `/api/mcp/servers/${encodeURIComponent(server.name)}`
  const topics = ['mcp', 'tools'] as const
  const trust = useAction(() => request('POST', `${path}/trust`, { config_hash: server.config_hash }), {
    topics,
  })
  const forget = useAction(() => request('POST', `${path}/forget`, {}), { topics })
  const test = useAction(() => request<Tested>('POST', `${path}/test`, {}), { topics })
  const isTrusted = server.trust === 'trusted'
  const isOff = server.trust === 'off'
  const [switching, setSwitching] = useState(false)
  return (
    <section
      className="kogu-card"
      aria-label={t('describes')}
      style={{ padding: 'var(--mantine-spacing-md)' }}
    >
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={2}>{t('describes')}</Title>
            <ServerBadge server={server} />
          </Group>
          <Group gap="xs">
            {isTrusted && (
              <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
                {t('test')}
              </Button>
            )}
            {isTrusted ? (
              <Button variant="default" loading={forget.isPending} onClick={() => forget.mutate()}>
                {t('forget')}
              </Button>
            ) : (
              <Button loading={trust.isPending} disabled={isOff} onClick={() => trust.mutate()}>
                {t('trust')}
              </Button>
            )}
            <Button variant="default" onClick={() => setSwitching(true)}>
              {isOff ? t('turnOn') : t('turnOff')}
            </Button>
            <ConfigFileDrawer
              layer="user"
              opened={switching}
              onClose={() => setSwitching(false)}
              propose={text => setTomlKey(text, `mcp.${server.name}`, 'enabled', isOff)}
            />
          </Group>
        </Group>
        <List size="sm">
          {server.describes.map(line => (
            <List.Item key={line}>
              <Untrusted text={line} most={600} />
            </List.Item>
          ))}
          {server.installed !== null && <List.Item>{t('installed', { what: server.installed })}</List.Item>}
        </List>
        {!isTrusted && <Text size="sm">{t('trustHint')}</Text>}
        {test.data !== undefined && (
          <Alert color={test.data.ok ? 'green' : 'red'} role="status">
            {test.data.ok
              ? t('testOk', {
                  time: format.duration(test.data.ms),
                  tools: test.data.tools,
                  tokens: test.data.tokens,
                })
              : t('testFailed')}
            {test.data.problems.map(problem => (
              <Text size="sm" key={problem}>
                <Untrusted text={problem} most={600} />
              </Text>
            ))}
          </Alert>
        )}
        {isTrusted && server.problems.length > 0 && test.data === undefined && (
          <Alert color="yellow" title={t('problems')}>
            {server.problems.map(problem => (
              <Text size="sm" key={problem}>
                <Untrusted text={problem} most={600} />
              </Text>
            ))}
          </Alert>
        )}
      </Stack>
    </section>
  )
}

function Tools({ server }: { server: Server }) {
  const t = useWords(words)
  const path = `/api/mcp/servers/${encodeURIComponent(server.name)}/approve`
  const approve = useAction((tools: readonly string[] | undefined) => request('POST', path, { tools }), {
    topics: ['mcp', 'tools'],
  })
  const verdicts = useGet<ToolVerdict[]>('tools', '/api/tools/verdicts')
  const use = useGet<ToolUse[]>('usage', '/api/usage/tools')
  if (server.tool_list.length === 0) return <Text c="dimmed">{t('noTools')}</Text>
  return (
    <section aria-label={t('toolList')}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2}>{t('toolList')}</Title>
          {server.held > 0 && (
            <Button loading={approve.isPending} onClick={() => approve.mutate(undefined)}>
              {t('approveAll')}
            </Button>
          )}
        </Group>
        {server.held > 0 && (
          <Alert color="orange" icon={<ShieldAlert size={18} aria-hidden />}>
            {t('heldHint')}
          </Alert>
        )}
        <Accordion variant="separated" multiple>
          {server.tool_list.map(tool => (
            <Accordion.Item key={tool.name} value={tool.name}>
              <Accordion.Control>
                <Group gap="xs">
                  <Text fw={600} ff="monospace" size="sm">
                    <Untrusted text={tool.name} />
                  </Text>
                  <ToolState state={tool.state} />
                  <Text size="xs" c="dimmed">
                    {t('tokens', { count: tool.tokens })}
                  </Text>
                </Group>
              </Accordion.Control>
              <Accordion.Panel>
                <ToolDetails
                  tool={tool}
                  verdict={verdicts.data?.find(each => each.tool === tool.full_name)?.outcome}
                  use={use.data?.find(each => each.tool === tool.full_name)}
                  onApprove={() => approve.mutate([tool.name])}
                />
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      </Stack>
    </section>
  )
}

interface DetailsProps {
  readonly tool: McpTool
  readonly verdict: ToolVerdict['outcome'] | undefined
  readonly use: ToolUse | undefined
  readonly onApprove: () => void
}

function ToolDetails({ tool, verdict, use, onApprove }: DetailsProps) {
  const t = useWords(words)
  const format = useFormat()
  const [trying, setTrying] = useState(false)
  const schema = tool.definition.inputSchema
  return (
    <Stack gap="sm">
      <Group gap="xs">
        {verdict !== undefined && (
          <>
            <Text size="sm">{t('verdict')}</Text>
            <OutcomeBadge outcome={verdict} />
          </>
        )}
        {use !== undefined && (
          <Text size="sm" c="dimmed">
            {t('latency', {
              calls: use.calls,
              p50: format.duration(use.p50Ms),
              p95: format.duration(use.p95Ms),
            })}
          </Text>
        )}
      </Group>
      <UntrustedBlock text={tool.description} label={tool.name} />
      {tool.diff !== null && (
        <section aria-label={`${tool.name}: ${t('difference')}`}>
          <Text fw={600} size="sm">
            {t('difference')}
          </Text>
          <DiffView diff={tool.diff} />
        </section>
      )}
      {tool.annotations != null && (
        <Text size="sm">
          {t('claims')}: <Untrusted text={JSON.stringify(tool.annotations)} most={600} />
        </Text>
      )}
      <UntrustedBlock
        text={JSON.stringify(tool.definition, null, 2)}
        label={`${tool.name}: ${t('schema')}`}
        lines={20}
      />
      {tool.state === 'approved' ? (
        <Group>
          <Button variant="default" aria-expanded={trying} onClick={() => setTrying(!trying)}>
            {t('try')}
          </Button>
        </Group>
      ) : (
        <Group>
          <Button onClick={onApprove}>{t('approve')}</Button>
        </Group>
      )}
      {trying && (
        <TryCall
          tool={tool.full_name}
          schema={typeof schema === 'object' && schema !== null ? { ...schema } : {}}
        />
      )}
    </Stack>
  )
}

function ToolState({ state }: { state: McpTool['state'] }) {
  const t = useWords(words)
  if (state === 'approved')
    return (
      <Badge color="green" leftSection={<CircleCheck size={13} aria-hidden />}>
        {t('approved')}
      </Badge>
    )
  const Icon = state === 'new' ? ShieldQuestionMark : ShieldAlert
  return (
    <Badge color="orange" leftSection={<Icon size={13} aria-hidden />}>
      {t(state === 'new' ? 'new' : 'toolChanged')}
    </Badge>
  )
}
