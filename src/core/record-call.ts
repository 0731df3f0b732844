import type { Call, CallResult, CallRuntime, Progress } from './call.ts'
import { ToolError, toToolError } from './errors.ts'
import { presentError } from './present.ts'
import { addLabel } from './run.ts'
import { withoutValues } from './stored-question.ts'
import type { AnyTool } from './tool.ts'

/** Written before anything runs. */
export function recordStarted(runtime: CallRuntime, call: Call): void {
  runtime.audit.record({
    type: 'call-started',
    call: call.id,
    run: call.run.id,
    tool: call.tool,
    input: recordedInput(runtime, call),
    inputDigest: runtime.digestInput(call.input),
    caller: call.caller,
    agent: call.run.authority.agent,
    cwd: call.cwd,
  })
}

/** The input without the values that its tool does not want on record; which there were is. */
function recordedInput(runtime: CallRuntime, { tool, input }: Call): unknown {
  const hidden = runtime.registry.candidates(tool).flatMap(entry => unrecordedNames(entry.tool))
  return typeof input !== 'object' || input === null || Array.isArray(input)
    ? input
    : withoutValues(input, hidden)
}

/** The parameters, and the other names that a caller may use for them. */
function unrecordedNames({ unrecorded = [], parameterAliases }: AnyTool): string[] {
  if (unrecorded.length === 0) return []
  const aliases = Object.entries(parameterAliases).filter(([, target]) =>
    unrecorded.includes(typeof target === 'string' ? target : target.to),
  )
  return [...unrecorded, ...aliases.map(([alias]) => alias)]
}

/** Every outcome, refusals too. */
export function recordFinished(
  runtime: CallRuntime,
  call: Call,
  progress: Progress,
  result: CallResult,
): void {
  const { entry, access, mode, effects } = progress
  const { tool, ok, error, decision, risk, label } = result
  runtime.audit.record({
    type: 'call-finished',
    call: call.id,
    run: call.run.id,
    tool,
    agent: call.run.authority.agent,
    provider: entry?.provider.id,
    fingerprint: entry?.fingerprint,
    access,
    mode,
    ok,
    error: error === null ? undefined : { code: error.code, message: error.message },
    decision,
    risk,
    effects,
    label: label ?? undefined,
    runMs: Math.round(progress.runMs * 1000) / 1000,
    waitMs: Math.round(progress.waitMs),
  })
}

/** Labels of a run must not get lost: a result whose label cannot be saved is withheld. */
export function keepLabel({ redactor }: CallRuntime, { run }: Call, result: CallResult): CallResult {
  if (result.label === null) return result
  try {
    addLabel(run, result.label)
    return result
  } catch (cause) {
    const text = `The result is withheld because its origin could not be recorded: ${toToolError(cause).message}`
    const error = presentError(redactor, new ToolError('failed', text))
    const { images: _, verdict: _verdict, ...rest } = result
    return { ...rest, ok: false, text, data: null, error }
  }
}

/** What to say when the log cannot be written. */
export function unrecorded(consequence: string, error: unknown): ToolError {
  const said = error instanceof Error ? error.message : String(error)
  const problem = error instanceof ToolError ? said : `The audit log cannot be written: ${said}`
  return new ToolError('failed', `${problem}, so ${consequence}.`, {
    hint: 'Check that .kogu/audit and the state folder can be written to and that the disk is not full.',
    cause: error,
  })
}

/** A full disk stops the call and its record alike: whether something happened must not be left open. */
export function whatBecameOf({ permit, effects }: Progress, { ok }: CallResult): string {
  if (permit === undefined) return 'It did not run'
  if (ok) return 'It did run'
  return effects.length === 0 ? 'It failed and changed nothing' : 'It failed after it had changed something'
}
