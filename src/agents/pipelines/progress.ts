import type { Verdict } from '../../core/tool.ts'
import { holds } from './condition.ts'
import { type Graph, stepsBetween } from './graph.ts'
import type { Edge, Pipeline, Step } from './pipeline.ts'
import { transform } from './transform.ts'
import type { StepValue } from './values.ts'

// How far a run of a pipeline is, as plain data that can be written down after every step. Pure functions say what is
// next; who runs the steps and where this is kept is somebody else's business.

export interface Progress {
  readonly steps: Readonly<Record<string, StepProgress>>
  /** How often each loop went back, by `from>to`. */
  readonly loops: Readonly<Record<string, number>>
  /** What steps of a loop said in the round before: whoever tries again knows what went wrong. */
  readonly before?: Readonly<Record<string, StepValue>> | undefined
}

interface Tries {
  readonly attempts: number
  /** How often a loop has put it back to the beginning. */
  readonly round?: number | undefined
  /** How often the vendor's rate limit was waited for. */
  readonly waits?: number | undefined
  /** The run of a panel or of another pipeline, so that it goes on instead of beginning again. */
  readonly run?: string | undefined
  /** Somebody has let it begin. */
  readonly opened?: true | undefined
  /** Of a step for each item of a list: what was said about those that are done. */
  readonly items?: readonly StepValue[] | undefined
}

export type StepProgress =
  | (Tries & {
      readonly status: 'waiting'
      readonly notBefore?: number | undefined
      readonly gate?: true | undefined
    })
  /** Begun, and its end is not known yet. After a crash it may have happened or not. */
  | (Tries & { readonly status: 'running' })
  /** `error`: it failed, and says its `default` instead. `verdict`: it ran, and its answer is no, or it could not tell. */
  | (Tries &
      StepValue & {
        readonly status: 'done'
        readonly error?: string | undefined
        readonly verdict?: Verdict | undefined
      })
  | (Tries & { readonly status: 'skipped'; readonly reason: string })
  | (Tries & { readonly status: 'failed'; readonly error: string })

export type StepOutcome =
  | (StepValue & { readonly ok: true; readonly run?: string; readonly verdict?: Verdict })
  | {
      readonly ok: false
      readonly error: string
      readonly retryable: boolean
      /** The vendor said 429: waiting helps, trying something else does not. */
      readonly rateLimited?: boolean
      readonly run?: string
    }

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
  if (pipeline.steps.some(({ id }) => isOpen(id))) return 'running'
  return Object.values(progress.steps).some(saysNo) ? 'failed' : 'completed'
}

/** The step ran, and what it found is that something is wrong. */
function saysNo(step: StepProgress | undefined): boolean {
  return step?.status === 'done' && step.verdict?.is === 'failed'
}

/** Why a run that has ended failed: the first step that failed or said no, and its words. */
export function whyFailed({ steps }: Progress): { step: string; why: string } | undefined {
  for (const [step, own] of Object.entries(steps)) {
    if (own.status === 'failed') return { step, why: own.error }
    if (own.status === 'done' && own.verdict?.is === 'failed') return { step, why: own.verdict.why }
  }
  return undefined
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
    else steps[id] = { status: 'skipped', attempts: own.attempts, round: own.round, reason }
  }
  return { progress: { ...given, steps }, ready }
}

const MOST_WAITS = 5
const LONGEST_WAIT_S = 90

/** Takes in how a step ended: a failed one waits for its next try, a loop puts its steps back to waiting. */
export function finishStep(
  pipeline: Pipeline,
  graph: Graph,
  progress: Progress,
  { id, outcome, now }: { id: string; outcome: StepOutcome; now: number },
): Progress {
  const { attempts: before = 0, round, waits = 0, items, opened } = progress.steps[id] ?? {}
  const run = { round, ...(outcome.run === undefined ? {} : { run: outcome.run }) }
  // A list goes on behind its items that are done, and nobody is asked again whether it may.
  const kept = { ...(items === undefined ? {} : { items }), ...(opened === undefined ? {} : { opened }) }
  const set = (next: StepProgress): Progress => withStep(progress, id, next)
  if (!outcome.ok) {
    if (outcome.rateLimited === true && waits < MOST_WAITS) {
      const seconds = Math.min(15 * (waits + 1), LONGEST_WAIT_S)
      const notBefore = now + seconds * 1_000
      return set({ status: 'waiting', attempts: before, waits: waits + 1, notBefore, ...run, ...kept })
    }
    const { tries, delayMs } = triesOf(pipeline, graph, id)
    if (outcome.retryable && before < tries)
      return set({ status: 'waiting', attempts: before + 1, round, waits, notBefore: now + delayMs, ...kept })
    const failed = { attempts: before + 1, error: outcome.error, ...run }
    const instead = pipeline.steps.find(step => step.id === id)?.default
    if (instead === undefined) return set({ status: 'failed', ...failed })
    return goBack(graph, set({ status: 'done', ...failed, ...transform({}, instead) }), id, now)
  }
  const { text, data, untrusted, verdict } = outcome
  const value = { text, data, ...(untrusted === undefined ? {} : { untrusted }) }
  const done = { status: 'done', attempts: before + 1, ...value, ...run } as const
  const again = goBack(graph, set(done), id, now)
  if (again.steps[id]?.status !== 'done') return again
  const said = verdict ?? exhaustedLoop(graph, again, id)
  if (said === undefined) return again
  // A step that may fail only warns.
  const mayFail = pipeline.steps.find(step => step.id === id)?.on_error === 'continue'
  return withStep(again, id, { ...done, verdict: mayFail ? { ...said, is: 'unknown' } : said })
}

