/** Bounds that hold for every call, whatever the configuration says. */
export const LIMITS = {
  /** Text of one call's input, in characters. */
  inputLength: 8 * 1024 * 1024,
  inputDepth: 64,
  /** Values (objects, arrays, strings, …) in one input: a flat bomb costs as much as a deep one. */
  inputValues: 200_000,
  /** Wall clock of one call's `access`, in milliseconds. */
  accessMs: 60_000,
  /** Wall clock of one call's `run`, in milliseconds; a tool may ask for less. */
  runMs: 15 * 60_000,
  /** Text of one result, in characters; tools with their own, smaller bounds stay below it. */
  resultLength: 1_000_000,
  /** Message and hint of one failure. */
  errorLength: 20_000,
  /** One image, as base64, and all of one result. */
  imageLength: 10 * 1024 * 1024,
  imagesLength: 20 * 1024 * 1024,
  /** Live output that is held back for the rest of its line, or of a private key. */
  progressHeld: 16_384,
  /** Live output of one call; the result has the rest, within its own limits. */
  progressLength: 10_000_000,
} as const
