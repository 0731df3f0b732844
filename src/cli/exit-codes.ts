import type { ErrorCode } from '../core/errors.ts'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  config: 3,
  /** No key, or the vendor refuses it. */
  credentials: 4,
  /** A vendor or the network, after all retries. */
  unreachable: 5,
  denied: 6,
  needsPerson: 7,
  limit: 8,
  notFound: 9,
  /** Something has changed since: what was approved, or what somebody else works on. */
  conflict: 10,
  interrupted: 130,
  terminated: 143,
} as const

/** What a call's outcome means to a script. */
export const EXIT_OF_ERROR: Readonly<Record<ErrorCode, number>> = {
  unknown_tool: EXIT.usage,
  invalid_input: EXIT.usage,
  not_enabled: EXIT.denied,
  forbidden: EXIT.denied,
  denied: EXIT.denied,
  expired: EXIT.denied,
  stale: EXIT.conflict,
  needs_approval: EXIT.needsPerson,
  not_found: EXIT.notFound,
  conflict: EXIT.conflict,
  timeout: EXIT.failed,
  failed: EXIT.failed,
  cancelled: EXIT.interrupted,
}
