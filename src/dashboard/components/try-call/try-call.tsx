import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import type { ToolResult } from '../../../client.ts'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { OutcomeBadge } from '../badges.tsx'
import { ErrorCard } from '../data-region.tsx'
import { Reasons } from '../reasons.tsx'
import { SchemaForm } from '../schema-form/schema-form.tsx'
import { UntrustedBlock } from '../untrusted.tsx'
import { words } from './words.ts'

interface Explanation {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly reasons: readonly string[]
}

export interface TryCallProps {
  readonly tool: string
  readonly schema: Readonly<Record<string, unknown>>
  /** To begin with. */
  readonly input?: Readonly<Record<string, unknown>>
  /** Of a panel: the call is judged under them, and not made, as it would be made without them. */
  readonly settings?: Readonly<Record<string, unknown>>
}

/** A real call of a tool by hand: judged, asked about and recorded like every other. */
export function TryCall({ tool, schema, input: initial = NOTHING, settings }: TryCallProps) {
  const t = useWords(words)
  const [input, setInput] = useState(initial)
  const [isValid, setValid] = useState(true)
  const explain = useAction(
    () => request<Explanation>('POST', '/api/rules/test', { tool, input, settings }),
    {
      topics: [],
      quiet: true,
    },
  )
  const call = useAction(() => request<ToolResult>('POST', '/api/calls', { tool, input }), {
    topics: ['approvals', 'audit', 'changes', 'tools', 'mcp'],
    quiet: true,
  })
  return (
    <Stack gap="sm">
      <SchemaForm
        schema={schema}
        value={input}
        onChange={setInput}
        onValid={setValid}
        label={`${tool}: ${t('input')}`}
      />
      <Group gap="xs">
        <Button
          variant="default"
          disabled={!isValid}
          loading={explain.isPending}
          onClick={() => explain.mutate()}
        >
          {t('ask')}
        </Button>
        {settings === undefined && (
          <>
            <Button disabled={!isValid} loading={call.isPending} onClick={() => call.mutate()}>
              {t('call')}
            </Button>
            <Text size="sm" c="dimmed">
              {t('about')}
            </Text>
          </>
        )}
      </Group>
      {explain.error !== null && <ErrorCard error={explain.error} />}
      {explain.data !== undefined && (
        <div role="status">
          <OutcomeBadge outcome={explain.data.decision} />
          <Reasons reasons={explain.data.reasons} />
        </div>
      )}
      {call.error !== null && <ErrorCard error={call.error} />}
      {call.data !== undefined && <Result result={call.data} />}
    </Stack>
  )
}

const NOTHING = {}

function Result({ result }: { result: ToolResult }) {
  const t = useWords(words)
  const format = useFormat()
  if (result.question !== null)
    return (
      <Alert color="yellow" role="status">
        {t('waits')}{' '}
        <Anchor component={Link} href={routes.approval(result.question)}>
          {t('review')}
        </Anchor>
      </Alert>
    )
  return (
    <Stack gap="xs" role="status">
      <Group gap="xs">
        <Text size="sm">{t('took', { time: format.duration(result.durationMs) })}</Text>
        <Anchor component={Link} href={routes.audit({ call: result.call })} size="sm">
          {t('record')}
        </Anchor>
      </Group>
      <UntrustedBlock text={result.text} label={t('result')} />
      {result.data != null && (
        <UntrustedBlock text={JSON.stringify(result.data, null, 2)} label={t('data')} lines={40} />
      )}
    </Stack>
  )
}
