/** The same text for the same value, whatever the order in which its keys were written: for digests. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value))
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  // Defines each key, so that `__proto__` stays data.
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]))
}
