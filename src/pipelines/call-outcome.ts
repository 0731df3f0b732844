import type { StepOutcome } from '../agents/pipelines/progress.ts'
import type { CallResult } from '../core/call.ts'

/** As much of a call's result as a step needs. */
export type Called = Pick<CallResult, 'ok' | 'text' | 'data' | 'error' | 'label' | 'verdict'>

/** What was refused is not tried again: a second try would only ask again. */
export function callOutcome({ ok, text, data, error, label, verdict }: Called): StepOutcome {
  const untrusted = label?.trusted === false ? { untrusted: label.source ?? label.origin } : {}
  if (ok) return { ok: true, text, data, ...untrusted, ...(verdict === undefined ? {} : { verdict }) }
  const retryable = error?.code === 'failed' || error?.code === 'timeout' || error?.code === 'conflict'
  const message = error?.message ?? text
  return { ok: false, error: message, retryable }
}
