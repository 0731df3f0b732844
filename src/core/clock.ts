/** The time, handed to whatever dates or measures something, so that a test can hand in its own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds since an unknown moment. Never goes back, as the other may: for durations. */
  elapsed(): number
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() }
