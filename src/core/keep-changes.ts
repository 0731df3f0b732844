import { dirname } from 'node:path'
import { type Access, LEAVING_LINK, NOT_UNDOABLE } from './access.ts'
import type { Call, CallRuntime, Prepared, Progress } from './call.ts'
import type { JudgeRequest } from './decision.ts'
import type { Effect } from './effects.ts'
import { ToolError } from './errors.ts'
import { obtainApproval, Pending } from './obtain-approval.ts'
import type { KeptChanges, ProposedChanges } from './proposed-changes.ts'
import { reviewCall } from './review.ts'
import type { UndoLimits } from './tool.ts'

/**
 * Judges what a contained command did, by the same engine as the same changes made by a file tool, and asks where it says
 * so. Refusals are an answer, not a failure: the command has run, and what it printed is worth having.
 */
export async function keepChanges(
  runtime: CallRuntime,
  call: Call,
  { entry, request }: Prepared,
  progress: Progress,
  changes: ProposedChanges,
): Promise<KeptChanges> {
  const links = changes.leavingLinks.map(details => custom(LEAVING_LINK, details))
  const access = [...toAccess(changes.effects, runtime.undoLimits), ...links]
  const asked = aboutChanges(request, changes.digest, access)
  const ran = progress.decision
  const judgement = await runtime.permissions.judge(asked)
  const { outcome, ref, reason } = judgement.decision
  if (changes.ask === 'look') return { keep: outcome === 'allow', reason, byMode: ref?.id === 'mode-ask' }
  const isSettled = changes.ask === 'settled' && ref?.id === 'mode-ask'
  progress.decision = isSettled ? { ...judgement.decision, outcome: 'allow' } : judgement.decision
  progress.risk = judgement.risk
  try {
    const proposed = { ...changes, callInput: request.input }
    const about: Prepared = { entry, request: asked, judgement, changes: proposed }
    const answer = isSettled ? undefined : await obtainApproval(runtime, call, about, progress, {})
    await reviewCall(runtime, call, about, progress)
    // Whatever the line was thought to do, now it changes something.
    await call.beforeRun?.(about)
    const paths = answer !== undefined && 'paths' in answer ? answer.paths : undefined
    return { keep: true, paths }
  } catch (error) {
    // Waiting is no refusal.
    if (error instanceof Pending || !(error instanceof ToolError) || !REFUSALS.has(error.code)) throw error
    const { reason } = progress.decision
    const why = error.code === 'needs_approval' || error.code === 'expired' ? error.message : reason
    progress.risk = 'low'
    if (ran !== undefined)
      progress.decision = { ...ran, reason: `It ran contained. Its changes were not kept: ${why}` }
    return { keep: false, reason: why }
  }
}

/** What is judged when a line has run: no longer the line, but what it did. */
export function aboutChanges(request: JudgeRequest, digest: string, access: readonly Access[]): JudgeRequest {
  return {
    ...request,
    // An answer that is remembered for exactly this is for exactly these changes, not for the line.
    input: { ...request.input, changes: digest },
    access,
    risk: 'high',
    // Layers hold real paths: a link among the changes is changed itself.
    resolvePath: path => ({ real: path, existing: path, missing: [] }),
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['denied', 'forbidden', 'needs_approval', 'expired'])

/** What a file tool would have said of each of them. */
function toAccess(effects: readonly Effect[], { fileBytes }: UndoLimits): Access[] {
  const created = effects.filter(({ change }) => change === 'created')
  const parents = new Set(created.map(({ path }) => dirname(path)))
  return effects.flatMap(({ change, entry, path, before }): Access[] => {
    // File tools make folders on the way, which nobody is asked about; an empty one is a change of its own.
    if (change === 'created' && entry === 'directory' && parents.has(path)) return []
    const kind = change === 'deleted' ? 'file_delete' : 'file_write'
    if (entry !== 'file' || (before?.size ?? 0) <= fileBytes) return [{ kind, path }]
    const details = `${path} (${before?.size} bytes) is too large to be kept for undo.`
    return [{ kind, path }, custom(NOT_UNDOABLE, details)]
  })
}

function custom(name: string, details: string): Access {
  return { kind: 'custom', name, details }
}
