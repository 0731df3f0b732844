import type { ToolSetting } from '../../agents/agent-authority.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './json.ts'

export async function listToolPermissions({ query }: Queries, agent: string): Promise<ToolSetting[]> {
  const rows = await query<{ tool: string; enabled: boolean; config: unknown }>(
    'SELECT tool_name AS tool, is_enabled AS enabled, config FROM agent_tool_permissions WHERE agent_id = $1 ORDER BY 1',
    [agent],
  )
  return rows.map(({ tool, enabled, config }) => ({ tool, enabled, ...(config === null ? {} : { config }) }))
}

/** Adds or changes; a tool that is not named stays as it is. */
export async function saveToolPermissions(
  { query }: Queries,
  agent: string,
  settings: readonly ToolSetting[],
): Promise<void> {
  const rows = settings.map(({ tool, enabled, config }) => ({ tool, enabled, config: config ?? null }))
  await query(
    `INSERT INTO agent_tool_permissions (agent_id, tool_name, is_enabled, config)
     SELECT $1, tool, enabled, nullif(config, 'null'::jsonb)
     FROM jsonb_to_recordset($2) AS t(tool text, enabled boolean, config jsonb)
     ON CONFLICT (agent_id, tool_name) DO UPDATE
       SET is_enabled = EXCLUDED.is_enabled, config = coalesce(EXCLUDED.config, agent_tool_permissions.config)`,
    [agent, toJson(rows)],
  )
}

/** Exactly these: what a panel does not name any longer is off. */
export async function replaceToolPermissions(
  queries: Queries,
  agent: string,
  settings: readonly ToolSetting[],
): Promise<void> {
  await queries.query('DELETE FROM agent_tool_permissions WHERE agent_id = $1', [agent])
  await saveToolPermissions(queries, agent, settings)
}
