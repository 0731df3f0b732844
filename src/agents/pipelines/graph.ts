import type { Edge, Pipeline } from './pipeline.ts'

export interface Graph {
  /** Step ids so that every step stands behind what it depends on. */
  readonly order: readonly string[]
  /** Edges that lead on, by their target. */
  readonly incoming: ReadonlyMap<string, readonly Edge[]>
  /** Edges back to an earlier step: explicit retry loops, by their source. */
  readonly loops: ReadonlyMap<string, readonly Edge[]>
  /** Steps that lie on a cycle without a limit; a pipeline with any of them cannot run. */
  readonly cyclic: readonly string[]
}

/**
 * Orders the steps (Kahn). An edge with `max_retries` that closes a cycle is a loop and does not count for the order; every
 * other cycle is an error.
 */
export function toGraph({ steps, edges }: Pipeline): Graph {
  const forward = edges.filter(edge => !isLoop(edge, edges))
  const waitsFor = new Map(steps.map(({ id }) => [id, forward.filter(({ to }) => to === id).length]))
  const ready = steps.map(({ id }) => id).filter(id => waitsFor.get(id) === 0)
  const order: string[] = []
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    order.push(id)
    for (const { from, to } of forward) {
      if (from !== id) continue
      const left = (waitsFor.get(to) ?? 0) - 1
      waitsFor.set(to, left)
      if (left === 0) ready.push(to)
    }
  }
  return {
    order,
    incoming: Map.groupBy(forward, ({ to }) => to),
    loops: Map.groupBy(
      edges.filter(edge => isLoop(edge, edges)),
      ({ from }) => from,
    ),
    cyclic: steps.map(({ id }) => id).filter(id => !order.includes(id)),
  }
}

/** The steps that run again when a loop goes back to `start`: it and all that follow it up to `end`. */
export function stepsBetween({ incoming, order }: Graph, start: string, end: string): string[] {
  const after = new Set([start])
  for (const id of order) if (incoming.get(id)?.some(({ from }) => after.has(from))) after.add(id)
  const before = new Set([end])
  for (const id of order.toReversed())
    if (order.some(next => before.has(next) && incoming.get(next)?.some(({ from }) => from === id)))
      before.add(id)
  return order.filter(id => after.has(id) && before.has(id))
}

/** Steps of every loop that a step is part of: it can name what they said in the round before. */
export function loopMates(graph: Graph, id: string): Set<string> {
  const loops = [...graph.loops.values()].flat().map(({ from, to }) => stepsBetween(graph, to, from))
  return new Set(loops.filter(steps => steps.includes(id)).flat())
}

function isLoop(edge: Edge, edges: readonly Edge[]): boolean {
  return (
    edge.maxRetries > 0 &&
    reaches(
      edge.to,
      edge.from,
      edges.filter(other => other !== edge && other.maxRetries === 0),
    )
  )
}

function reaches(from: string, to: string, edges: readonly Edge[]): boolean {
  const seen = new Set([from])
  const open = [from]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true
    for (const edge of edges) {
      if (edge.from !== id || seen.has(edge.to)) continue
      seen.add(edge.to)
      open.push(edge.to)
    }
  }
  return false
}
