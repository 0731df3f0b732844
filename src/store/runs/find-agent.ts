import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { ToolSetting } from '../../agents/agent-authority.ts'
import type { AgentRecord } from '../../agents/agent-record.ts'
import { type AiPanel, type Panel, parsePanel } from '../../agents/panel.ts'
import { ToolError } from '../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { readText } from '../saved-text.ts'
import { listToolPermissions, replaceToolPermissions } from '../tables/agent-tool-permissions.ts'
import { findAgent, findAgentById, insertAgent, updateAgent } from '../tables/agents.ts'
import { providerRow } from '../tables/llm-providers.ts'
import type { WorkflowPlace } from '../tables/workflows.ts'

/** An agent as a run needs it. */
export interface FoundAgent {
  readonly agent: AgentRecord
  readonly tools: readonly ToolSetting[]
}

export async function requireAgent(database: Database, workflow: string, name: string): Promise<FoundAgent> {
  const agent = await findAgent(database, workflow, name)
  if (agent === undefined) {
    throw new ToolError('not_found', `There is no agent '${name}' in this workspace.`, {
      hint: 'See: kogu agents list',
    })
  }
  return { agent, tools: await listToolPermissions(database, agent.id) }
}

/** An agent as a request names it. One that comes from a panel is what a person has looked at, or nothing. */
export interface AgentById {
  readonly record: AgentRecord & { readonly workflow: string }
  readonly tools: readonly ToolSetting[]
  /** Its mode and limits hold for the agent too. */
  readonly panel?: AiPanel
}

export async function requireAgentById(
  database: Database,
  place: WorkflowPlace,
  id: string,
): Promise<AgentById> {
  const record = await findAgentById(database, place, id)
  if (record === undefined) throw new ToolError('not_found', 'There is no such agent.')
  if (record.sourcePath === null) return { record, tools: await listToolPermissions(database, record.id) }
  const found = readPanel(place.workspace, record.name)
  const { tools, panel } = await requirePanelAgent(database, record.workflow, found)
  return { record, tools, panel }
}

export function listPanels(workspace: string): string[] {
  const folder = join(workspace, '.kogu/panels')
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => /^[\w-]+\.toml$/.test(name))
    .map(name => name.slice(0, -'.toml'.length))
    .sort()
}

export function readPanel(workspace: string, name: string): Panel {
  const path = join(workspace, '.kogu/panels', `${name}.toml`)
  const shown = relative(workspace, path)
  // What is looked at must be what is there: a link could be turned elsewhere between two looks.
  const found = /^[\w-]+$/.test(name) ? readText(path) : undefined
  if (found === undefined) {
    throw new ToolError('not_found', `There is no panel '${name}' (${shown}).`, {
      hint: 'See: kogu agents list',
    })
  }
  return parsePanel(found.text, name, shown)
}

/** The agent of a panel in which a model works, when a person has looked at exactly this text. */
export async function requirePanelAgent(
  database: Database,
  workflow: string,
  panel: Panel,
): Promise<FoundAgent & { readonly panel: AiPanel }> {
  if (panel.kind !== 'ai') {
    throw new ToolError(
      'invalid_input',
      `The panel '${panel.name}' has the kind '${panel.kind}': no model works in it.`,
      { hint: 'Use it as a step of a pipeline.' },
    )
  }
  const agent = await requireTrusted(database, workflow, panel)
  return { agent, tools: panel.tools, panel }
}

/** The row of a panel that a person has looked at as it is; otherwise it says how to do that. */
export async function requireTrusted(
  database: Database,
  workflow: string,
  panel: Panel,
): Promise<AgentRecord> {
  const agent = await findAgent(database, workflow, panel.name)
  if (agent?.sourceHash === panel.hash) return agent
  const why = agent === undefined ? 'was not reviewed yet' : 'has changed since it was reviewed'
  throw new ToolError('needs_approval', `The panel '${panel.name}' ${why}, so it is not run.`, {
    hint: `Panels can come with a repository. Review it, then allow it: kogu agents trust ${panel.name}`,
  })
}

/** Makes or updates the row that mirrors a panel a person has looked at. */
export async function mirrorPanel(database: Database, workflow: string, panel: Panel): Promise<void> {
  const own = panel.kind === 'ai' ? panel : undefined
  const slash = own?.model?.indexOf('/') ?? -1
  const provider = await providerRow(database, slash > 0 ? (own?.model ?? '').slice(0, slash) : 'anthropic')
  const settings = {
    name: panel.name,
    provider,
    description: panel.description,
    system: own?.system ?? null,
    model: slash > 0 ? (own?.model ?? '').slice(slash + 1) : (own?.model ?? null),
    temperature: own?.temperature ?? null,
    maxTokens: own?.maxTokens ?? null,
    sourcePath: `.kogu/panels/${panel.name}.toml`,
    sourceHash: panel.hash,
  }
  await database.transaction(async queries => {
    const known = await findAgent(queries, workflow, panel.name)
    if (known !== undefined && known.sourcePath === null) {
      throw new ToolError('conflict', `An agent '${panel.name}' exists that does not come from a panel.`, {
        hint: `Rename the panel, or delete the agent: kogu agents delete ${panel.name}`,
      })
    }
    const id = known?.id ?? (await insertAgent(queries, workflow, settings))
    if (id === undefined)
      throw new ToolError('conflict', `The agent '${panel.name}' was just created by another Kogu.`)
    if (known !== undefined) await updateAgent(queries, id, settings)
    await replaceToolPermissions(queries, id, own?.tools ?? [])
  })
}
