import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { TryCall } from '../../components/try-call/try-call.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { inAddress } from '../../routes.ts'
import { StatusBadge } from './dynamic-badges.tsx'
import type { DynamicDetail } from './types.ts'
import { words } from './words.ts'

interface Verification {
  readonly passed: number
  readonly total: number
  readonly failures: readonly string[]
}

/** The examples of a tool, and whether it does what they say. */
export function Tests({ tool }: { tool: DynamicDetail }) {
  const t = useWords(words)
  const path = `/api/dynamic-tools/${inAddress(tool.name)}/verify`
  const verify = useAction(() => request<Verification>('POST', path, {}), { topics: ['tools'] })
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <StatusBadge status={tool.status} />
        <Button variant="default" loading={verify.isPending} onClick={() => verify.mutate()}>
          {t('verify')}
        </Button>
        <Text size="sm" c="dimmed">
          {t('testsAbout')}
        </Text>
      </Group>
      {verify.data !== undefined && (
        <Alert color={verify.data.failures.length === 0 ? 'green' : 'red'} role="status">
          {verify.data.total === 0
            ? t('noExamples')
            : t('verified', { passed: verify.data.passed, count: verify.data.total })}
          {verify.data.failures.map(failure => (
            <Text size="sm" key={failure}>
              <Untrusted text={failure} most={600} />
            </Text>
          ))}
        </Alert>
      )}
      {tool.examples.length === 0 ? (
        <Text size="sm">{t('noExamples')}</Text>
      ) : (
        tool.examples.map((example, index) => (
          <UntrustedBlock
            // biome-ignore lint/suspicious/noArrayIndexKey: a fixed list, in order
            key={index}
            text={JSON.stringify(example, null, 2)}
            label={`${t('examples')} ${index + 1}`}
            lines={20}
          />
        ))
      )}
    </Stack>
  )
}

/** A real call with the tool's own parameters, judged and recorded like every other. */
export function TryTool({ tool }: { tool: DynamicDetail }) {
  const properties = Object.fromEntries(
    tool.parameters.map(({ name, type, description }) => [
      name,
      { ...(type === undefined ? {} : { type }), description },
    ]),
  )
  const required = tool.parameters.filter(each => each.required === true).map(({ name }) => name)
  const schema = {
    type: 'object',
    properties: {
      tool_name: { type: 'string', const: tool.name },
      parameters: { type: 'object', properties, required },
    },
    required: ['tool_name', 'parameters'],
  }
  return <TryCall tool="run_dynamic_tool" schema={schema} input={{ tool_name: tool.name, parameters: {} }} />
}
