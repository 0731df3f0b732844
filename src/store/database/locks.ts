/** Advisory locks that all Kogus of a database share. In one place, because two with one number would block each other. */
export const LOCKS = {
  migration: 4_711_001,
  /** Numbers of events are given out in the order of commits. */
  events: 4_711_002,
  /** One worker at a time looks for work. */
  queue: 4_711_003,
  /** One engine at a time is launched. */
  launch: 4_711_004,
} as const
