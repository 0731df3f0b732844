import type { Call, CallRuntime, Prepared, Progress } from './call.ts'
import { ToolError } from './errors.ts'

/** Ends with a decision that allows the call, or throws. */
export async function obtainApproval(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
  progress: Progress,
  tryOut: (signal: AbortSignal) => Promise<string>,
): Promise<void> {
  const { request, judgement } = prepared
  const { decision } = judgement
  if (decision.outcome === 'allow') return
  if (decision.outcome === 'deny') {
    throw new ToolError(judgement.hard ? 'forbidden' : 'denied', decision.reason, {
      hint: judgement.hard
        ? 'This limit cannot be approved away.'
        : `Decided by ${decision.ref?.id ?? decision.by}; see: kogu explain ${request.tool.name}`,
    })
  }
  const started = runtime.clock.elapsed()
  const question = {
    callId: call.id,
    runId: call.run.id,
    tool: request.tool,
    input: request.input,
    cwd: judgement.cwd,
    judgement,
    ...previewOf(runtime, call, prepared),
    ...(request.tool.tryOut === undefined ? {} : { tryOut: () => tryOut(call.signal) }),
  }
  const answer = await call.run.approver.ask(question, call.signal)
  progress.waitMs += runtime.clock.elapsed() - started
  if (call.signal.aborted) throw new ToolError('cancelled', 'The call was cancelled before anybody answered.')
  if (answer.kind === 'unavailable') {
    throw new ToolError('needs_approval', `${decision.reason} Nobody could be asked: ${answer.reason}.`, {
      hint: `Allow it once with --yes-once, or with a rule; see: kogu explain ${request.tool.name}`,
    })
  }
  if (answer.kind === 'expired') {
    progress.decision = { ...decision, outcome: 'deny', by: 'timeout', reason: 'Nobody answered in time.' }
    throw new ToolError('expired', 'Nobody answered in time, so the call was not run.')
  }
  progress.decision = await runtime.permissions.settle(request, judgement, answer)
  if (answer.kind === 'session' || answer.kind === 'permanent' || answer.kind === 'deny-permanently') {
    const label =
      'grant' in answer ? judgement.preview?.grants.find(offer => offer.id === answer.grant)?.label : null
    const details = { call: call.id, answer: answer.kind, grant: label ?? null, user: answer.user }
    runtime.audit.record({ type: 'note', action: 'answer-remembered', details })
  }
  if (progress.decision.outcome !== 'allow') throw new ToolError('denied', progress.decision.reason)
}

/** A preview that fails is no reason not to ask: the person sees the input itself. */
function previewOf(runtime: CallRuntime, call: Call, { request }: Prepared): { preview?: string } {
  try {
    const { receipts } = call.run
    const preview = request.tool.preview?.(request.input, {
      cwd: call.cwd,
      workspace: runtime.workspace,
      receipts,
    })
    return preview === undefined ? {} : { preview }
  } catch {
    // For example a file that cannot be read; the call itself will say so.
    return {}
  }
}
