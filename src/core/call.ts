import { setTimeout as sleep } from 'node:timers/promises'
import { type Access, toOwnLine } from './access.ts'
import type { AuditLog } from './audit.ts'
import type { Clock } from './clock.ts'
import type { Decision, Judgement, JudgeRequest, Mode, PermissionEngine } from './decision.ts'
import { type Effect, toldEffects } from './effects.ts'
import { ProviderUnavailable, ToolError, toToolError } from './errors.ts'
import type { CallFiles } from './files.ts'
import { atGate } from './gate.ts'
import type { Hooks } from './hooks.ts'
import { type CallJournals, createInnerCalls, type InnerCalls } from './inner-calls.ts'
import { validateInput } from './input.ts'
import { keepChanges } from './keep-changes.ts'
import { inTime, limitTime } from './limit-time.ts'
import { LIMITS } from './limits.ts'
import { obtainApproval, Pending } from './obtain-approval.ts'
import type { Permit } from './permit.ts'
import {
  labelOfFailure,
  type PresentedError,
  presentDecision,
  presentError,
  presentName,
  presentOutput,
  presentProgress,
} from './present.ts'
import type { ToolProcesses } from './processes.ts'
import type { ProposedChanges } from './proposed-changes.ts'
import { rememberPaths } from './real-path.ts'
import { keepLabel, recordFinished, recordStarted, unrecorded, whatBecameOf } from './record-call.ts'
import type { Redactor } from './redact.ts'
import type { Entry, Registry } from './registry.ts'
import { requireEnabled } from './require-enabled.ts'
import { type Reviewer, reviewCall } from './review.ts'
import { nextNumber, type Run } from './run.ts'
import { applyRefusal, countCall, refuseEnded, timeLeft } from './run-limits.ts'
import type { QuestionStore, StoredQuestion } from './stored-question.ts'
import type { Label, ProcessContext, Risk, ToolContext, ToolOutput, UndoLimits } from './tool.ts'

// The only way in. A call goes through these steps in this order, and every outcome is recorded:
// started → registry → validate → enabled → judge (hard limits, rules, grants, mode, flow) → approver → reviewers
// → before hooks → run → after hooks → finished. A failed tool is a value; only this file turns throws into results.

export interface Call {
  readonly id: string
  /** The tool's name as the caller spelled it. */
  readonly tool: string
  readonly input: unknown
  /** The door it came through: command line, MCP, HTTP, … */
  readonly caller: string
  readonly run: Run
  readonly cwd: string
  readonly signal: AbortSignal
  readonly onProgress?: (text: string) => void
  readonly elicit?: ToolContext['elicit']
  /** A tool of Kogu makes it as a part of its own work: enabling that tool for an agent enables this call. */
  readonly isPart?: true
  /** Set if a person has to approve it, whatever the rules say: the reason. */
  readonly gate?: string
  /** The question of this call, if the call is continued now. */
  readonly continues?: StoredQuestion
  /** It was recorded and counted when it was first made. */
  readonly isResumed?: true
  /** The call that makes this one, and the canonical name of its tool. */
  readonly within?: { readonly call: Call; readonly tool: string }
  /**
   * Called after all decisions, right before the tool runs, before the changes of a contained command are kept, and before
   * calls that the tool makes, with their ids: durable runs claim the effect here. If it throws, nothing happens.
   */
  readonly beforeRun?: (prepared: Prepared, inner?: string) => Promise<void>
  /** Called with the outcome as soon as it is recorded, of calls that the tool makes too. */
  readonly afterRun?: (result: CallResult) => Promise<void>
}

