import { Alert, Button, Group, Select, Stack, Text, Textarea } from '@mantine/core'
import { request, useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge, RiskBadge } from '../../components/badges.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { ErrorCard } from '../../components/data-region.tsx'
import { Reasons } from '../../components/reasons.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import type { Explanation } from './types.ts'
import { words } from './words.ts'

export function TestCall() {
  const t = useWords(words)
  const tools = useGet<Tool[]>('tools', '/api/tools')
  const [tool, setTool] = useUrlState('tool', 'run_command')
  const [json, setJson] = useUrlState('input', '{"command":"npm test"}')
  const input = parseInput(json)
  const test = useAction(
    (given: object) => request<Explanation>('POST', '/api/rules/test', { tool, input: given }),
    { topics: [], quiet: true },
  )
  return (
    <Stack gap="md" maw={900}>
      <Select
        label={t('tool')}
        data={(tools.data ?? []).map(({ name }) => name)}
        value={tool}
        onChange={value => setTool(value ?? '')}
        searchable
        allowDeselect={false}
      />
      <Textarea
        label={t('inputJson')}
        value={json}
        onChange={event => setJson(event.currentTarget.value, { replace: true })}
        autosize
        minRows={3}
        spellCheck={false}
        error={input === undefined ? t('invalidJson') : undefined}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      <Group>
        <Button
          disabled={input === undefined}
          loading={test.isPending}
          onClick={() => input !== undefined && test.mutate(input)}
        >
          {t('ask')}
        </Button>
        <CopyText
          text={`kogu permissions test ${tool} '${json.replaceAll("'", String.raw`'\''`)}'`}
          label={t('copyCommand')}
        />
        <Text size="sm" c="dimmed">
          {t('nothingRuns')}
        </Text>
      </Group>
      {test.error !== null && <ErrorCard error={test.error} />}
      {test.data !== undefined && <Verdict explanation={test.data} />}
    </Stack>
  )
}

function Verdict({ explanation }: { explanation: Explanation }) {
  const t = useWords(words)
  const { decision, by, hard, risk, reasons, ref } = explanation
  const where = ref === null ? by : `${ref.id} (${ref.source}${ref.line === undefined ? '' : `:${ref.line}`})`
  return (
    <section className="kogu-card" style={{ padding: 'var(--mantine-spacing-md)' }} role="status">
      <Stack gap="xs">
        <Group gap="xs">
          <OutcomeBadge outcome={decision} />
          <RiskBadge risk={risk} />
          <Text size="sm">
            <Untrusted text={t('decidedBy', { by: where })} />
          </Text>
        </Group>
        {hard && decision === 'deny' && <Alert color="red">{t('hard')}</Alert>}
        <Reasons reasons={reasons} />
      </Stack>
    </section>
  )
}

function parseInput(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
