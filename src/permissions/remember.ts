import { randomUUID } from 'node:crypto'
import type { GivenAnswer } from '../core/approval.ts'
import type { Decision, Judgement, JudgeRequest } from '../core/decision.ts'
import { ToolError } from '../core/errors.ts'
import { type Grant, type GrantSpec, type IdentifiedCall, startsOf } from './grants.ts'

export interface RememberOptions {
  readonly workspace: string
  readonly rememberMs: number
  readonly now: () => number
  /** The call that asked. */
  readonly call?: string | undefined
}

/** What was decided, by whom. */
export function answerToDecision({ decision }: Judgement, answer: GivenAnswer): Decision {
  const { kind, user } = answer
  const isYes = kind === 'once' || kind === 'session' || kind === 'permanent'
  const words = 'message' in answer && answer.message !== undefined ? `: ${answer.message}` : ''
  const reason = `${isYes ? 'Approved' : 'Denied'} by ${user}${words}.`
  return { ...decision, outcome: isYes ? 'allow' : 'deny', by: 'user', reason, user }
}

/** An answer for a run outlives the process when the run has a name, but no longer than a day. */
const HOUR_MS = 60 * 60 * 1000
const RUN_MS = 24 * HOUR_MS

function lifetimeOf(answer: GivenAnswer, rememberMs: number): number {
  const most = answer.kind === 'session' ? RUN_MS : rememberMs
  const hours = 'hours' in answer ? answer.hours : undefined
  return hours === undefined ? most : Math.min(most, hours * HOUR_MS)
}

/** The grants of an answer that is to be remembered. A refusal is remembered as narrowly as possible. */
export function toGrants(
  identified: IdentifiedCall,
  specs: readonly GrantSpec[],
  answer: GivenAnswer,
  { call, ...options }: RememberOptions,
): Grant[] {
  if (answer.kind !== 'session' && answer.kind !== 'permanent' && answer.kind !== 'deny-permanently')
    return []
  const { request } = identified
  const now = options.now()
  const agent = agentOf(request, answer)
  return specs.map(spec => ({
    id: `g-${randomUUID().slice(0, 8)}`,
    decision: answer.kind === 'deny-permanently' ? 'deny' : 'allow',
    scope: answer.kind === 'session' ? 'session' : 'permanent',
    workspace: options.workspace,
    ...('scope' in answer && answer.scope === 'everywhere' ? { everywhere: true } : {}),
    ...(answer.kind === 'session' ? { run: request.run.id } : {}),
    ...(agent === undefined ? {} : { agent }),
    spec,
    starts: startsOf(spec, identified),
    tool: { name: request.tool.name, fingerprint: request.fingerprint },
    createdAt: new Date(now).toISOString(),
    ...(answer.kind === 'deny-permanently'
      ? {}
      : { expiresAt: new Date(now + lifetimeOf(answer, options.rememberMs)).toISOString() }),
    user: answer.user,
    ...(call === undefined ? {} : { call }),
  }))
}

/** A yes is for the agent that asked, unless the person says that it is for all of them. */
function agentOf({ run }: JudgeRequest, answer: GivenAnswer): string | undefined {
  const scope = 'scope' in answer && answer.kind === 'permanent' ? answer.scope : undefined
  const { agent } = run.authority
  if (scope === 'panel' && agent === undefined)
    throw new ToolError('invalid_input', 'No panel asked, so the answer cannot be for one.')
  return scope === 'project' || scope === 'everywhere' ? undefined : agent
}