export interface CallResult {
  ok: boolean
  call: string
  /** Position among the results of its run, in the order of the calls. */
  number: number
  /** Canonical name, when the tool is known. */
  tool: string
  text: string
  data: unknown
  images?: ToolOutput['images']
  verdict?: ToolOutput['verdict']
  error: PresentedError | null
  /** The question, if the call waits for an answer. */
  question?: string
  /** The call inside of this one that asks. */
  part?: Pending['part']
  decision: Decision
  risk: Risk
  effects: readonly Effect[]
  label: Label | null
  /** How long the tool ran. */
  durationMs: number
  /** How long the call waited for an answer. */
  waitMs: number
}

/** The dependencies of a call. All side effects come in here, so tests need no mocks. */
export interface CallRuntime {
  readonly workspace: string
  readonly registry: Registry
  readonly permissions: PermissionEngine
  readonly hooks: Hooks
  readonly audit: AuditLog
  readonly undoLimits: UndoLimits
  readonly clock: Clock
  readonly questions: QuestionStore
  readonly journals: CallJournals
  /** How long a question waits. */
  readonly questionMs: number
  readonly reviewers: readonly Reviewer[]
  isEnabled(entry: Entry): boolean
  openFiles(call: Call, permit: Permit, tool: string): CallFiles
  /** Processes for one call: sandboxed, and only what was judged. */
  openProcesses(context: ProcessContext, tool: string): ToolProcesses
  readonly redactor: Redactor
  /** By the key of the workspace. Undefined for what is no JSON, which no tool takes. */
  digestInput(input: unknown): string | undefined
}

export interface Prepared {
  readonly entry: Entry
  readonly request: JudgeRequest
  readonly judgement: Judgement
  /** Set when the changes of a command on its layer are judged; `callInput` is the input of that call. */
  readonly changes?: ProposedChanges & { readonly callInput: JudgeRequest['input'] }
}

/** What is known about a call so far; after a failure, up to the step that failed. */
export interface Progress {
  entry?: Entry
  access?: readonly Access[]
  mode?: Mode
  decision?: Decision
  risk?: Risk
  output?: ToolOutput
  effects: readonly Effect[]
  /** Set when it ran. */
  permit?: Permit
  inner?: InnerCalls
  number: number
  runMs: number
  waitMs: number
}

export async function callTool(runtime: CallRuntime, call: Call): Promise<CallResult> {
  const progress: Progress = { effects: [], number: nextNumber(call.run), runMs: 0, waitMs: 0 }
  // Its provider may still be starting. What of its input is kept off the record is known with the tool.
  if (runtime.registry.candidates(call.tool).length === 0) await runtime.registry.settled()
  const isNew = call.continues === undefined && call.isResumed === undefined
  try {
    if (isNew) recordStarted(runtime, call)
  } catch (error) {
    // A call that cannot be recorded must not run.
    return toResult(runtime, call, progress, unrecorded('nothing ran', error))
  }
  // A continued call was counted when it was made.
  const refusal = isNew ? countCall(call.run, runtime.clock) : undefined
  const failure =
    refusal === undefined ? await attempt(runtime, call, progress) : applyRefusal(progress, refusal)
  const result = keepLabel(runtime, call, toResult(runtime, call, progress, failure))
  // It has not ended.
  if (failure instanceof Pending && failure.asker === call.id) return result
  try {
    // However the call ended, its question is no longer open.
    if (call.continues !== undefined) await runtime.questions.end(call.continues.question.id)
    recordFinished(runtime, call, progress, result)
  } catch (error) {
    const became = whatBecameOf(progress, result)
    const problem = unrecorded(`the end of this call is not recorded. ${became}`, error)
    return { ...result, ok: false, error: presentError(runtime.redactor, problem) }
  }
  await call.afterRun?.(result)
  // A call that was cut off may be made again by its run. What is left of others is swept away.
  const mayGoOn = failure instanceof Pending || failure?.code === 'cancelled'
  if (!mayGoOn) await progress.inner?.end(result).catch(() => undefined)
  return result
}

/** What would be decided, without running anything, recording anything or asking anybody. */
export const explainCall = (runtime: CallRuntime, call: Call): Promise<Prepared> => prepare(runtime, call)

