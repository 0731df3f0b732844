import { hash, randomBytes } from 'node:crypto'
import type { GivenAnswer, Question } from './approval.ts'
import type { Call, CallRuntime, Prepared } from './call.ts'
import { canonicalJson } from './canonical-json.ts'
import { endQuestion } from './end-question.ts'
import { ToolError } from './errors.ts'
import { recordAnswer } from './obtain-approval.ts'
import { lineage, type Run } from './run.ts'
import { belongsToRun, lineageOf, runStateOf, type StoredQuestion } from './stored-question.ts'

// Gates of pipelines: a person has to approve, whatever the rules say. Before a call, the call's own question is the gate,
// so one yes is enough. Before anything else, such as a panel, the gate has its own question. No quorum opens a gate.

/** A call at a gate asks even if the rules allow it. What they refuse stays refused. */
export function atGate({ gate }: Pick<Call, 'gate'>, prepared: Prepared): Prepared {
  const { decision } = prepared.judgement
  if (gate === undefined || decision.outcome === 'deny') return prepared
  const reason = decision.outcome === 'ask' ? `${gate} ${decision.reason}` : gate
  const asking = { ...decision, outcome: 'ask', by: 'gate', reason } as const
  return {
    ...prepared,
    judgement: { ...prepared.judgement, decision: asking, reasons: [gate, ...prepared.judgement.reasons] },
  }
}

export interface Gate {
  /** The same in every process that comes to it, so that an answer that was given meanwhile is found. */
  readonly id: string
  readonly run: Run
  /** Why somebody is asked, as a sentence. */
  readonly reason: string
  /** What would begin, for the person. */
  readonly input: Readonly<Record<string, unknown>>
  readonly cwd: string
  readonly signal: AbortSignal
}

/** `waits`: the question is in the inbox. */
export type GateAnswer =
  | { readonly kind: 'open' }
  | { readonly kind: 'waits' }
  | { readonly kind: 'closed'; readonly reason: string }

type Parts = Pick<CallRuntime, 'questions' | 'audit' | 'clock' | 'questionMs'>

export async function passGate(parts: Parts, gate: Gate): Promise<GateAnswer> {
  const { questions, audit } = parts
  const made = toQuestion(parts, gate)
  const stored = await findCurrent(parts, made)
  if (stored?.answer !== undefined) {
    const claimed = await questions.end(stored.question.id)
    return claimed ? toAnswer(stored.answer) : { kind: 'waits' }
  }
  const question = stored?.question ?? made
  const { id, digest, tool, expiresAt } = question
  if (stored === undefined)
    audit.record({
      ...{ type: 'approval-requested', call: gate.id, run: gate.run.id, question: id },
      ...{ tool: tool.name, digest, expiresAt },
    })
  const answer = await gate.run.approver.ask(question, gate.signal, {})
  if (gate.signal.aborted) return { kind: 'waits' }
  if (answer.kind === 'pending') {
    if (stored === undefined) await questions.save(toStored(question, gate))
    return { kind: 'waits' }
  }
  if (stored !== undefined) await questions.end(id)
  recordAnswer(parts, question, answer)
  if (answer.kind === 'unavailable' || answer.kind === 'expired') return { kind: 'waits' }
  return toAnswer(answer)
}

/** A run goes on with its own calls: made apart from it, one would be made a second time. */
export function refuseCallOfRun({ question }: StoredQuestion): void {
  if (!belongsToRun(question)) return
  const [run = question.runId] = question.runPath
  throw new ToolError('conflict', `This call belongs to the run ${run}, which goes on with it.`, {
    hint: 'Answer the question, then resume that run.',
  })
}

/** An agent can be told that its call was made in another form; a pipeline and a tool cannot. */
export function refuseStep(stored: StoredQuestion): void {
  if (stored.caller === CALLER) refuseCallOfRun(stored)
  const [outer] = stored.question.within ?? []
  if (outer === undefined) return
  throw new ToolError('conflict', `This call is a part of ${outer.tool}, which makes it as it is.`, {
    hint: 'Approve or deny it.',
  })
}

const CALLER = 'pipeline'

/** The question that was asked at this gate before, while it is about the same. */
async function findCurrent(parts: Parts, { callId, digest }: Question): Promise<StoredQuestion | undefined> {
  const stored = await parts.questions.find(callId)
  if (stored === undefined) return undefined
  const { question } = stored
  const isOver = parts.clock.now() >= question.expiresAt
  if (!isOver && question.digest === digest) return stored
  await endQuestion(parts, stored, isOver ? 'expired' : 'stale')
  return undefined
}

function toAnswer(answer: GivenAnswer): GateAnswer {
  if (answer.kind !== 'deny' && answer.kind !== 'deny-permanently') return { kind: 'open' }
  const { user, message } = answer
  return { kind: 'closed', reason: `Denied by ${user}${message === undefined ? '.' : `: ${message}`}` }
}

function toQuestion({ clock, questionMs }: Parts, { id, run, reason, input, cwd }: Gate): Question {
  const createdAt = clock.now()
  return {
    id: `q-${randomBytes(4).toString('hex')}`,
    callId: id,
    runId: run.id,
    runPath: [...lineage(run)].map(each => each.id).reverse(),
    agent: run.authority.agent,
    tool: { name: CALLER, title: 'Step of a pipeline', fingerprint: '' },
    subject: { kind: 'gate' },
    input,
    cwd,
    risk: 'high',
    access: [],
    effects: [],
    decision: { outcome: 'ask', by: 'gate', ref: null, reason },
    reasons: [reason],
    isDangerous: false,
    offers: [],
    digest: hash('sha256', canonicalJson([id, reason, input]) ?? '').slice(0, 32),
    createdAt,
    expiresAt: createdAt + questionMs,
  }
}

function toStored(question: Question, { run, cwd }: Gate): StoredQuestion {
  return {
    question,
    judged: { 'what would begin': question.digest },
    caller: CALLER,
    ...{ cwd, isPart: undefined, lineage: lineageOf(run), run: runStateOf(run, new Set()) },
    unrecorded: [],
  }
}
