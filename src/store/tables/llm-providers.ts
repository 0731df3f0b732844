import type { Queries } from '../database/database.ts'

/** The row of a vendor; made when a configuration names one that is not there yet. */
export async function providerRow({ query }: Queries, name: string): Promise<string> {
  const [row] = await query<{ id: string }>(
    `INSERT INTO llm_providers (name, display_name) VALUES ($1, $1)
     ON CONFLICT (name) DO UPDATE SET name = EXCLUDED.name RETURNING id`,
    [name],
  )
  return row?.id ?? ''
}

export interface ProviderRecord {
  readonly id: string
  readonly name: string
  readonly displayName: string
  readonly baseUrl: string | null
  readonly enabled: boolean
}

/** The rows of these vendors, which get one if they have none. Rows of other workspaces' vendors stay out. */
export async function listProviders({ query }: Queries, names: readonly string[]): Promise<ProviderRecord[]> {
  await query(
    `INSERT INTO llm_providers (name, display_name) SELECT name, name FROM unnest($1::text[]) AS name
     ON CONFLICT (name) DO NOTHING`,
    [names],
  )
  return query<ProviderRecord>(
    `SELECT id, name, display_name AS "displayName", api_base_url AS "baseUrl", is_enabled AS enabled
     FROM llm_providers WHERE name = ANY($1) ORDER BY name`,
    [names],
  )
}