async function attempt(runtime: CallRuntime, call: Call, progress: Progress): Promise<ToolError | undefined> {
  for (;;) {
    try {
      await runSteps(runtime, call, progress)
      return undefined
    } catch (error) {
      if (error instanceof ProviderUnavailable && progress.entry !== undefined) {
        // Nothing was done yet, so the next provider's tool can be tried, from the first step.
        runtime.registry.markUnavailable(progress.entry.provider, error.message)
        continue
      }
      return toToolError(error)
    } finally {
      await progress.inner?.release()
    }
  }
}

async function runSteps(runtime: CallRuntime, call: Call, progress: Progress): Promise<void> {
  const prepared = atGate(call, await prepare(runtime, call, progress))
  const canTry = prepared.request.tool.tryOut !== undefined
  const live = canTry ? { tryOut: () => tryOut(runtime, call, prepared, call.signal) } : {}
  const inner = createInnerCalls(runtime, call, prepared, progress, callTool)
  progress.inner = inner
  const begun = await inner.begun()
  if (begun !== undefined) progress.decision = begun
  else {
    await obtainApproval(runtime, call, prepared, progress, live)
    await reviewCall(runtime, call, prepared, progress)
  }
  for (const hook of runtime.hooks.before) {
    const answer = await hook(prepared.request, prepared.judgement)
    if (answer !== undefined) {
      progress.decision = { outcome: 'deny', by: 'hook', ref: null, reason: answer.veto }
      throw new ToolError('denied', `A hook denied the call: ${answer.veto}`)
    }
  }
  const ended = refuseEnded(call.run, runtime.clock)
  if (ended !== undefined) throw applyRefusal(progress, ended)
  await call.beforeRun?.(prepared)
  let output = await run(runtime, call, prepared, progress, inner)
  inner.requireAll()
  for (const hook of runtime.hooks.after) output = await hook(output, prepared.request)
  progress.output = presentOutput(runtime.redactor, output, progress)
}

async function prepare(
  runtime: CallRuntime,
  call: Call,
  progress: Partial<Progress> = {},
): Promise<Prepared> {
  // Another process may belong to the same run.
  call.run.kept?.refresh(call.run.labels)
  const entry = await runtime.registry.resolve(call.tool)
  Object.assign(progress, { entry, risk: entry.risk })
  const { tool } = entry
  const input = validateInput(tool, call.input, call.tool)
  requireEnabled(runtime, call, entry)
  const resolvePath = rememberPaths()
  const wanted = tool.access(input, {
    cwd: call.cwd,
    resolvePath,
    workspace: runtime.workspace,
    receipts: call.run.receipts,
    undoLimits: runtime.undoLimits,
    runCwd: call.run.cwd,
  })
  const own = Array.isArray(wanted) ? wanted : await inTime(wanted, call.signal, tool.name)
  const access = call.isPart === true ? own.map(toOwnLine) : own
  const request: JudgeRequest = {
    tool,
    toolNames: entry.names,
    input,
    access,
    fingerprint: entry.fingerprint,
    risk: entry.risk,
    cwd: call.cwd,
    run: call.run,
    resolvePath,
  }
  progress.access = access
  const judgement = await runtime.permissions.judge(request)
  const { decision, mode, risk } = judgement
  Object.assign(progress, { decision, mode, risk })
  return { entry, request, judgement }
}

