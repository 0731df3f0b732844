import { noApprover } from '../../core/approval.ts'
import type { CallFinished, CallStarted } from '../../core/audit.ts'
import type { Authority } from '../../core/authority.ts'
import type {
  Decision,
  GrantOffer,
  Judgement,
  JudgeRequest,
  Mode,
  Outcome,
  PermissionEngine,
} from '../../core/decision.ts'
import type { Entry } from '../../core/registry.ts'
import { createRun, type Run } from '../../core/run.ts'

/** A call as the audit log has it. */
export interface RecordedCall {
  readonly at: string
  readonly started: CallStarted
  readonly finished: CallFinished
}

interface ChangedDecision {
  readonly at: string
  readonly call: string
  readonly tool: string
  readonly input: unknown
  readonly was: Outcome
  readonly now: Outcome
  /** What decides it now. */
  readonly by: string
  /** A person said no to it then: an allow would have let it through. */
  readonly deniedByPerson: boolean
}

export interface DryRunReport {
  readonly calls: number
  readonly changed: readonly ChangedDecision[]
  /** `ask->allow`: how often. */
  readonly transitions: Readonly<Record<string, number>>
  /** Calls that were never judged (invalid input, unknown tool), or whose arguments were redacted. */
  readonly notComparable: number
}

const NOBODY = noApprover('recorded calls are only judged')

/** Decides recorded calls again. Runs nothing and asks nobody: what a person answered then counts as an ask. */
export async function dryRun(
  calls: AsyncIterable<RecordedCall>,
  engine: PermissionEngine,
  entryOf: (tool: string) => Entry | undefined,
  authority: Authority,
  /** Judge every call in this mode instead of the one it was made in. */
  mode?: Mode,
): Promise<DryRunReport> {
  const changed: ChangedDecision[] = []
  const transitions: Record<string, number> = {}
  // What entered a run earlier counts for its later calls.
  const runs = new Map<string, Run>()
  let count = 0
  let notComparable = 0
  for await (const call of calls) {
    count += 1
    const run = runs.get(call.started.run) ?? createRun(call.started.run, { authority, approver: NOBODY })
    runs.set(run.id, run)
    const request = toRequest(call, run, entryOf, mode)
    const was = outcomeThen(call.finished.decision)
    if (request === undefined || was === undefined) {
      notComparable += 1
      continue
    }
    const judgement = await engine.judge(request)
    if (call.finished.label !== undefined) run.labels.push(call.finished.label)
    const now = judgement.decision.outcome
    if (now === was) continue
    const transition = `${was}->${now}`
    transitions[transition] = (transitions[transition] ?? 0) + 1
    changed.push(toChange(call, was, judgement))
  }
  return { calls: count, changed, transitions, notComparable }
}

/** Of each offer, the recorded calls that are asked about under the rules in force and that it would let through. */
export async function countCovered(
  calls: AsyncIterable<RecordedCall>,
  offers: readonly GrantOffer[],
  engine: PermissionEngine,
  entryOf: (tool: string) => Entry | undefined,
  authority: Authority,
): Promise<{ id: string; calls: number; denied: number }[]> {
  const counts = offers.map(({ id }) => ({ id, calls: 0, denied: 0 }))
  for await (const call of calls) {
    const run = createRun(call.started.run, { authority, approver: NOBODY })
    const request = toRequest(call, run, entryOf, undefined)
    // One that asked and was made again is counted where it ended.
    if (request === undefined || call.finished.decision.outcome === 'ask') continue
    for (const covered of await engine.coveredBy(request, offers)) {
      const count = counts.find(({ id }) => id === covered.id)
      if (count === undefined) continue
      count.calls += 1
      if (isDeniedByPerson(call)) count.denied += 1
    }
  }
  return counts
}

function isDeniedByPerson({ finished: { decision } }: RecordedCall): boolean {
  return decision.by === 'user' && decision.outcome === 'deny'
}

function toRequest(
  { started, finished }: RecordedCall,
  run: Run,
  entryOf: (tool: string) => Entry | undefined,
  mode: Mode | undefined,
): JudgeRequest | undefined {
  const entry = entryOf(finished.tool)
  if (entry === undefined || finished.access === undefined || isRedacted(finished.access)) return undefined
  return {
    tool: entry.tool,
    toolNames: entry.names,
    fingerprint: entry.fingerprint,
    // Recorded as it was validated: an object.
    input: started.input as Record<string, unknown>,
    access: finished.access,
    risk: entry.risk,
    cwd: started.cwd,
    run: { ...run, authority: authorityThen(run.authority, started.agent, mode ?? finished.mode) },
  }
}

/** The log knows the agent and the mode of a call; the rest is what is configured now. */
function authorityThen(now: Authority, agent: string | undefined, mode: Mode | undefined): Authority {
  return {
    ...now,
    ...(agent === undefined ? {} : { agent }),
    ...(mode === undefined ? {} : { mode }),
  }
}

function isRedacted(value: unknown): boolean {
  return JSON.stringify(value).includes('‹secret:')
}

/** What the engine said then, whoever settled it afterwards. */
function outcomeThen({ outcome, by }: Decision): Outcome | undefined {
  if (by === 'validation') return undefined
  if (by === 'user' || by === 'timeout' || by === 'reviewers') return 'ask'
  return by === 'hook' ? undefined : outcome
}

function toChange(recorded: RecordedCall, was: Outcome, judgement: Judgement): ChangedDecision {
  const { at, started, finished } = recorded
  const { outcome, by, ref } = judgement.decision
  return {
    at,
    call: started.call,
    tool: finished.tool,
    input: started.input,
    was,
    now: outcome,
    by: ref === null ? by : `${ref.id} (${ref.source}${ref.line === undefined ? '' : `:${ref.line}`})`,
    deniedByPerson: isDeniedByPerson(recorded),
  }
}
