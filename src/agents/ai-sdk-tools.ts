import { dynamicTool, jsonSchema, type Tool } from '@ai-sdk/provider-utils'
import type { CallResult } from '../core/call.ts'
import type { Registry } from '../core/registry.ts'
import type { Run } from '../core/run.ts'
import { offeredTools } from './agent-tools.ts'
import { READ_RESULT } from './compaction.ts'

export interface ToolsRuntime {
  readonly registry: Registry
  call(request: {
    readonly tool: string
    readonly input: unknown
    readonly run: string
    readonly caller: string
    readonly signal?: AbortSignal
  }): Promise<CallResult>
}

/**
 * Kogu's tools for the AI SDK's own loops (`generateText`, `streamText`, agents): each call goes through the whole
 * pipeline, under the authority of the run. A call that is refused or fails is a tool error that says why.
 */
export function toAiSdkTools(runtime: ToolsRuntime, run: Run): Record<string, Tool> {
  const tools = offeredTools(runtime.registry, run.authority).filter(({ name }) => name !== READ_RESULT)
  return Object.fromEntries(
    tools.map(({ name, description, input_schema }) => [
      name,
      dynamicTool({
        description,
        inputSchema: jsonSchema(input_schema),
        async execute(input, { abortSignal }) {
          const signal = abortSignal === undefined ? {} : { signal: abortSignal }
          const result = await runtime.call({ tool: name, input, run: run.id, caller: 'ai-sdk', ...signal })
          if (result.error === null) return result.text
          const { code, message, hint } = result.error
          throw new Error(`${code}: ${message}${hint === null ? '' : ` ${hint}`}`)
        },
      }),
    ]),
  )
}
