// What both sides of an isolate's channel agree on, beside the frames themselves.

/** The one argument of the process, as JSON. */
export interface Settings {
  /** Path of isolated-vm's binary. */
  readonly addon: string
  readonly memoryMb: number
}

export interface Failure {
  /** `threw`: the code did; the others are limits. */
  readonly reason: 'threw' | 'memory' | 'output'
  readonly name: string
  readonly message: string
  readonly logs?: readonly string[]
}

export const LIMITS = {
  /** Of the result, in characters of JSON. */
  outputBytes: 1024 * 1024,
  /** Of one frame: a result, what was logged, or the answer to a request. */
  frameBytes: 16 * 1024 * 1024,
  /** Of all that one call logs. */
  logBytes: 64 * 1024,
  /** Of what it threw, in characters. */
  message: 8_000,
  /** Timers, and requests to the host, that wait at the same time. */
  pending: 1_000,
  /** Requests to the host of one call. */
  requests: 1_000,
  /** Longer timers end with the call anyway. */
  timerMs: 2 ** 31 - 1,
} as const

/** Its last words on standard error when V8 ran out of memory. */
export const OUT_OF_MEMORY = 'out of memory'
