import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type GivenAnswer, onceApprover, type RememberedAnswer } from './core/approval.ts'
import {
  type Call,
  type CallResult,
  type CallRuntime,
  callTool,
  explainCall,
  type Prepared,
  tryOut,
} from './core/call.ts'
import type { CommandPattern, GrantOffer, Judgement, JudgeRequest } from './core/decision.ts'
import { partsOf } from './core/diff-parts.ts'
import { endExpired } from './core/end-question.ts'
import { ToolError } from './core/errors.ts'
import { fileState } from './core/file-state.ts'
import { refuseCallOfRun, refuseStep } from './core/gate.ts'
import { aboutChanges } from './core/keep-changes.ts'
import { recordAnswer } from './core/obtain-approval.ts'
import type { createOpenRuns } from './core/open-runs.ts'
import { type Answered, FILE_PIECE, type StoredQuestion, shownQuestion } from './core/stored-question.ts'
import { summarizeDiff } from './core/unified-diff.ts'

export type CallOptions = Partial<Pick<Call, 'signal' | 'onProgress' | 'elicit'>>

/** Who uses a door. Without one it is the program itself, which a person has started. */
export interface DoorUser {
  /** The caller that its calls have on record. */
  readonly caller: string
  /** A token may only with the scope `approve`, whichever door it comes through. */
  readonly mayApprove: boolean
  /** It is for one workspace: its answers hold in no other. */
  readonly isBound?: boolean
}

export interface ChangedInput {
  /** The values that differ; all others stay as the agent gave them. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Or the parts of the preview that are not wanted, counted from 0. */
  readonly leaveOut?: readonly number[]
  /** Of the question as it was looked at. */
  readonly digest: string
  readonly user: string
  readonly by?: DoorUser
  /** The name of the tool, when the changed call is dangerous. */
  readonly confirm?: string
}

export interface WaitingCalls {
  /**
   * Keeps a person's answer to a question, by its id or that of its call. The first answer counts. Undefined when nobody
   * waits for it any more.
   */
  answerQuestion(id: string, answer: GivenAnswer, by?: DoorUser): Promise<Answered | undefined>
  /**
   * Goes on with a call that waits, by the id of its question or its own: judged again, and run if nothing has changed. The
   * answer was given to whoever made the call, so no other caller can use it.
   */
  continueCall(id: string, options?: CallOptions & { readonly by?: DoorUser }): Promise<CallResult>
  /** Does it without any effect and says what it would change. */
  tryWaiting(id: string, signal: AbortSignal): Promise<string>
  /** Files it was asked about that are no longer what they were then. */
  changedSince(id: string): Promise<string[]>
  /** The answers to it that can be remembered, as the engine made them. */
  offersOf(id: string): Promise<readonly GrantOffer[]>
  /** One of them with a person's choice of words. Throws where that is wider, or does not cover the call. */
  narrowedOffer(id: string, grant: string, pattern: CommandPattern): Promise<GrantOffer>
  /** Leaves it open for that much longer than it is now. Says until when. */
  extend(id: string, ms: number, user: string): Promise<number>
  /**
   * Makes another call in the place of the one that waits, with an input that a person has changed. It is judged like every
   * call; the person's yes counts for it, and the agent is told.
   */
  callInstead(id: string, changed: ChangedInput, options?: CallOptions): Promise<CallResult>
}

/** A call that waits, judged again. */
interface Looked {
  readonly offers: readonly GrantOffer[]
  readonly request: JudgeRequest
  readonly judgement: Judgement
}

