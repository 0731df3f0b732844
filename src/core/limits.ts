/** Bounds that hold for every call, whatever the configuration says. */
export const LIMITS = {
  /** Text of one call's input, in characters. */
  inputLength: 8 * 1024 * 1024,
  inputDepth: 64,
  /** Values (objects, arrays, strings, …) in one input: a flat bomb costs as much as a deep one. */
  inputValues: 200_000,
  /** Wall clock of one call's `run`, in milliseconds; a tool may ask for less. */
  runMs: 15 * 60_000,
  /** Text of one result, in characters; tools with their own, smaller bounds stay below it. */
  resultLength: 1_000_000,
  /** Message and hint of one failure. */
  errorLength: 20_000,
  /** One image, as base64. */
  imageLength: 10 * 1024 * 1024,
  /** Live output without a line break that is held back for the rest of its line. */
  progressLine: 4096,
} as const
