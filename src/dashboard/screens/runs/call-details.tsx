import { Anchor, Button, Group, Stack, Text, Title, Tooltip } from '@mantine/core'
import { Link } from 'wouter'
import type { Decision } from '../../../core/decision.ts'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge } from '../../components/badges.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { downloadText } from '../../components/download.ts'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { words as shell } from '../../shell/words.ts'
import { CallAgain } from './call-again.tsx'
import { CallRecord } from './call-record.tsx'
import { words as steerWords } from './steer/words.ts'
import { words } from './words.ts'

export interface CallDetailsProps {
  readonly run: string
  readonly call: string
  readonly tool?: string
  readonly input: unknown
  readonly isDone: boolean
  readonly decision: Decision | undefined
  readonly error: { readonly code: string; readonly message: string } | null
}

interface WholeCall {
  readonly output: { readonly text: string; readonly bytes: number; readonly truncated: boolean }
}

export function CallDetails({ run, call, tool, input, isDone, decision, error }: CallDetailsProps) {
  const t = useWords(words)
  const s = useWords(shell)
  const whole = useGet<WholeCall>(
    'runs',
    `/api/runs/${encodeURIComponent(run)}/calls/${encodeURIComponent(call)}`,
    {
      enabled: isDone,
    },
  )
  const output = whole.data?.output.text ?? error?.message ?? ''
  return (
    <Stack gap="xs" pt="xs">
      {decision !== undefined && (
        <Group gap="xs">
          <OutcomeBadge outcome={decision.outcome} />
          <Text size="sm">
            <Untrusted text={describeDecision(decision)} most={400} />
          </Text>
          <Anchor component={Link} href={routes.audit({ call })} size="sm">
            {s('audit')}
          </Anchor>
        </Group>
      )}
      <Group justify="space-between">
        <Title order={4} fz="sm" c="dimmed">
          {t('input')}
        </Title>
        {tool !== undefined && (
          <Group gap="xs">
            {isDone && <CallAgain tool={tool} input={input} />}
            {isDone && <MakeTest run={run} call={call} />}
            <CopyText text={toCommand(tool, input)} label={t('copyCommand')} />
          </Group>
        )}
      </Group>
      <UntrustedBlock text={JSON.stringify(input, null, 2) ?? ''} lines={20} label={t('input')} />
      {isDone && (
        <>
          <Title order={4} fz="sm" c="dimmed">
            {t('output')}
          </Title>
          {output === '' ? (
            <Text size="sm" c="dimmed">
              {t('noOutput')}
            </Text>
          ) : (
            <UntrustedBlock text={output} lines={20} most={40_000} label={t('output')} />
          )}
          <CallRecord run={run} call={call} whole={whole.data} />
        </>
      )}
    </Stack>
  )
}

function MakeTest({ run, call }: { run: string; call: string }) {
  const t = useWords(steerWords)
  const make = useAction(
    async () => {
      const path = `/api/runs/${encodeURIComponent(run)}/rehearsal?call=${encodeURIComponent(call)}`
      const { text } = await request<{ text: string }>('GET', path)
      downloadText('rehearsal.toml', text)
    },
    { topics: [] },
  )
  return (
    <Tooltip label={t('makeTestHint')}>
      <Button size="compact-sm" variant="default" loading={make.isPending} onClick={() => make.mutate()}>
        {t('makeTest')}
      </Button>
    </Tooltip>
  )
}

/** The same call from a shell. */
function toCommand(tool: string, input: unknown): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
  // A model can ask for a tool by any name.
  return `kogu call ${/^[\w-]+$/.test(tool) ? tool : quote(tool)} ${quote(JSON.stringify(input) ?? '{}')}`
}

export function describeDecision({ by, ref, reason, user }: Decision): string {
  const place =
    ref === null ? '' : ` ${ref.id} (${ref.source}${ref.line === undefined ? '' : `:${ref.line}`})`
  return `${by}${place}${user === undefined ? '' : ` ${user}`}${reason === '' ? '' : ` · ${reason}`}`
}
