import { setTimeout as sleep } from 'node:timers/promises'
import type { RunEvent } from './events.ts'
import {
  addUsage,
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelRequest,
  type ModelResponse,
  NO_USAGE,
} from './model.ts'

/** What may be over in a moment. */
const PASSING: ReadonlySet<ModelErrorKind> = new Set(['unavailable', 'rate_limited'])
const MOST_ATTEMPTS = 6
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000
/** A vendor that asks for longer is not waited for: the person should know. */
const LONGEST_ASKED_MS = 120_000

/**
 * Repeats what is worth another try, with growing pauses; a vendor's own Retry-After counts for more. What answers that broke
 * off have used is part of what the whole one has used, or of the error when there is none.
 */
export async function withRetries(
  model: Model,
  request: ModelRequest,
  { emit, signal }: { emit: (event: RunEvent) => void; signal: AbortSignal },
): Promise<ModelResponse> {
  let lost = NO_USAGE
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await model.respond(request)
      return { ...response, usage: addUsage(response.usage, lost) }
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      lost = addUsage(lost, error.usage)
      if (error.kind !== 'cancelled') emit(toEvent(model, error))
      const waitMs = error.retryAfterMs ?? backOff(attempt)
      if (!PASSING.has(error.kind) || attempt === MOST_ATTEMPTS || waitMs > LONGEST_ASKED_MS)
        throw Object.assign(error, { usage: lost })
      emit({ type: 'step.retry', reason: error.message, attempt, waitMs })
      await sleep(waitMs, undefined, { signal }).catch(() => {
        throw Object.assign(new ModelError('cancelled', 'The request was cancelled.'), { usage: lost })
      })
    }
  }
}

function toEvent({ id, provider }: Model, { kind, message, retryAfterMs }: ModelError): RunEvent {
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs }
  return { type: 'model.failed', provider, model: id, kind, message, ...asked }
}

/** With some chance in it: many runs that met the same overload must not come back at the same moment. */
function backOff(attempt: number): number {
  const full = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS)
  return Math.round(full * (0.5 + Math.random() / 2))
}