/** What can be done with a call that waits for an answer. */
export function createWaitingCalls(
  calls: CallRuntime,
  runs: Pick<ReturnType<typeof createOpenRuns>, 'resume'>,
): WaitingCalls {
  const find = async (id: string): Promise<StoredQuestion> => {
    const stored = await calls.questions.find(id)
    if (stored !== undefined) return stored
    throw new ToolError('not_found', `No call waits for an answer to ${id}.`, {
      hint: 'It has already run, or the question has expired.',
    })
  }
  const findOpen = async (id: string): Promise<StoredQuestion> => {
    const stored = await find(id)
    const { question, answer } = stored
    if (calls.clock.now() >= question.expiresAt)
      throw new ToolError('expired', `The question ${question.id} has expired.`)
    if (answer !== undefined)
      throw new ToolError('conflict', `The question ${question.id} was answered by ${answer.user}.`)
    return stored
  }
  const makeAgain = async (
    { lineage, run, isPart, ...call }: NonNullable<StoredQuestion['outer']>,
    { signal = new AbortController().signal, ...options }: CallOptions,
  ): Promise<Call> => {
    const part = isPart === undefined ? {} : { isPart }
    return { ...call, ...part, run: await runs.resume(lineage, run), signal, ...options }
  }
  const toCall = (stored: StoredQuestion, options: CallOptions): Promise<Call> => {
    const { question, caller, cwd, lineage, run, isPart } = stored
    const { callId: id, tool, input } = question
    return makeAgain({ id, tool: tool.name, input, caller, cwd, lineage, run, isPart }, options)
  }
  /** The call that goes on with the answer: the one that asked, or the one that it is a part of. */
  const toContinued = async (stored: StoredQuestion, options: CallOptions): Promise<Call> =>
    stored.outer === undefined
      ? { ...(await toCall(stored, options)), continues: stored }
      : { ...(await makeAgain(stored.outer, options)), isResumed: true }
  /** Judged again, because only what still is offered can be remembered. */
  const lookAt = async (id: string): Promise<Looked | undefined> => {
    const stored = await find(id)
    const { kind, name, fingerprint } = { ...stored.question.subject, ...stored.question.tool }
    // A tool that only code inside of another one has cannot be judged here.
    const isKnown = calls.registry.candidates(name).some(entry => entry.fingerprint === fingerprint)
    if (kind === 'gate' || (stored.outer !== undefined && !isKnown)) return undefined
    const { subject, access, offers } = stored.question
    const line = await explainCall(calls, await toCall(stored, {}))
    const request =
      subject.kind === 'changes' ? aboutChanges(line.request, subject.digest, access) : line.request
    const judgement = subject.kind === 'changes' ? await calls.permissions.judge(request) : line.judgement
    const offered = new Set(offers.map(offer => offer.id))
    const grants = (judgement.preview?.grants ?? []).filter(offer => offered.has(offer.id))
    return { offers: grants, request, judgement }
  }
  const narrowedOffer = async (id: string, grant: string, pattern: CommandPattern): Promise<GrantOffer> => {
    const looked = await lookAt(id)
    const offer = looked?.offers.find(each => each.id === grant)
    if (offer === undefined || looked === undefined)
      throw new ToolError('invalid_input', 'This is not one of the answers that can be remembered.')
    return calls.permissions.narrow(looked.request, offer, pattern)
  }
  /** Before the answer is kept: what the engine refuses later would leave the call without an answer. */
  const refuseWider = async (
    { question: { id, agent, offers } }: StoredQuestion,
    { kind, grant, scope, pattern }: RememberedAnswer,
  ): Promise<void> => {
    const refusal = (message: string): ToolError => new ToolError('invalid_input', message)
    if (!offers.some(offer => offer.id === grant))
      throw refusal("grant is not the id of one of this question's offers.")
    if (scope !== undefined && kind !== 'permanent') throw refusal('scope is for answers that are permanent.')
    if (scope === 'panel' && agent === undefined)
      throw refusal('No panel asked, so the answer cannot be for one.')
    if (pattern === undefined && scope !== 'everywhere') return
    const offer =
      pattern === undefined
        ? (await lookAt(id))?.offers.find(each => each.id === grant)
        : await narrowedOffer(id, grant, pattern)
    if (scope === 'everywhere' && offer?.everywhere !== true)
      throw refusal('This cannot be remembered for other workspaces.')
  }
  /** The one place where an answer enters, whichever door it comes through. */
  const keepAnswer = async (
    id: string,
    answer: GivenAnswer,
    by?: DoorUser,
  ): Promise<Answered | undefined> => {
    if (by?.mayApprove === false)
      throw new ToolError('forbidden', "Answering a question needs the scope 'approve'.")
    const answered = await calls.questions.answer(id, answer, calls.clock.now())
    if (answered?.isFirst === true) recordAnswer(calls, answered.stored.question, answer)
    return answered
  }
  return {
    async answerQuestion(id, answer, by) {
      await endExpired(calls)
      const asked = await calls.questions.find(id)
      if (by?.isBound === true && 'scope' in answer && answer.scope === 'everywhere')
        throw new ToolError(
          'forbidden',
          'This token is for one workspace, so its answer cannot hold in others.',
        )
      if (asked !== undefined && 'grant' in answer) await refuseWider(asked, answer)
      if (asked === undefined || answer.kind !== 'deny-permanently') return keepAnswer(id, answer, by)
      const { callId } = asked.question
      const looked = await lookAt(id)
      if (looked === undefined)
        throw new ToolError('invalid_input', 'No answer to this question can be remembered.')
      const answered = await keepAnswer(id, answer, by)
      // At once: whoever made the call may never continue it, and it can be made again elsewhere.
      if (answered?.isFirst === true)
        await calls.permissions.settle(looked.request, looked.judgement, answer, callId)
      return answered
    },
    async continueCall(id, { by, ...options } = {}) {
      const stored = await find(id)
      if (by?.mayApprove === false && by.caller !== (stored.outer ?? stored).caller)
        throw new ToolError('forbidden', 'Another caller made this call, so only that one can continue it.')
      refuseCallOfRun(stored)
      return callTool(calls, await toContinued(stored, options))
    },
    async tryWaiting(id, signal) {
      const stored = await findOpen(id)
      const untried = new ToolError('invalid_input', 'This call cannot be tried on a copy.')
      if (stored.question.subject.kind !== 'call') throw untried
      const call = await toCall(stored, { signal })
      const prepared = await explainCall(calls, call)
      if (prepared.request.tool.tryOut === undefined) throw untried
      // What is refused by now is not even tried.
      if (prepared.judgement.decision.outcome === 'deny')
        throw new ToolError('denied', prepared.judgement.decision.reason)
      return calls.redactor.perToken.text(await tryOut(calls, call, prepared, signal))
    },
    changedSince: async id => changedFiles(await find(id)),
    offersOf: async id => (await lookAt(id))?.offers ?? [],
    narrowedOffer,
    async extend(id, ms, user) {
      const { question } = await findOpen(id)
      const expiresAt = Math.min(question.expiresAt + ms, calls.clock.now() + LONGEST_OPEN_MS)
      if (!(await calls.questions.extend(question.id, expiresAt)))
        throw new ToolError('conflict', `The question ${question.id} was answered meanwhile.`)
      const details = { question: question.id, call: question.callId, user, expiresAt }
      calls.audit.record({ type: 'note', action: 'question-extended', details })
      return expiresAt
    },
    async callInstead(id, changed, options = {}) {
      const stored = await findOpen(id)
      refuseStep(stored)
      requireSame(stored, changed)
      const [other] = await changedFiles(stored)
      if (other !== undefined)
        throw new ToolError('stale', `${other} has changed since the question was asked.`, {
          hint: 'Deny the call. The agent can look at the file again.',
        })
      const waiting = await toCall(stored, options)
      const { input, told } =
        changed.leaveOut === undefined
          ? changedInput(calls, stored, changed.values ?? {})
          : inputWithoutParts(calls, await explainCall(calls, waiting), stored, waiting, changed.leaveOut)
      const call: Call = {
        ...waiting,
        id: `call_${randomUUID()}`,
        input,
        caller: changed.user,
        // The person has seen this input, having written it, and answers for this one call.
        run: { ...waiting.run, approver: onceApprover(changed.user) },
      }
      const { judgement } = await explainCall(calls, call)
      const { decision, preview, hard } = judgement
      if (decision.outcome === 'deny') throw new ToolError(hard ? 'forbidden' : 'denied', decision.reason)
      if (preview?.dangerous === true && changed.confirm !== stored.question.tool.name)
        throw new ToolError('invalid_input', 'The changed call is dangerous.', {
          hint: `Send confirm: "${stored.question.tool.name}" to approve it.`,
        })
      // First, so that nobody can let the original run as well.
      const answer = {
        kind: 'deny',
        user: changed.user,
        message: tellAgent(calls, stored, told),
      } as const
      const answered = await keepAnswer(stored.question.id, answer, changed.by)
      if (answered?.isFirst !== true)
        throw new ToolError('conflict', `The question ${stored.question.id} was answered meanwhile.`)
      return callTool(calls, call)
    },
  }
}

