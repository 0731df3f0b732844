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
export function toGraph(pipeline: Pipeline): Graph {
  const { steps, edges } = pipeline
  const isLoop = loopsIn(pipeline)
  const forward = edges.filter(edge => !isLoop(edge))
  const incoming = Map.groupBy(forward, ({ to }) => to)
  const outgoing = Map.groupBy(forward, ({ from }) => from)
  const waitsFor = new Map(steps.map(({ id }) => [id, incoming.get(id)?.length ?? 0]))
  const order = steps.map(({ id }) => id).filter(id => waitsFor.get(id) === 0)
  // Grows while it is walked through.
  for (const id of order) {
    for (const { to } of outgoing.get(id) ?? []) {
      const left = (waitsFor.get(to) ?? 0) - 1
      waitsFor.set(to, left)
      if (left === 0) order.push(to)
    }
  }
  const ordered = new Set(order)
  return {
    order,
    incoming,
    loops: Map.groupBy(edges.filter(isLoop), ({ from }) => from),
    cyclic: steps.map(({ id }) => id).filter(id => !ordered.has(id)),
  }
}

/** The steps that run again when a loop goes back to `start`: it and all that follow it up to `end`. */
export function stepsBetween({ incoming, order }: Graph, start: string, end: string): string[] {
  const before = reachable(end, id => (incoming.get(id) ?? []).map(({ from }) => from))
  const after = new Set([start])
  for (const id of order) if (incoming.get(id)?.some(({ from }) => after.has(from))) after.add(id)
  return order.filter(id => after.has(id) && before.has(id))
}

/** Steps of every loop that a step is part of: it can name what they said in the round before. */
export function loopMates(graph: Graph): (id: string) => Set<string> {
  const loops = [...graph.loops.values()].flat().map(({ from, to }) => new Set(stepsBetween(graph, to, from)))
  return id => new Set(loops.filter(steps => steps.has(id)).flatMap(steps => [...steps]))
}

/**
 * Whether an edge with `max_retries` leads back to a step that leads to it. Where all edges of a circle have one, those that lead
 * up in the file are the way back.
 */
function loopsIn({ steps, edges }: Pipeline): (edge: Edge) => boolean {
  const place = new Map(steps.map(({ id }, index) => [id, index]))
  const isUp = ({ from, to }: Edge): boolean => (place.get(to) ?? 0) <= (place.get(from) ?? 0)
  const byPlain = closes(edges.filter(({ maxRetries }) => maxRetries === 0))
  const byOrder = closes(edges.filter(edge => edge.maxRetries === 0 || !isUp(edge)))
  return edge => edge.maxRetries > 0 && (byPlain(edge) || (isUp(edge) && byOrder(edge)))
}

/** Whether an edge makes a circle with these. Each way is walked once: a file may name many. */
function closes(edges: readonly Edge[]): (edge: Edge) => boolean {
  const outgoing = Map.groupBy(edges, ({ from }) => from)
  const known = new Map<string, Set<string>>()
  return ({ from, to }) => {
    const found = known.get(to) ?? reachable(to, each => (outgoing.get(each) ?? []).map(edge => edge.to))
    known.set(to, found)
    return found.has(from)
  }
}

function reachable(start: string, next: (id: string) => readonly string[]): Set<string> {
  const found = new Set([start])
  for (const id of found) for (const each of next(id)) found.add(each)
  return found
}
