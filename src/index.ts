// The library's public API. What is not listed here is private; an addition needs a user today.

export { toAiSdkTools } from './agents/ai-sdk-tools.ts'
export type { RunEvent } from './agents/events.ts'
export type { RunLimits } from './agents/limits.ts'
export type { Message } from './agents/messages.ts'
export type { Model, ModelRequest, ModelResponse, Usage } from './agents/model.ts'
export { ModelError } from './agents/model.ts'
export type { Models } from './agents/models/models.ts'
export { createRehearsal, parseRehearsal } from './agents/rehearsal.ts'
export type { AgentResult, RunAgentOptions } from './agents/run-agent.ts'
export { runAgent } from './agents/run-agent.ts'
export type { RuntimeOptions } from './compose/compose.ts'
export type { Environment } from './config/environment.ts'
export { readEnvironment } from './config/environment.ts'
export type { LoadedConfig, LoadOptions } from './config/load.ts'
export { loadConfig } from './config/load.ts'
export type { Access } from './core/access.ts'
export type { Answer, Approver, Question } from './core/approval.ts'
export { noApprover, onceApprover } from './core/approval.ts'
export type { Authority, AuthorityWish } from './core/authority.ts'
export type { CallResult } from './core/call.ts'
export type { Decision, GrantOffer, Mode } from './core/decision.ts'
export type { Effect } from './core/effects.ts'
export type { ErrorCode } from './core/errors.ts'
export { ProviderUnavailable, ToolError } from './core/errors.ts'
export type { AfterHook, BeforeHook } from './core/hooks.ts'
export { fromJsonSchema } from './core/json-schema.ts'
export type { OpenRunOptions } from './core/open-runs.ts'
export type { OnTools, Provider } from './core/provider.ts'
export { localProvider } from './core/provider.ts'
export type { Run } from './core/run.ts'
export { spendMoney } from './core/run.ts'
export type { JsonSchema, Schema } from './core/schema.ts'
export type { AnyTool, Label, Tool, ToolContext, ToolOutput } from './core/tool.ts'
export { defineTool } from './core/tool.ts'
export {
  TOOL_FILE_WRITE,
  TOOL_GIT_OPS,
  TOOL_SELF_EVAL,
  TOOL_SHELL_EXEC,
  TOOL_WEB_FETCH,
  TOOL_WEB_SEARCH,
} from './core/tool-names.ts'
export { openModels } from './models.ts'
export type { CallRequest, Explanation, Runtime } from './runtime.ts'
export { createRuntime } from './runtime.ts'