/** Files that the question was about and that are no longer what they were then. */
async function changedFiles({ judged }: StoredQuestion): Promise<string[]> {
  const files = Object.keys(judged).filter(piece => piece.startsWith(FILE_PIECE))
  const states = await Promise.all(files.map(piece => fileState(piece.slice(FILE_PIECE.length))))
  return files
    .filter((piece, index) => judged[piece] !== states[index])
    .map(piece => piece.slice(FILE_PIECE.length))
}

/** A question does not stay open for ever, however often somebody asks for more time. */
const LONGEST_OPEN_MS = 7 * 24 * 3_600_000

/** Another input, and what the agent is told about it. */
interface NewInput {
  readonly input: Readonly<Record<string, unknown>>
  readonly told: string
}

function requireSame({ question }: StoredQuestion, { digest }: ChangedInput): void {
  if (question.digest !== digest)
    throw new ToolError('stale', 'The question has changed since it was shown.', { hint: 'Read it again.' })
  if (question.subject.kind !== 'call')
    throw new ToolError('invalid_input', 'The command has already run; choose which of its changes to keep.')
}

function changedInput(
  { redactor }: CallRuntime,
  stored: StoredQuestion,
  values: Readonly<Record<string, unknown>>,
): NewInput {
  const { question } = stored
  const shown = shownQuestion(stored, redactor).input
  // Whoever edits what is masked would put the mask in the place of the secret.
  const masked = Object.keys(values).find(key => !isDeepStrictEqual(shown[key], question.input[key]))
  if (masked !== undefined)
    throw new ToolError('invalid_input', `A part of '${masked}' is not shown, so it cannot be changed here.`)
  const input = { ...question.input, ...values }
  if (isDeepStrictEqual(input, question.input)) throw new ToolError('invalid_input', 'Nothing was changed.')
  const changes = Object.entries(values).map(([key, value]) => {
    const [before, after] = [question.input[key], value].map(each =>
      typeof each === 'string' ? each : (JSON.stringify(each) ?? ''),
    )
    return summarizeDiff(before ?? '', after ?? '', key).diff ?? `${key} was replaced.`
  })
  return { input, told: `The change:\n${changes.join('\n')}` }
}

