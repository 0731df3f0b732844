export const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

export const DURATION = /^(\d+(\.\d+)?(ms|s|m|h|d|w))+$/

/** `"90s"`, `"1h30m"`, `"7d"` in milliseconds; undefined when it is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)) {
    total += Number(amount) * (MILLISECONDS[unit ?? ''] ?? Number.NaN)
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : undefined
}
