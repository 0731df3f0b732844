import { randomUUID } from 'node:crypto'
import type { Message, ToolUseBlock } from './agents/messages.ts'
import { costOf, type Model, type ToolDefinition } from './agents/model.ts'
import { noApprover } from './core/approval.ts'
import { fullAuthority, narrow } from './core/authority.ts'
import { type CallRuntime, callTool } from './core/call.ts'
import { createRun } from './core/run.ts'
import type { MemberAnswer } from './review/ask-members.ts'
import type { ReviewPrompt } from './review/prompt.ts'

interface ReviewerLimits {
  readonly name: string
  readonly signal: AbortSignal
  readonly maxCostUsd: number | undefined
  /** How often it may look at files first. */
  readonly lookups: number
  readonly calls: CallRuntime | undefined
}

const LOOKING = ['read_file', 'grep_search', 'glob_search', 'list_directory']

/** Asks a model for its vote. It may look at files before, within its budget, by tools that change nothing. */
export async function askReviewer(
  model: Model,
  { system, user }: ReviewPrompt,
  limits: ReviewerLimits,
): Promise<MemberAnswer> {
  const { signal, calls, maxCostUsd } = limits
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: user }] }]
  const look = calls === undefined ? undefined : createLook(calls, limits)
  let left = look === undefined ? 0 : limits.lookups
  let costUsd: number | null = 0
  for (;;) {
    const tools = left > 0 ? (look?.tools ?? []) : []
    const answer = await model.respond({ system, messages, tools, signal })
    const cost = costOf(answer.usage, model.price)
    costUsd = costUsd === null || cost === null ? null : costUsd + cost
    const text = answer.content.map(block => (block.type === 'text' ? block.text : '')).join('')
    const wanted = answer.content.filter(block => block.type === 'tool_use')
    if (wanted.length === 0 || look === undefined || left <= 0) return { text, costUsd }
    // What it has spent so far is all that it may: it votes on what it knows.
    if (maxCostUsd !== undefined && costUsd !== null && costUsd >= maxCostUsd)
      throw new Error(`it has cost $${costUsd.toFixed(4)} without a vote; the limit is $${maxCostUsd}`)
    const results = await Promise.all(
      wanted.map(async (use, index) => ({
        ...{ type: 'tool_result' as const, tool_use_id: use.id, name: use.name },
        ...(index < left ? await look.at(use) : { content: 'You have looked often enough.', is_error: true }),
      })),
    )
    left -= wanted.length
    messages.push({ role: 'assistant', content: answer.content }, { role: 'user', content: results })
  }
}

/** Under an authority of its own that changes nothing and asks nobody. */
function createLook(calls: CallRuntime, { name, signal }: ReviewerLimits) {
  const { workspace, registry } = calls
  const wish = { mode: 'read-only', tools: LOOKING, git: 'disabled', hosts: [], writeScope: [] } as const
  const authority = narrow(fullAuthority(workspace, 'read-only'), wish)
  const run = createRun(`review_${randomUUID()}`, {
    authority,
    approver: noApprover('reviewers ask nobody'),
    clock: calls.clock,
  })
  const entries = LOOKING.flatMap(tool => registry.candidates(tool).at(-1) ?? [])
  const tools: ToolDefinition[] = entries.map(({ tool }) => ({
    ...{ name: tool.name, description: tool.description, input_schema: tool.input.json },
  }))
  return {
    tools,
    async at({ name: tool, input }: ToolUseBlock): Promise<{ content: string; is_error: boolean }> {
      const call = { id: `call_${randomUUID()}`, tool, input, caller: `reviewer ${name}`, run, signal }
      const { ok, text, error } = await callTool(calls, { ...call, cwd: workspace })
      return { content: ok ? text || '(no output)' : (error?.message ?? text), is_error: !ok }
    },
  }
}
