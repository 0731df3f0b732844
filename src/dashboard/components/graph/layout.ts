export interface Placed {
  readonly id: string
  readonly x: number
  readonly y: number
}

const NODE = { width: 220, height: 76 } as const
const GAP = { x: 40, y: 60 } as const

export interface Way {
  readonly from: string
  readonly to: string
  /** It leads back to something earlier, and counts for nothing here. */
  readonly isLoop?: boolean
}

/** Every part below all that leads to it; parts of one layer side by side, near to what they come from. */
export function layout(ids: readonly string[], ways: readonly Way[]): Placed[] {
  const known = new Set(ids)
  const forward = ways.filter(({ from, to, isLoop = false }) => known.has(from) && known.has(to) && !isLoop)
  const layers = new Map<string, number>(ids.map(id => [id, 0]))
  // Longest paths; a cycle ends after as many rounds as there are parts.
  for (let round = 0; round < ids.length; round += 1) {
    let changed = false
    for (const { from, to } of forward) {
      const wanted = (layers.get(from) ?? 0) + 1
      if (wanted <= (layers.get(to) ?? 0) || wanted > ids.length) continue
      layers.set(to, wanted)
      changed = true
    }
    if (!changed) break
  }
  const byLayer = Map.groupBy(ids, id => layers.get(id) ?? 0)
  const columns = new Map<string, number>()
  const places: Placed[] = []
  for (const [layer, members] of [...byLayer].sort(([a], [b]) => a - b)) {
    const wish = (id: string): number => {
      const sources = forward.filter(({ to }) => to === id).map(({ from }) => columns.get(from) ?? 0)
      return sources.length === 0
        ? ids.indexOf(id)
        : sources.reduce((sum, each) => sum + each, 0) / sources.length
    }
    const ordered = members.toSorted((a, b) => wish(a) - wish(b) || ids.indexOf(a) - ids.indexOf(b))
    ordered.forEach((id, index) => {
      const column = index - (ordered.length - 1) / 2
      columns.set(id, column)
      places.push({ id, x: column * (NODE.width + GAP.x), y: layer * (NODE.height + GAP.y) })
    })
  }
  return places
}
