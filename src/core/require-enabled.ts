import type { Call, CallRuntime } from './call.ts'
import { ToolError } from './errors.ts'
import type { Entry } from './registry.ts'

/** Checked for every call, not only when tools are listed. */
export function requireEnabled(runtime: CallRuntime, { run, isPart }: Call, entry: Entry): void {
  const { agent, tools } = run.authority
  const { tool, names } = entry
  if (isPart !== true && tools !== 'all' && !tools.some(name => names.has(name.toLowerCase()))) {
    const whom = agent === undefined ? 'in this run' : `for the agent '${agent}'`
    throw new ToolError('not_enabled', `The tool '${tool.name}' is not enabled ${whom}.`, {
      hint: 'The run must be opened with this tool enabled.',
    })
  }
  if (!runtime.isEnabled(entry)) {
    throw new ToolError('not_enabled', `The tool '${tool.name}' is not enabled.`, {
      hint: `Set [tools.${tool.name}] enabled = true in the configuration.`,
    })
  }
}
