import type { ToolSetting } from '../agents/agent-authority.ts'
import type { AgentRecord } from '../agents/agent-record.ts'
import type { AiPanel } from '../agents/panel.ts'
import { readPanel, requirePanelAgent } from '../store/runs/find-agent.ts'
import { listToolPermissions } from '../store/tables/agent-tool-permissions.ts'
import { findAgentById } from '../store/tables/agents.ts'
import { HttpProblem } from './problem.ts'
import type { Services } from './services.ts'

export interface FoundAgent {
  readonly record: AgentRecord & { readonly workflow: string }
  readonly tools: readonly ToolSetting[]
  /** Its mode and limits hold for the agent too. */
  readonly panel?: AiPanel
}

/** An agent by its id, with what it may do. One that comes from a panel is what a person has looked at, or nothing. */
export async function findAgentFor({ database, runs }: Services, id: string): Promise<FoundAgent> {
  const record = await findAgentById(database, runs.place.user, id)
  if (record === undefined) throw new HttpProblem(404, 'not_found', 'There is no such agent.')
  if (record.sourcePath === null) return { record, tools: await listToolPermissions(database, record.id) }
  const found = readPanel(runs.place.workspace, record.name)
  const { tools, panel } = await requirePanelAgent(database, record.workflow, found)
  return { record, tools, panel }
}
