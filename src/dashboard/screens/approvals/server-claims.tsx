import { Badge, Group, Text } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import { useWords } from '../../i18n/language.tsx'
import { inAddress } from '../../routes.ts'
import { words } from './claims/words.ts'
import { Section } from './section.tsx'

interface Server {
  readonly tool_list: readonly { readonly full_name: string; readonly annotations: unknown }[]
}

/** What an MCP server says about its own tool. Nobody has checked it, and nothing is decided by it. */
export function ServerClaims({ tool }: { tool: string }) {
  const t = useWords(words)
  const [server = '', rest] = tool.split('__')
  const { data } = useGet<Server>('mcp', `/api/mcp/servers/${inAddress(server)}`, {
    enabled: rest !== undefined,
  })
  const found = data?.tool_list.find(({ full_name }) => full_name === tool)
  if (rest === undefined || found === undefined) return null
  const claims = claimsOf(found.annotations)
  return (
    <Section label={t('claims')}>
      {claims.length === 0 ? (
        <Text size="sm">{t('claimsNothing')}</Text>
      ) : (
        <Group gap={6}>
          {claims.map(claim => (
            <Badge key={claim} color="gray" variant="outline">
              {t(claim)}
            </Badge>
          ))}
        </Group>
      )}
    </Section>
  )
}

/** The hints of the protocol; of others nobody knows what they mean. */
const HINTS = [
  { name: 'readOnlyHint', yes: 'claimsReads', no: 'claimsChanges' },
  { name: 'destructiveHint', yes: 'claimsDestroys', no: 'claimsSafe' },
  { name: 'idempotentHint', yes: 'claimsRepeatable', no: undefined },
  { name: 'openWorldHint', yes: 'claimsOpen', no: 'claimsClosed' },
] as const

function claimsOf(annotations: unknown) {
  const given: Readonly<Record<string, unknown>> =
    typeof annotations === 'object' && annotations !== null ? { ...annotations } : {}
  return HINTS.flatMap(({ name, yes, no }) => {
    if (given[name] === true) return [yes]
    return given[name] === false && no !== undefined ? [no] : []
  })
}
