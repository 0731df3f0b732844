import { useCallback } from 'react'
import { useSearchParams } from 'wouter'

// Every address of the page. What a person has chosen (tab, filter, selected row) is in the address too, so that Back works and
// a copied link shows the same.

export const routes = {
  home: () => '/',
  panels: () => '/panels',
  panel: (name: string, query: { tab?: string; part?: string } = {}) =>
    withQuery(`/panels/${inAddress(name)}`, query),
  pipelines: () => '/pipelines',
  pipeline: (name: string, query: { view?: string; step?: string } = {}) =>
    withQuery(`/pipelines/${inAddress(name)}`, query),
  runs: (query: { status?: string; agent?: string } = {}) => withQuery('/runs', query),
  run: (id: string, query: { tab?: string; call?: string; show?: string; agent?: string } = {}) =>
    withQuery(`/runs/${inAddress(id)}`, query),
  approvals: () => '/approvals',
  approval: (id: string) => `/approvals/${inAddress(id)}`,
  audit: (query: Readonly<Record<string, string | undefined>> = {}) => withQuery('/audit', query),
  tools: () => '/tools',
  tool: (name: string, tab?: string) => withQuery(`/tools/${inAddress(name)}`, { tab }),
  permissions: (query: { tab?: string; rule?: string; edit?: string; tool?: string; input?: string } = {}) =>
    withQuery('/permissions', query),
  providers: () => '/providers',
  // Not /mcp: that is where MCP clients connect.
  mcp: (server?: string) => (server === undefined ? '/servers' : `/servers/${inAddress(server)}`),
  usage: (query: { range?: string; from?: string; by?: string } = {}) => withQuery('/usage', query),
  settings: (query: { section?: string } = {}) => withQuery('/settings', query),
}

/** Half a character has no place in an address; others may still write one into a name. */
export function inAddress(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** One choice that is kept in the address. An empty text takes it out. `replace` leaves no step for Back, as while typing. */
export function useUrlState(
  name: string,
  initial = '',
): readonly [string, (value: string, how?: { replace?: boolean }) => void] {
  const [params, setParams] = useSearchParams()
  const set = useCallback(
    (value: string, { replace = false } = {}) => {
      setParams(
        before => {
          const next = new URLSearchParams(before)
          if (value === '' || value === initial) next.delete(name)
          else next.set(name, value)
          return next
        },
        { replace },
      )
    },
    [setParams, name, initial],
  )
  return [params.get(name) ?? initial, set]
}

/** The same where only some values make sense: an address that says another one shows what is shown without it. */
export function useUrlChoice<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  initial: Choice,
) {
  const [value, set] = useUrlState(name, initial)
  return [choices.find(each => each === value) ?? initial, set] as const
}
