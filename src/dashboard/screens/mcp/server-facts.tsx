import { Alert, Button, Group, List, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { setTomlKey } from '../../components/config-file/toml-edit.ts'
import { Reasons } from '../../components/reasons.tsx'
import { CutTexts, Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { words as common } from '../../components/words.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { inAddress } from '../../routes.ts'
import { ServerBadge } from './server-badge.tsx'
import type { McpDetail } from './types.ts'
import { words } from './words.ts'

interface Tested {
  readonly ok: boolean
  readonly ms: number
  readonly tools: number
  readonly tokens: number
  readonly problems: readonly string[]
}

export function Facts({ server }: { server: McpDetail }) {
  const t = useWords(words)
  const format = useFormat()
  const path = `/api/mcp/servers/${inAddress(server.name)}`
  const topics = ['mcp', 'tools'] as const
  const trust = useAction(() => request('POST', `${path}/trust`, { config_hash: server.config_hash }), {
    topics,
  })
  const forget = useAction(() => request('POST', `${path}/forget`, {}), { topics })
  const test = useAction(() => request<Tested>('POST', `${path}/test`, {}), { topics })
  const isTrusted = server.trust === 'trusted'
  const isOff = server.trust === 'off'
  const [switching, setSwitching] = useState(false)
  const [unread, setUnread] = useState(0)
  const c = useWords(common)
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
              <Button loading={trust.isPending} disabled={isOff || unread > 0} onClick={() => trust.mutate()}>
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
          <CutTexts value={setUnread}>
            {server.describes.map(line => (
              <List.Item key={line}>
                <Untrusted text={line} most={600} />
              </List.Item>
            ))}
          </CutTexts>
          {server.installed !== null && <List.Item>{t('installed', { what: server.installed })}</List.Item>}
        </List>
        {!isTrusted && <Analysis server={server} />}
        {!isTrusted && <Text size="sm">{unread > 0 ? c('wholeFirst') : t('trustHint')}</Text>}
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
        {isTrusted && test.data === undefined && <Problems server={server} />}
        {server.log.trim() !== '' && (
          <details>
            <summary>{t('log')}</summary>
            <UntrustedBlock text={server.log} lines={60} label={t('log')} />
          </details>
        )}
      </Stack>
    </section>
  )
}

/** What is wrong with it, and what helps. */
function Problems({ server }: { server: McpDetail }) {
  const t = useWords(words)
  const [signingIn, setSigningIn] = useState(false)
  const { state, kind, name, problems } = server
  if (problems.length === 0) return null
  const variable = `${name.toUpperCase().replaceAll('-', '_')}_TOKEN`
  return (
    <Alert color={state === 'ready' ? 'yellow' : 'red'} title={t('problems')}>
      {problems.map(problem => (
        <UntrustedBlock key={problem} text={problem} label={t('problems')} lines={20} />
      ))}
      {state === 'auth' && kind === 'http' && (
        <Stack gap="xs" align="flex-start">
          <Text size="sm">{t('authHint', { variable })}</Text>
          <Button variant="default" onClick={() => setSigningIn(true)}>
            {t('signIn')}
          </Button>
          <ConfigFileDrawer
            layer="user"
            opened={signingIn}
            onClose={() => setSigningIn(false)}
            propose={text => setTomlKey(text, `mcp.${name}.headers.Authorization`, 'env', variable)}
          />
        </Stack>
      )}
      {state === 'failed' && <Text size="sm">{t(kind === 'http' ? 'farHint' : 'failedHint')}</Text>}
    </Alert>
  )
}

/** A program is judged like any command before somebody trusts it. */
function Analysis({ server: { analysis } }: { server: McpDetail }) {
  const t = useWords(words)
  if (analysis === null) return null
  return (
    <section aria-label={t('analysis')}>
      <Group gap="xs">
        <Text size="sm">{t('analysis')}</Text>
        <OutcomeBadge outcome={analysis.outcome} />
      </Group>
      <Reasons reasons={analysis.reasons} />
    </section>
  )
}
