/** The candidate that a misspelt word most likely meant, if any is near enough to be worth naming. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = (word.length <= 4 ? 1 : Math.max(2, Math.floor(word.length / 3))) + 1
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Letters changed, added, left out or swapped with their neighbour; given up once it is certain to reach `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  let before: number[] = []
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    let rowMinimum = i
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? limit) + 1 : limit
      const value = Math.min(substitution, swapped, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
      row.push(value)
      rowMinimum = Math.min(rowMinimum, value)
    }
    if (rowMinimum >= limit) return limit
    before = previous
    previous = row
  }
  return previous[b.length] ?? limit
}

/** Tools that agents know from elsewhere and that need none of their own here. */
const FOLDER_MAKERS = /^(?:(?:create|make)_(?:directory|dir)|create_folder|mkdir)$/

/** How to do what an unknown tool would, if one of the known ones does it. */
export function doneBy(name: string, known: (tool: string) => boolean): string | undefined {
  if (!FOLDER_MAKERS.test(name) || !known('write_file')) return undefined
  return "'write_file' creates missing folders on the way; for an empty one use run_command with mkdir -p."
}
