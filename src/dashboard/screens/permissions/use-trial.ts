import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { request, useGet } from '../../api/api.ts'
import type { ConfigLayer } from '../../components/config-file/config-file-drawer.tsx'
import type { DryRun } from './types.ts'

const DAY_MS = 86_400_000

export interface TrialOptions {
  /** Whose file is changed. */
  readonly layer?: ConfigLayer
  readonly days?: number
}

/** What the last days would have been like with this change of a file. `undefined`: nothing to try yet. */
export function useTrial(
  change: ((text: string) => string) | undefined,
  { layer = 'user', days = 7 }: TrialOptions = {},
) {
  const file = useGet<{ text: string }>('settings', `/api/config/files/${layer}`, {
    enabled: change !== undefined,
  })
  const before = file.data?.text
  const wanted = before === undefined ? undefined : change?.(before)
  const [text] = useDebouncedValue(wanted, 400)
  const trial = useQuery({
    queryKey: ['rules', 'trial', text, layer, days],
    queryFn: () =>
      request<DryRun>('POST', '/api/rules/dry-run', {
        ...{ text, layer },
        since: new Date(Date.now() - days * DAY_MS).toISOString(),
      }),
    enabled: text !== undefined && text === wanted,
    retry: false,
  })
  return text === undefined || text !== wanted ? { data: undefined, error: null } : trial
}
