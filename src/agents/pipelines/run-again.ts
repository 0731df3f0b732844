import { ToolError } from '../../core/errors.ts'
import { type Graph, toGraph } from './graph.ts'
import type { Pipeline, Step } from './pipeline.ts'
import type { Progress, StepProgress } from './progress.ts'

export interface Again {
  readonly step: string
  /** `from`: it and everything behind it. `only`: it alone, and what follows it by `auto_chain`. */
  readonly extent: 'from' | 'only'
}

const NOTHING: Progress = { steps: {}, loops: {} }

/**
 * Begins in the middle: outputs of an earlier run, if there was one, stand for the steps before. `repeats`: what was done
 * already, in that run or in `older`, the ones that it continues; wholly or in part. `passedOver`: what would have come first.
 */
export function beginAgain(
  pipeline: Pipeline,
  before: Progress | undefined,
  { step, extent }: Again,
  older: readonly Progress[] = [],
): { progress: Progress; repeats: string[]; passedOver: Step[] } {
  if (!pipeline.steps.some(({ id }) => id === step))
    throw new ToolError('not_found', `The pipeline '${pipeline.name}' has no step '${step}'.`)
  const earlier = before ?? NOTHING
  const graph = toGraph(pipeline)
  const again = extent === 'from' ? behind(graph, step) : chained(graph, step, earlier)
  const missing = missingBefore(graph, again, earlier)
  if (missing.length > 0) {
    const where = before === undefined ? 'yet: the pipeline has not run' : 'in that run'
    const said = `${missing.join(', ')} ${missing.length === 1 ? 'has' : 'have'} no output ${where}`
    throw new ToolError('conflict', `'${step}' needs what stands before it, and ${said}.`, {
      hint: before === undefined ? 'Run all of it first.' : `Run from ${missing[0]}.`,
    })
  }
  const steps = pipeline.steps.map(({ id }): [string, StepProgress] => {
    if (again.has(id)) return [id, { status: 'waiting', attempts: 0 }]
    const kept = earlier.steps[id]
    if (kept?.status === 'done' || kept?.status === 'skipped') return [id, kept]
    return [id, { status: 'skipped', attempts: 0, reason: 'It is not part of this run.' }]
  })
  const repeats = pipeline.steps
    .map(({ id }) => id)
    .filter(id => again.has(id) && [earlier, ...older].some(each => hasBegun(id, each)))
  const leadsToIt = (id: string): boolean => [...behind(graph, id)].some(each => again.has(each))
  const passedOver = pipeline.steps.filter(({ id }) => !again.has(id) && leadsToIt(id))
  return { progress: { steps: Object.fromEntries(steps), loops: {} }, repeats, passedOver }
}

/** Also what waits: in the middle of its list, of its panel or pipeline, for its next try, or for the next round of a loop. */
function hasBegun(id: string, { steps }: Progress): boolean {
  const { status, attempts = 0, round = 0, run, items = [] } = steps[id] ?? {}
  if (status === 'done' || status === 'running' || status === 'failed') return true
  return attempts > 0 || round > 0 || run !== undefined || items.length > 0
}

function behind({ order, incoming }: Graph, step: string): Set<string> {
  const found = new Set([step])
  for (const id of order) if (incoming.get(id)?.some(({ from }) => found.has(from))) found.add(id)
  return found
}

/** A step follows by itself when an edge says so and everything else before it has an output. */
function chained({ order, incoming }: Graph, step: string, earlier: Progress): Set<string> {
  const found = new Set([step])
  for (const id of order) {
    const edges = incoming.get(id) ?? []
    const isChained = edges.some(({ from, autoChain }) => autoChain && found.has(from))
    const isReady = edges.every(({ from }) => found.has(from) || earlier.steps[from]?.status === 'done')
    if (isChained && isReady) found.add(id)
  }
  return found
}

function missingBefore({ incoming }: Graph, again: ReadonlySet<string>, { steps }: Progress): string[] {
  const needed = [...again].flatMap(id => incoming.get(id) ?? []).map(({ from }) => from)
  const isThere = (id: string): boolean => ['done', 'skipped'].includes(steps[id]?.status ?? '')
  return [...new Set(needed)].filter(id => !again.has(id) && !isThere(id))
}
