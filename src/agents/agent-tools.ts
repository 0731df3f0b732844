import type { Authority } from '../core/authority.ts'
import type { Entry, Registry } from '../core/registry.ts'
import { READ_RESULT_DEFINITION } from './compaction.ts'
import type { ToolDefinition } from './model.ts'
import { SUB_AGENT_TOOLS } from './sub-agent-tools.ts'

/** What is offered to a model. What it calls is checked again when it calls it. */
export function offeredTools(
  registry: Registry,
  { tools }: Pick<Authority, 'tools'>,
  { subAgents = false } = {},
): ToolDefinition[] {
  const offered = registry
    .list()
    .filter(({ tool }) => subAgents || !SUB_AGENT_TOOLS.has(tool.name))
    .filter(({ names }) => tools === 'all' || tools.some(name => names.has(name.toLowerCase())))
  return offered.length === 0 ? [] : [...offered.map(toDefinition), READ_RESULT_DEFINITION]
}

function toDefinition({ tool }: Entry): ToolDefinition {
  return { name: tool.name, description: tool.description, input_schema: tool.input.json }
}

/** The preset `read-only`: tools without side effects. */
export function readOnlyTools(registry: Registry): string[] {
  return registry
    .list()
    .filter(
      ({ risk, tool }) => risk === 'low' && tool.category === 'ReadOnly' && !SUB_AGENT_TOOLS.has(tool.name),
    )
    .map(({ tool }) => tool.name)
}
