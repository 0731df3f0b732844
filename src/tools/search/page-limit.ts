/** Text of one result, as with read_file; the rest comes with the next offset. */
export const MOST_BYTES = 50 * 1024

/** How many of the first entries, each on a line of its own, fit into one result: at least one, so that paging moves on. */
export function countFitting(entries: readonly string[]): number {
  let bytes = 0
  for (const [index, entry] of entries.entries()) {
    bytes += Buffer.byteLength(entry) + 1
    if (bytes > MOST_BYTES) return Math.max(1, index)
  }
  return entries.length
}
