import { randomUUID } from 'node:crypto'
import type { Message, ToolUseBlock } from './agents/messages.ts'
import {
  costOf,
  type Model,
  ModelError,
  type ModelRequest,
  type ToolDefinition,
  totalTokens,
  type Usage,
} from './agents/model.ts'
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
  /** Told of every request, also of one whose answer is no vote. */
  spent?(usage: Usage, costUsd: number | null, ms: number): void
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
    const request = { system, messages, tools, signal }
    const room = maxCostUsd === undefined ? undefined : maxCostUsd - (costUsd ?? 0)
    const started = performance.now()
    const pay = (usage: Usage): number | null => {
      const cost = costOf(usage, model.price)
      limits.spent?.(usage, cost, Math.round(performance.now() - started))
      return cost
    }
    const answer = await model
      .respond({ ...request, maxTokens: mostTokens(model, request, room) })
      .catch((error: unknown) => {
        if (error instanceof ModelError && totalTokens(error.usage) > 0) pay(error.usage)
        throw error
      })
    const cost = pay(answer.usage)
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
        ...(index < left
          ? await look.at(use)
          : { content: 'You have used all lookups. Vote now.', is_error: true }),
      })),
    )
    left -= wanted.length
    messages.push({ role: 'assistant', content: answer.content }, { role: 'user', content: results })
  }
}

/** A verdict with its reasons is short. */
const LONGEST_ANSWER = 2_000
const SHORTEST_ANSWER = 200
/** Fewer characters to a token than most texts have: the estimate is rather too high. */
const CHARACTERS_A_TOKEN = 3

/** How long the answer may be for what is left; what cannot be asked within it is not asked. */
function mostTokens(
  { price }: Model,
  { system, messages, tools }: Pick<ModelRequest, 'system' | 'messages' | 'tools'>,
  roomUsd: number | undefined,
): number {
  if (roomUsd === undefined) return LONGEST_ANSWER
  // As with the limit of a run: one that cannot be kept is worse than none.
  if (price === null) throw new Error('its price is unknown, so quorum.max_cost cannot be enforced')
  const input = JSON.stringify([system, messages, tools]).length / CHARACTERS_A_TOKEN
  const left = roomUsd - (input * price.input) / 1e6
  const most = price.output === 0 ? (left < 0 ? 0 : LONGEST_ANSWER) : Math.floor((left * 1e6) / price.output)
  if (most < SHORTEST_ANSWER)
    throw new Error(`asking it would cost more than its share of $${roomUsd.toFixed(4)}`)
  return Math.min(most, LONGEST_ANSWER)
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