/** Made by the tool itself, of the file as it is: which has to be the one that was shown. */
function inputWithoutParts(
  { redactor, workspace }: CallRuntime,
  { request }: Prepared,
  stored: StoredQuestion,
  call: Call,
  parts: readonly number[],
): NewInput {
  const { question } = stored
  const left = new Set(parts)
  const all = partsOf(question.preview ?? '')
  const context = { cwd: call.cwd, workspace, receipts: call.run.receipts }
  if (request.tool.preview?.(request.input, context) !== question.preview)
    throw new ToolError('stale', 'The change is different now.', { hint: 'Read the question again.' })
  const isOffered = shownQuestion(stored, redactor).parts !== undefined
  const isSome = isOffered && left.size > 0 && left.size < all.length && parts.every(part => part in all)
  const input = isSome ? request.tool.leaveOut?.(request.input, left, context) : undefined
  if (input === undefined)
    throw new ToolError('invalid_input', 'These parts cannot be left out of the change.', {
      hint: 'Deny the call, or change its input.',
    })
  const told = all.filter((_, index) => left.has(index)).join('')
  return { input, told: `These parts of it were left out:\n${told}` }
}

const MOST_TOLD = 6_000

/** What became of its call, for the agent. */
function tellAgent({ redactor }: CallRuntime, { question: { tool } }: StoredQuestion, text: string): string {
  const told = redactor.text(text)
  const cut = told.length > MOST_TOLD ? `${told.slice(0, MOST_TOLD)}…` : told
  return `A person changed the input and made the call of ${tool.name} in its place, so do not repeat it. ${cut}`
}
