import { Accordion, Alert, Anchor, Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { CircleCheck, PowerOff, ShieldAlert, ShieldQuestionMark } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { exactName } from '../../../core/wildcard.ts'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { setToolsOff } from '../../components/config-file/toml-edit.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Page } from '../../components/page.tsx'
import { TryCall } from '../../components/try-call/try-call.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes } from '../../routes.ts'
import { Facts } from './server-facts.tsx'
import type { McpDetail, McpTool, ToolUse, ToolVerdict } from './types.ts'
import { words } from './words.ts'

export function ServerView({ name }: { name: string }) {
  const t = useWords(words)
  const server = useGet<McpDetail>('mcp', `/api/mcp/servers/${inAddress(name)}`)
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

function Tools({ server }: { server: McpDetail }) {
  const t = useWords(words)
  const path = `/api/mcp/servers/${inAddress(server.name)}/approve`
  const approve = useAction((pins: readonly string[]) => request('POST', path, { pins }), {
    topics: ['mcp', 'tools'],
  })
  const [off, setOff] = useState<readonly string[]>()
  const patterns = server.off_patterns
  const verdicts = useGet<ToolVerdict[]>('tools', '/api/tools/verdicts')
  const use = useGet<ToolUse[]>('usage', '/api/usage/tools')
  const held = server.tool_list.filter(({ state }) => state === 'new' || state === 'changed')
  if (server.tool_list.length === 0) return <Text c="dimmed">{t('noTools')}</Text>
  return (
    <section aria-label={t('toolList')}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2}>{t('toolList')}</Title>
          {held.length > 0 && (
            <Button loading={approve.isPending} onClick={() => approve.mutate(held.map(({ pin }) => pin))}>
              {t('approveAll')}
            </Button>
          )}
        </Group>
        {held.length > 0 && (
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
                  {tool.state !== 'off' && (
                    <Text size="xs" c="dimmed">
                      {t('tokens', { count: tool.tokens })}
                    </Text>
                  )}
                </Group>
              </Accordion.Control>
              <Accordion.Panel>
                <ToolDetails
                  tool={tool}
                  verdict={verdicts.data?.find(each => each.tool === tool.full_name)?.outcome}
                  use={use.data?.find(each => each.tool === tool.full_name)}
                  onApprove={() => approve.mutate([tool.pin])}
                  onSwitch={() =>
                    setOff(
                      tool.state === 'off'
                        ? patterns.filter(pattern => pattern !== exactName(tool.name))
                        : [...patterns, exactName(tool.name)],
                    )
                  }
                />
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
        <ConfigFileDrawer
          layer="user"
          opened={off !== undefined}
          onClose={() => setOff(undefined)}
          propose={text => setToolsOff(text, server.name, off ?? [])}
        />
      </Stack>
    </section>
  )
}

interface DetailsProps {
  readonly tool: McpTool
  readonly verdict: ToolVerdict['outcome'] | undefined
  readonly use: ToolUse | undefined
  readonly onApprove: () => void
  /** Turns it off, or on again. */
  readonly onSwitch: () => void
}

function ToolDetails({ tool, verdict, use, onApprove, onSwitch }: DetailsProps) {
  const t = useWords(words)
  const format = useFormat()
  const [trying, setTrying] = useState(false)
  const schema = tool.definition.inputSchema
  const isOff = tool.state === 'off'
  // By its own name and by nothing else: then one line less turns it on.
  const isOffByName =
    isOff && tool.off_by.length > 0 && tool.off_by.every(each => each === exactName(tool.name))
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
      {tool.description !== '' && <UntrustedBlock text={tool.description} label={tool.name} />}
      {isOff && !isOffByName && (
        <Text size="sm">
          <Untrusted
            text={tool.off_by.length === 0 ? t('notOn') : t('offBy', { patterns: tool.off_by.join(', ') })}
          />
        </Text>
      )}
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
      {Object.keys(tool.definition).length > 0 && (
        <UntrustedBlock
          text={JSON.stringify(tool.definition, null, 2)}
          label={`${tool.name}: ${t('schema')}`}
          lines={20}
        />
      )}
      <Group>
        {tool.state === 'approved' && (
          <Button variant="default" aria-expanded={trying} onClick={() => setTrying(!trying)}>
            {t('try')}
          </Button>
        )}
        {(tool.state === 'new' || tool.state === 'changed') && (
          <Button onClick={onApprove}>{t('approve')}</Button>
        )}
        {(!isOff || isOffByName) && (
          <Button variant="default" onClick={onSwitch}>
            {isOff ? t('toolOn') : t('toolOff')}
          </Button>
        )}
      </Group>
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
  if (state === 'off')
    return (
      <Badge color="gray" leftSection={<PowerOff size={13} aria-hidden />}>
        {t('off')}
      </Badge>
    )
  const Icon = state === 'new' ? ShieldQuestionMark : ShieldAlert
  return (
    <Badge color="orange" leftSection={<Icon size={13} aria-hidden />}>
      {t(state === 'new' ? 'new' : 'toolChanged')}
    </Badge>
  )
}
