import type { Bar } from '../../components/bar-chart.tsx'

export interface Piece {
  readonly bar: string
  readonly key: string
  readonly value: number
}

/** A chart has so many patterns. */
const MOST_KEYS = 6

/** One bar for each name, stacked by key; the smallest keys of many become one. The largest key is at the bottom. */
export function stack(
  names: readonly string[],
  pieces: readonly Piece[],
  others: string,
): { bars: Bar[]; keys: string[] } {
  const totals = new Map<string, number>()
  for (const { key, value } of pieces) totals.set(key, (totals.get(key) ?? 0) + value)
  const ordered = [...totals].sort((a, b) => b[1] - a[1]).map(([key]) => key)
  const kept = new Set(ordered.length > MOST_KEYS ? ordered.slice(0, MOST_KEYS - 1) : ordered)
  const byBar = Map.groupBy(pieces, ({ bar }) => bar)
  const bars = names.map(label => {
    const sums = new Map<string, number>()
    for (const { key, value } of byBar.get(label) ?? []) {
      const shown = kept.has(key) ? key : others
      sums.set(shown, (sums.get(shown) ?? 0) + value)
    }
    return { label, parts: [...sums].map(([key, value]) => ({ key, value })) }
  })
  return { bars, keys: [...new Set([...kept, ...(kept.size < ordered.length ? [others] : [])])] }
}
