import { isDeepStrictEqual } from 'node:util'
import type { Answer, GivenAnswer, LiveQuestion, Question } from './approval.ts'
import type { Call, CallRuntime, Prepared, Progress } from './call.ts'
import { endQuestion } from './end-question.ts'
import { ToolError } from './errors.ts'
import { describeChanges, type MadeQuestion, makeQuestion, outerCalls, subjectOf } from './question.ts'
import { lineageOf, type MadeWith, runStateOf, type StoredQuestion, showCall } from './stored-question.ts'

/** The call waits for an answer that comes later; it has not ended. */
export class Pending extends ToolError {
  readonly question: string
  /** The call that asked. Another one that is the same has ended without having run. */
  readonly asker: string
  /** The call inside of it that asks. */
  readonly part: { readonly call: string; readonly tool: string; readonly input: unknown } | undefined

  constructor({ id, callId }: Pick<Question, 'id' | 'callId'>, reason: string, part?: Pending['part']) {
    super('needs_approval', `${reason} The question ${id} waits for an answer.`)
    this.question = id
    this.asker = callId
    this.part = part
  }
}

/** Returns a decision that allows the call, with the answer if somebody was asked; otherwise throws. */
export async function obtainApproval(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
  progress: Progress,
  live: LiveQuestion,
): Promise<GivenAnswer | undefined> {
  const { judgement } = prepared
  const { decision } = judgement
  const { continues } = call
  // An answer to reviewers' question is used where they are asked, and one about the changes of a line that ran
  // contained when those are judged.
  const isAboutThis =
    continues?.question.subject.kind === subjectOf(prepared).kind &&
    continues.question.decision.by !== 'reviewers'
  if (isAboutThis && decision.outcome !== 'ask') {
    if (decision.outcome === 'allow' || isNo(continues.answer)) await claim(runtime, call, continues)
    if (isNo(continues.answer)) return settle(runtime, call, prepared, progress, continues.answer)
  }
  if (decision.outcome === 'allow') return undefined
  if (decision.outcome === 'deny') {
    throw new ToolError(judgement.hard ? 'forbidden' : 'denied', decision.reason, {
      hint: judgement.hard
        ? 'This is a hard limit; no approval can override it.'
        : `Decided by ${decision.ref?.id ?? decision.by}.`,
    })
  }
  const made = await makeQuestion(runtime, call, prepared)
  const shown = showCall(made.question, prepared.request.tool.unrecorded ?? [], runtime.redactor)
  const answer =
    (await storedAnswer(runtime, call, made)) ?? (await ask(runtime, call, shown, progress, live))
  if (answer.kind === 'pending') {
    await runtime.questions.save(toStored(call, prepared, made))
    throw new Pending(made.question, decision.reason)
  }
  if (answer.kind === 'unavailable') {
    throw new ToolError('needs_approval', `${decision.reason} ${asSentence(answer.reason)}`, {
      hint: 'A rule or a person can allow it.',
    })
  }
  if (answer.kind === 'expired') {
    progress.decision = { ...decision, outcome: 'deny', by: 'timeout', reason: 'Nobody answered in time.' }
    throw new ToolError('expired', 'Nobody answered in time, so the call did not run.')
  }
  return settle(runtime, call, prepared, progress, answer)
}

/** Ends with the answer when it is a yes. */
async function settle(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
  progress: Progress,
  answer: GivenAnswer,
): Promise<GivenAnswer> {
  const { request, judgement } = prepared
  progress.decision = await runtime.permissions.settle(request, judgement, answer, call.id)
  if (progress.decision.outcome !== 'allow') throw new ToolError('denied', progress.decision.reason)
  return answer
}

/** Holds whatever has changed since, also when a rule allows the call by now: nothing runs. */
function isNo(
  answer: GivenAnswer | undefined,
): answer is GivenAnswer & { kind: 'deny' | 'deny-permanently' } {
  return answer?.kind === 'deny' || answer?.kind === 'deny-permanently'
}

