import type { Message } from '../../agents/messages.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './json.ts'

export async function listMessages({ query }: Queries, execution: string): Promise<Message[]> {
  // Written by insertMessages only.
  return query<Message>(
    "SELECT role, content FROM agent_messages WHERE execution_id = $1 AND role <> 'system' ORDER BY sequence_order",
    [execution],
  )
}

/** The last known one is written again: what a person says may have joined it. */
export async function insertMessages(
  { query }: Queries,
  execution: string,
  messages: readonly Message[],
  known: number,
): Promise<void> {
  const first = Math.max(0, known - 1)
  const fresh = messages
    .slice(first)
    .map(({ role, content }, index) => ({ role, content, order: first + index }))
  if (fresh.length === 0) return
  await query(
    `INSERT INTO agent_messages (execution_id, role, content, sequence_order)
     SELECT $1, role, content, "order" FROM jsonb_to_recordset($2) AS m(role text, content jsonb, "order" int)
     ON CONFLICT (execution_id, sequence_order) DO UPDATE SET content = EXCLUDED.content
       WHERE agent_messages.content <> EXCLUDED.content`,
    [execution, toJson(fresh)],
  )
}