/** A loop that has gone back as often as it may, and would have to go back again. */
function exhaustedLoop(graph: Graph, progress: Progress, id: string): Verdict | undefined {
  const own = progress.steps[id]
  const text = own?.status === 'done' ? own.text : ''
  const edge = (graph.loops.get(id) ?? []).find(({ when }) => when !== undefined && holds(when, text))
  if (edge === undefined) return undefined
  const times = edge.maxRetries === 1 ? 'once' : `${edge.maxRetries} times`
  const why = `It went back to '${edge.to}' ${times}, and would have to go back again.\n${text}`
  return { is: 'failed', why }
}

export function withStep(progress: Progress, id: string, step: StepProgress): Progress {
  return { ...progress, steps: { ...progress.steps, [id]: step } }
}

/** A loop whose condition holds: its steps wait again, and what they said is kept for the next round. */
function goBack(graph: Graph, progress: Progress, id: string, now: number): Progress {
  const own = progress.steps[id]
  const text = own?.status === 'done' ? own.text : ''
  for (const edge of graph.loops.get(id) ?? []) {
    const key = `${edge.from}>${edge.to}`
    const times = progress.loops[key] ?? 0
    if (times >= edge.maxRetries || (edge.when !== undefined && !holds(edge.when, text))) continue
    const again = stepsBetween(graph, edge.to, edge.from)
    const waiting = again.map(step => {
      const round = (progress.steps[step]?.round ?? 0) + 1
      const pause = step === edge.to && edge.retryDelayMs !== undefined
      return [
        step,
        {
          status: 'waiting',
          attempts: 0,
          round,
          ...(pause ? { notBefore: now + edge.retryDelayMs } : {}),
        },
      ] as const
    })
    const said = again.flatMap(step => {
      const done = progress.steps[step]
      if (done?.status !== 'done') return []
      const { text, data, untrusted } = done
      return [[step, { text, data, untrusted }] as const]
    })
    return {
      steps: { ...progress.steps, ...Object.fromEntries(waiting) },
      loops: { ...progress.loops, [key]: times + 1 },
      before: { ...progress.before, ...Object.fromEntries(said) },
    }
  }
  return progress
}

function triesOf({ steps }: Pipeline, { incoming }: Graph, id: string): { tries: number; delayMs: number } {
  const own = steps.find(step => step.id === id)?.retry ?? 0
  const edges = incoming.get(id) ?? []
  return {
    tries: Math.max(own, ...edges.map(edge => edge.maxRetries)),
    delayMs: Math.max(1_000, ...edges.map(edge => edge.retryDelayMs ?? 0)),
  }
}

/** With conditions one of them has to hold; without, one step before it has to be done. */
function reasonToSkip(edges: readonly Edge[], steps: Progress['steps']): string | null {
  if (edges.length === 0) return null
  const passes = ({ from, when }: Edge): boolean => {
    const before = steps[from]
    if (before?.status !== 'done') return false
    // Without a condition, a step that says no lets nothing follow.
    return when === undefined ? !saysNo(before) : holds(when, before.text)
  }
  const conditional = edges.filter(({ when }) => when !== undefined)
  if (conditional.length > 0)
    return conditional.some(passes) ? null : 'No condition that leads to it was met.'
  if (edges.some(passes)) return null
  const no = edges.find(({ from }) => saysNo(steps[from]))
  return no === undefined ? 'Nothing before it has an output.' : `'${no.from}' failed.`
}