async function ask(
  runtime: CallRuntime,
  call: Call,
  question: Question,
  progress: Progress,
  live: LiveQuestion,
): Promise<Answer> {
  const { id, digest, tool, expiresAt } = question
  const about = { call: call.id, run: call.run.id, question: id }
  runtime.audit.record({ type: 'approval-requested', ...about, tool: tool.name, digest, expiresAt })
  const started = runtime.clock.elapsed()
  const answer = await call.run.approver.ask(question, call.signal, live)
  progress.waitMs += runtime.clock.elapsed() - started
  if (call.signal.aborted) throw new ToolError('cancelled', 'The call was cancelled before anybody answered.')
  if (answer.kind !== 'pending') recordAnswer(runtime, question, answer)
  return answer
}

/** Recorded by the process that receives the answer. */
export function recordAnswer(
  { audit }: Pick<CallRuntime, 'audit'>,
  { id, callId, runId, offers }: Question,
  answer: Answer,
): void {
  audit.record({
    ...{ type: 'approval-answered', call: callId, run: runId, question: id, answer: answer.kind },
    user: 'user' in answer ? answer.user : undefined,
    grant: 'grant' in answer ? offers.find(offer => offer.id === answer.grant)?.label : undefined,
  })
}

/**
 * The answer that was given meanwhile, to this call or to an earlier one of the same run that was the same. It counts
 * once, and only for what was judged when the question was asked.
 */
async function storedAnswer(
  runtime: CallRuntime,
  call: Call,
  { question, judged }: MadeQuestion,
): Promise<GivenAnswer | undefined> {
  const stored = call.continues ?? (await findSame(runtime, question))
  if (stored === undefined) return undefined
  const { id, digest, expiresAt } = stored.question
  if (runtime.clock.now() >= expiresAt) {
    await endQuestion(runtime, stored, 'expired', call)
    if (call.continues === undefined) return undefined
    throw new ToolError('expired', `The question ${id} has expired, so the call did not run.`)
  }
  if (digest !== question.digest && !isNo(stored.answer)) {
    await endQuestion(runtime, stored, 'stale', call)
    // Asked anew: whoever repeats a call wants it as things are now.
    if (call.continues === undefined) return undefined
    const changed = describeChanges(stored.judged, judged)
    throw new ToolError('stale', `Since the question ${id} was asked, this has changed: ${changed}.`, {
      hint: 'Nothing ran. Repeat the call to ask again about the current state.',
    })
  }
  if (stored.answer === undefined) throw new Pending(stored.question, question.decision.reason)
  await claim(runtime, call, stored)
  return stored.answer
}

/** An answer is used once, even if several processes want it. */
async function claim(runtime: CallRuntime, call: Call, stored: StoredQuestion): Promise<void> {
  if (await endQuestion(runtime, stored, 'used', call)) return
  throw new ToolError('conflict', `The question ${stored.question.id} was settled by another call.`)
}

/** The same call of the same run: a client that cannot continue a call simply repeats it. */
async function findSame(
  { questions }: CallRuntime,
  { runId, tool, input, cwd, subject }: Question,
): Promise<StoredQuestion | undefined> {
  const all = await questions.list()
  return all.find(
    ({ question: other }) =>
      other.subject.kind === subject.kind &&
      other.runId === runId &&
      other.tool.name === tool.name &&
      other.cwd === cwd &&
      isDeepStrictEqual(other.input, input),
  )
}

function toStored(call: Call, { request }: Prepared, { question, judged }: MadeQuestion): StoredQuestion {
  const paths = new Set(question.access.flatMap(item => ('path' in item ? [item.path] : [])))
  const [outer] = outerCalls(call).map(each => each.call)
  return {
    question,
    judged,
    ...toMadeWith(call, paths),
    unrecorded: request.tool.unrecorded ?? [],
    ...(outer === undefined ? {} : { outer: toOuter(outer, paths) }),
  }
}

function toOuter(call: Call, paths: ReadonlySet<string>): StoredQuestion['outer'] & object {
  const { id, tool, input } = call
  return { id, tool, input, ...toMadeWith(call, paths) }
}

function toMadeWith({ caller, isPart, cwd, run }: Call, paths: ReadonlySet<string>): MadeWith {
  return { caller, isPart, cwd, lineage: lineageOf(run), run: runStateOf(run, paths) }
}

/** An approver says why it cannot ask as part of a sentence: "no terminal is available to ask for approval". */
function asSentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
}
