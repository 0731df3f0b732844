import { holds } from './condition.ts'
import { type Graph, stepsBetween } from './graph.ts'
import type { Edge, Pipeline, Step } from './pipeline.ts'

// How far a run of a pipeline is, as plain data that can be written down after every step. Pure functions say what is
// next; who runs the steps and where this is kept is somebody else's business.

export interface Progress {
  readonly steps: Readonly<Record<string, StepProgress>>
  /** How often each loop went back, by `from>to`. */
  readonly loops: Readonly<Record<string, number>>
}

export type StepProgress =
  | { readonly status: 'waiting'; readonly attempts: number; readonly notBefore?: number }
  /** Begun, and its end is not known yet. After a crash it may have happened or not. */
  | { readonly status: 'running'; readonly attempts: number; readonly run?: string }
  | { readonly status: 'done'; readonly attempts: number; readonly text: string; readonly data: unknown }
  | { readonly status: 'skipped'; readonly attempts: number; readonly reason: string }
  | { readonly status: 'failed'; readonly attempts: number; readonly error: string }

export type StepOutcome =
  | { readonly ok: true; readonly text: string; readonly data: unknown }
  | { readonly ok: false; readonly error: string; readonly retryable: boolean }

export type PipelineStatus = 'running' | 'completed' | 'failed'

export function startProgress({ steps }: Pipeline): Progress {
  return {
    steps: Object.fromEntries(steps.map(({ id }) => [id, { status: 'waiting', attempts: 0 }])),
    loops: {},
  }
}

export function statusOf(pipeline: Pipeline, progress: Progress): PipelineStatus {
  const stopped = pipeline.steps.some(
    step => step.on_error === 'stop' && progress.steps[step.id]?.status === 'failed',
  )
  if (stopped) return 'failed'
  const isOpen = (id: string): boolean => ['waiting', 'running'].includes(progress.steps[id]?.status ?? '')
  return pipeline.steps.some(({ id }) => isOpen(id)) ? 'running' : 'completed'
}

/** Marks steps whose conditions do not hold as skipped, and says which can run now. */
export function nextSteps(
  pipeline: Pipeline,
  graph: Graph,
  given: Progress,
): { progress: Progress; ready: Step[] } {
  if (statusOf(pipeline, given) !== 'running') return { progress: given, ready: [] }
  const steps = { ...given.steps }
  const ready: Step[] = []
  for (const id of graph.order) {
    const own = steps[id]
    const step = pipeline.steps.find(each => each.id === id)
    if (own?.status !== 'waiting' || step === undefined) continue
    const edges = graph.incoming.get(id) ?? []
    const isOpen = ({ from }: Edge): boolean => ['waiting', 'running'].includes(steps[from]?.status ?? '')
    if (edges.some(isOpen)) continue
    const reason = reasonToSkip(edges, steps)
    if (reason === null) ready.push(step)
    else steps[id] = { status: 'skipped', attempts: own.attempts, reason }
  }
  return { progress: { ...given, steps }, ready }
}

/** Takes in how a step ended: a failed one waits for its next try, a loop puts its steps back to waiting. */
export function finishStep(
  pipeline: Pipeline,
  graph: Graph,
  progress: Progress,
  { id, outcome, now }: { id: string; outcome: StepOutcome; now: number },
): Progress {
  const attempts = (progress.steps[id]?.attempts ?? 0) + 1
  const set = (next: StepProgress): Progress => ({ ...progress, steps: { ...progress.steps, [id]: next } })
  if (!outcome.ok) {
    const { tries, delayMs } = triesOf(pipeline, graph, id)
    if (outcome.retryable && attempts <= tries)
      return set({ status: 'waiting', attempts, notBefore: now + delayMs })
    return set({ status: 'failed', attempts, error: outcome.error })
  }
  return goBack(graph, set({ status: 'done', attempts, text: outcome.text, data: outcome.data }), id)
}

function goBack(graph: Graph, progress: Progress, id: string): Progress {
  const own = progress.steps[id]
  const text = own?.status === 'done' ? own.text : ''
  for (const edge of graph.loops.get(id) ?? []) {
    const key = `${edge.from}>${edge.to}`
    const times = progress.loops[key] ?? 0
    if (times >= edge.maxRetries || (edge.when !== undefined && !holds(edge.when, text))) continue
    const again = stepsBetween(graph, edge.to, edge.from)
    const waiting = again.map(step => [step, { status: 'waiting', attempts: 0 }] as const)
    return {
      steps: { ...progress.steps, ...Object.fromEntries(waiting) },
      loops: { ...progress.loops, [key]: times + 1 },
    }
  }
  return progress
}

function triesOf({ steps }: Pipeline, { incoming }: Graph, id: string): { tries: number; delayMs: number } {
  const own = steps.find(step => step.id === id)?.retry ?? 0
  const edges = incoming.get(id) ?? []
  return {
    tries: Math.max(own, ...edges.map(edge => edge.maxRetries)),
    delayMs: Math.max(1_000, ...edges.map(edge => edge.retryDelayMs)),
  }
}

/** With conditions one of them has to hold; without, one step before it has to be done. */
function reasonToSkip(edges: readonly Edge[], steps: Progress['steps']): string | null {
  if (edges.length === 0) return null
  const passes = ({ from, when }: Edge): boolean => {
    const before = steps[from]
    return before?.status === 'done' && (when === undefined || holds(when, before.text))
  }
  const conditional = edges.filter(({ when }) => when !== undefined)
  if (conditional.length > 0) return conditional.some(passes) ? null : 'No condition on the way to it holds.'
  return edges.some(passes) ? null : 'Nothing before it has an output.'
}
