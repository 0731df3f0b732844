/** As much of a pipeline as says which of its panels feed which. */
export interface FeedingPipeline {
  readonly name: string
  readonly definition: { readonly step: readonly { readonly id: string; readonly panel?: string }[] } | null
  readonly edges: readonly { readonly from: string; readonly to: string }[]
}

export interface Feed {
  readonly from: string
  readonly to: string
  /** The pipelines in which it is so. */
  readonly label: string
}

/** Which panels get what another one says: directly, or through steps that are no panels. */
export function feedsOf(pipelines: readonly FeedingPipeline[]): Feed[] {
  const found = new Map<string, { from: string; to: string; names: Set<string> }>()
  for (const { name, definition, edges } of pipelines) {
    const panels = new Map((definition?.step ?? []).map(({ id, panel }) => [id, panel]))
    for (const [id, from] of panels) {
      if (from === undefined) continue
      for (const to of nextPanels(id, panels, edges)) {
        if (to === from) continue
        const key = `${from}\n${to}`
        const feed = found.get(key) ?? { from, to, names: new Set() }
        found.set(key, feed)
        feed.names.add(name)
      }
    }
  }
  return [...found.values()].map(({ from, to, names }) => ({ from, to, label: [...names].join(', ') }))
}

function nextPanels(
  step: string,
  panels: ReadonlyMap<string, string | undefined>,
  edges: FeedingPipeline['edges'],
): Set<string> {
  const seen = new Set<string>()
  const open = [step]
  const next = new Set<string>()
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { from, to } of edges) {
      if (from !== at || seen.has(to)) continue
      seen.add(to)
      const panel = panels.get(to)
      if (panel === undefined) open.push(to)
      else next.add(panel)
    }
  }
  return next
}
