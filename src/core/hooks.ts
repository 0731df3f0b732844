import type { Judgement, JudgeRequest } from './decision.ts'
import type { ToolOutput } from './tool.ts'

/** Runs before the tool. May veto with a reason; may not change the input. A hook that fails vetoes. */
export type BeforeHook = (
  request: JudgeRequest,
  judgement: Judgement,
) => Promise<{ veto: string } | undefined>

/** Runs on every output before it is presented, and may change it. A hook that fails withholds the output. */
export type AfterHook = (output: ToolOutput, request: JudgeRequest) => ToolOutput | Promise<ToolOutput>

export interface Hooks {
  readonly before: readonly BeforeHook[]
  readonly after: readonly AfterHook[]
}
