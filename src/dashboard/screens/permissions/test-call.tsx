import { Alert, Button, Group, List, Select, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { request, useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { useAction } from '../../api/use-action.ts'
import { OutcomeBadge, ToolRiskBadge } from '../../components/badges.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { ErrorCard } from '../../components/data-region.tsx'
import { Reasons } from '../../components/reasons.tsx'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { toChoices, Untrusted } from '../../components/untrusted.tsx'
import { usePlace } from '../../components/use-short-path.ts'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { words as history } from './history/words.ts'
import type { Explanation } from './types.ts'
import { words } from './words.ts'

export function TestCall() {
  const t = useWords(words)
  const tools = useGet<Tool[]>('tools', '/api/tools')
  const [tool, setTool] = useUrlState('tool', 'run_command')
  const [json, setJson] = useUrlState('input', '{"command":"npm test"}')
  const [isValid, setValid] = useState(true)
  const input = parseInput(json)
  const schema = tools.data?.find(({ name }) => name === tool)?.definition.input_schema
  const test = useAction(
    (given: object) => request<Explanation>('POST', '/api/rules/test', { tool, input: given }),
    { topics: [], quiet: true },
  )
  return (
    <Stack gap="md" maw={900}>
      <Select
        label={t('tool')}
        data={toChoices((tools.data ?? []).map(({ name }) => name))}
        value={tool}
        onChange={value => setTool(value ?? '', { replace: true })}
        searchable
        allowDeselect={false}
      />
      {schema !== undefined && (
        <SchemaForm
          key={tool}
          schema={schema}
          value={input}
          onChange={value => setJson(JSON.stringify(value), { replace: true })}
          onValid={setValid}
          label={t('input')}
        />
      )}
      <Group>
        <Button
          disabled={!isValid || schema === undefined}
          loading={test.isPending}
          onClick={() => test.mutate(input)}
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
  const h = useWords(history)
  const place = usePlace()
  const { decision, by, hard, risk, command, reasons, ref, access, also } = explanation
  const where = ref === null ? by : `${ref.id} (${place(ref)})`
  return (
    <section className="kogu-card" style={{ padding: 'var(--mantine-spacing-md)' }} role="status">
      <Stack gap="xs">
        <Group gap="xs">
          <OutcomeBadge outcome={decision} />
          <ToolRiskBadge risk={risk === 'low' ? 'low' : 'high'} />
          <Text size="sm">
            <Untrusted text={t('decidedBy', { by: where })} />
          </Text>
        </Group>
        {command !== undefined && (
          <Text size="sm">{t('commandScore', { level: command.level, score: String(command.score) })}</Text>
        )}
        {hard && decision === 'deny' && <Alert color="red">{t('hard')}</Alert>}
        <Reasons reasons={reasons} />
        {also.length > 0 && (
          <>
            <Title order={2}>{h('also')}</Title>
            <List size="sm">
              {also.map(({ id, outcome, why }) => (
                <List.Item key={id}>
                  <Untrusted text={`${outcome} ${id}`} most={200} /> –{' '}
                  {h(why === 'less strict' ? 'alsoLessStrict' : 'alsoShadowed')}
                </List.Item>
              ))}
            </List>
          </>
        )}
        {access.length > 0 && (
          <>
            <Title order={2}>{t('touches')}</Title>
            <List size="sm">
              {access.map(each => (
                <List.Item key={JSON.stringify(each)}>
                  <Untrusted text={JSON.stringify(each)} most={600} />
                </List.Item>
              ))}
            </List>
          </>
        )}
      </Stack>
    </section>
  )
}

/** What stands in the address can be anything. */
function parseInput(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}