async function run(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
  progress: Progress,
  inner: InnerCalls,
): Promise<ToolOutput> {
  const { entry, request, judgement } = prepared
  const { elicit } = call
  const opened = runtime.openFiles(call, judgement.permit, request.tool.name)
  const reported: Effect[] = []
  const live = presentProgress(runtime.redactor, call)
  progress.effects = opened.effects
  progress.permit = judgement.permit
  const most = Math.min(entry.tool.deadlineMs?.(request.input) ?? LIMITS.runMs, LIMITS.runMs)
  const limit = limitTime(call.signal, timeLeft(call.run, runtime.clock, most))
  const started = runtime.clock.elapsed()
  try {
    const context = toContext(runtime, call, prepared, opened, {
      signal: limit.signal,
      reportEffects: effects => reported.push(...effects),
      progress: live.write,
      call: each => inner.make(each, limit.signal),
      ...(elicit === undefined ? {} : { elicit: form => limit.pausedFor(() => elicit(form)) }),
      async keepChanges(changes) {
        const waited = progress.waitMs
        try {
          return await limit.pausedFor(() => keepChanges(runtime, call, prepared, progress, changes))
        } finally {
          progress.runMs -= progress.waitMs - waited
        }
      },
    })
    const work = entry.tool.run(request.input, context)
    const output = await Promise.race([work, limit.expired]).catch(async error => {
      // A tool that is aborted gets a moment to stop; what it changes until then belongs to this call.
      if (limit.signal.aborted)
        await Promise.race([work.catch(() => undefined), sleep(500, undefined, { ref: false })])
      throw error
    })
    runtime.registry.count(entry.provider, true, runtime.clock.elapsed() - started)
    return output
  } catch (error) {
    if (!(error instanceof ProviderUnavailable || error instanceof Pending))
      runtime.registry.count(entry.provider, false)
    throw error
  } finally {
    progress.runMs += runtime.clock.elapsed() - started
    limit.clear()
    live.end()
    await opened.close()
    if (reported.length > 0) progress.effects = [...opened.effects, ...reported]
  }
}

/** Tries a call without effect, for a person who wants to see first. It does not count as the call. */
export async function tryOut(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<string> {
  const { request, judgement } = prepared
  const opened = runtime.openFiles(call, judgement.permit, request.tool.name)
  try {
    const context = toContext(runtime, call, prepared, opened, {
      signal,
      reportEffects: () => undefined,
      progress: () => undefined,
      call: () => Promise.reject(new ToolError('failed', 'It was only tried.')),
      keepChanges: async () => ({ keep: false, reason: 'It was only tried.' }),
    })
    return (await request.tool.tryOut?.(request.input, context)) ?? ''
  } finally {
    await opened.close()
  }
}

function toContext(
  runtime: CallRuntime,
  call: Call,
  { request, judgement }: Prepared,
  { files }: CallFiles,
  own: Pick<ToolContext, 'signal' | 'reportEffects' | 'progress' | 'call' | 'keepChanges' | 'elicit'>,
): ToolContext {
  const subject = call.continues?.question.subject
  const context: ProcessContext = {
    callId: call.id,
    caller: call.caller,
    run: call.run,
    cwd: call.cwd,
    workspace: runtime.workspace,
    files,
    permit: judgement.permit,
    ...own,
    heldLayer: subject?.kind === 'changes' ? subject.layer : undefined,
  }
  return { ...context, processes: runtime.openProcesses(context, request.tool.name) }
}

function toResult(
  { redactor }: CallRuntime,
  call: Call,
  progress: Progress,
  failure: ToolError | undefined,
): CallResult {
  const error = failure === undefined ? null : presentError(redactor, failure)
  const { label, ...said }: Partial<ToolOutput> = progress.output ?? {}
  return {
    ok: error === null,
    call: call.id,
    number: progress.number,
    tool: progress.entry?.tool.name ?? presentName(redactor, call.tool),
    text: error?.message ?? '',
    data: redactor.value(failure?.data ?? null),
    ...said,
    error,
    ...(failure instanceof Pending ? { question: failure.question, part: failure.part } : {}),
    decision: presentDecision(redactor, progress, error),
    // A call that failed before its risk was known counts as high risk.
    risk: progress.risk ?? 'high',
    effects: toldEffects(progress.effects, progress.permit),
    label: label ?? labelOfFailure(redactor, progress),
    durationMs: progress.runMs,
    waitMs: progress.waitMs,
  }
}
