import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import type { Registry } from '../core/registry.ts'
import type { AnyTool } from '../core/tool.ts'
import { createPdfReader } from '../sandbox/pdf/read-pdf.ts'
import type { SandboxProcesses } from '../sandbox/processes/processes.ts'
import type { Places } from '../store/places.ts'
import { fileTools } from '../tools/all.ts'
import { backgroundTools } from '../tools/command/background-tools.ts'
import type { CommandParts } from '../tools/command/parts.ts'
import { runCommandTool } from '../tools/command/run-command.ts'
import { selfEvalTool } from '../tools/evaluate/self-eval.ts'
import { findToolsTool } from '../tools/find-tools.ts'
import { gitOpsTool } from '../tools/git/git-ops.ts'
import { createRipgrep } from '../tools/search/ripgrep.ts'
import { toSearchSettings, webSearchTool } from '../tools/web/search/web-search.ts'
import { type WebParts, webFetchTool } from '../tools/web/web-fetch.ts'

export interface BuiltinParts {
  readonly config: Config
  readonly processes: SandboxProcesses
  readonly places: Places
  readonly commands: CommandParts
  readonly web: WebParts
  readonly registry: Registry
  /** Of the environment. */
  readonly variables: Readonly<Record<string, string>>
}

/** All builtin tools, in the order in which they are shown. */
export function builtinTools(parts: BuiltinParts): AnyTool[] {
  const { commands, web, config, variables } = parts
  const readPdf = createPdfReader(() => commands.sandbox, commands.places.own)
  const braveKey = variables.BRAVE_SEARCH_API_KEY?.trim() || undefined
  return [
    ...fileTools(createRipgrep(parts.processes), readPdf),
    runCommandTool(commands, config.tools.run_command.allowed_commands),
    ...backgroundTools(commands),
    webFetchTool({ ...web, readPdf }),
    webSearchTool(web, toSearchSettings(config.tools.web_search, braveKey)),
    gitOpsTool(commands),
    selfEvalTool({
      commands: config.tools.self_eval,
      historyPath: join(parts.places.state, 'evaluations.json'),
    }),
    findToolsTool(parts.registry),
  ].map(tool => ({ ...tool, isPartOfKogu: true as const }))
}
