import { toToolError } from '../../core/errors.ts'
import { type Graph, loopMates, toGraph } from './graph.ts'
import type { Edge, Pipeline, Step } from './pipeline.ts'
import {
  finishStep,
  nextSteps,
  type PipelineStatus,
  type Progress,
  type StepOutcome,
  statusOf,
  withStep,
} from './progress.ts'
import { fillIn, type Scope, type StepValue } from './values.ts'

export interface PipelineRun {
  readonly pipeline: Pipeline
  readonly input: Readonly<Record<string, unknown>>
  /** What `{{run.…}}` stands for: the same when the run goes on later. */
  readonly about?: Readonly<Record<string, unknown>>
  readonly progress: Progress
}

/** Who does the work. Each may throw; only an outcome that says so is tried again. */
export interface PipelineWorkers {
  /** Undefined: the call waits for somebody's answer, and the pipeline stops here for now. */
  runTool(step: Step, input: Record<string, unknown>, attempt: string): Promise<StepOutcome | undefined>
  runPanel(order: PanelOrder): Promise<StepOutcome | undefined>
  readFolder(step: Step): Promise<StepOutcome>
  /** What a step hands over, shortened by a model. */
  summarize(edge: Edge, text: string): Promise<string>
  /** Whether somebody lets the step begin. */
  passGate(step: Step, input: unknown): Promise<boolean>
  /** Written down before a step begins and after it ended. */
  save(progress: Progress): Promise<void>
  wait(until: number): Promise<void>
  now(): number
  /** Panels at work at the same time. */
  readonly parallel: number
  readonly signal: AbortSignal
}

export interface PanelOrder {
  readonly step: Step
  readonly prompt: string
  readonly vars: Record<string, unknown>
  /** The run of an earlier try that goes on now. */
  readonly run: string | undefined
  /** Called with the id of a new run before it begins. */
  begun(run: string): Promise<void>
}

export interface PipelineEnd {
  readonly progress: Progress
  /** `waiting`: for a person. `stopped`: by a person; it can go on. */
  readonly status: PipelineStatus | 'waiting' | 'stopped'
}

/** Runs what can run until the pipeline has ended, was stopped, or waits for a person. */
export async function runPipeline(run: PipelineRun, workers: PipelineWorkers): Promise<PipelineEnd> {
  const { pipeline } = run
  const graph = toGraph(pipeline)
  const state = { progress: run.progress }
  const active = new Map<string, Promise<void>>()
  /** Steps that wait for somebody, whom this call does not meet any more. */
  const held = new Set<string>()
  const begin = async (step: Step): Promise<void> => {
    const outcome = await takeStep(step, { run, graph, state, workers })
    if (outcome === undefined) held.add(step.id)
    else
      state.progress = finishStep(pipeline, graph, state.progress, {
        ...{ id: step.id, outcome, now: workers.now() },
      })
    await workers.save(state.progress)
  }
  for (;;) {
    const next = nextSteps(pipeline, graph, state.progress)
    state.progress = next.progress
    for (const step of workers.signal.aborted ? [] : next.ready) {
      if (active.has(step.id) || held.has(step.id) || !mayBegin(step, pipeline, active, workers)) continue
      active.set(
        step.id,
        begin(step).finally(() => active.delete(step.id)),
      )
    }
    if (active.size === 0) break
    await Promise.race(active.values())
  }
  await workers.save(state.progress)
  const status = statusOf(pipeline, state.progress)
  if (status !== 'running') return { progress: state.progress, status }
  return { progress: state.progress, status: workers.signal.aborted ? 'stopped' : 'waiting' }
}

/** Panels work side by side; whatever acts by itself does so alone, in the order of the graph. */
function mayBegin(
  { panel }: Step,
  { steps }: Pipeline,
  active: ReadonlyMap<string, unknown>,
  { parallel }: PipelineWorkers,
): boolean {
  if (panel === undefined) return active.size === 0
  return active.size < parallel && steps.every(step => step.panel !== undefined || !active.has(step.id))
}

interface StepParts {
  readonly run: PipelineRun
  readonly graph: Graph
  readonly state: { progress: Progress }
  readonly workers: PipelineWorkers
}

/** Undefined: it waits for somebody, and stands as waiting again. */
async function takeStep(step: Step, parts: StepParts): Promise<StepOutcome | undefined> {
  const { state, workers } = parts
  const { id } = step
  const { attempts = 0, waits, run } = state.progress.steps[id] ?? {}
  const own = state.progress.steps[id]
  if (own?.status === 'waiting' && own.notBefore !== undefined) {
    await workers.wait(own.notBefore)
    if (workers.signal.aborted) return undefined
  }
  const tries = { attempts, ...(waits === undefined ? {} : { waits }) }
  const memory: { run?: string; gate?: true } = run === undefined ? {} : { run }
  const set = async (status: 'running' | 'waiting'): Promise<void> => {
    state.progress = withStep(state.progress, id, { status, ...tries, ...memory })
    await workers.save(state.progress)
  }
  await set('running')
  const outcome = await work(step, parts, {
    attempt: attemptOf(state.progress, id),
    run,
    stopAtGate: () => {
      memory.gate = true
    },
    begun: async started => {
      memory.run = started
      await set('running')
    },
  })
  if (outcome === undefined || workers.signal.aborted) {
    if (outcome?.ok === true) return outcome
    await set('waiting')
    return undefined
  }
  return outcome
}

/** Which try of which round of the loops it is: no two of a run are the same. */
export function attemptOf({ steps, loops }: Progress, id: string): string {
  const rounds = Object.values(loops).reduce((sum, times) => sum + times, 0)
  const { attempts = 0, waits = 0 } = steps[id] ?? {}
  return `${rounds}.${attempts + waits + 1}`
}

interface Attempt extends Pick<PanelOrder, 'run' | 'begun'> {
  readonly attempt: string
  stopAtGate(): void
}

async function work(
  step: Step,
  { run, graph, state, workers }: StepParts,
  { attempt, run: earlier, begun, stopAtGate }: Attempt,
): Promise<StepOutcome | undefined> {
  const pass = async (input: unknown): Promise<boolean> => {
    if (step.gate === undefined || earlier !== undefined || (await workers.passGate(step, input))) return true
    stopAtGate()
    return false
  }
  try {
    const scope = await scopeOf(step, { ...run, progress: state.progress }, graph, workers)
    if (step.tool !== undefined) {
      const input = fillIn(step.args, scope) as Record<string, unknown>
      return (await pass(input)) ? await workers.runTool(step, input, attempt) : undefined
    }
    if (step.panel !== undefined) {
      const vars = fillIn(step.vars, scope) as Record<string, unknown>
      const asked = step.prompt === undefined ? '' : String(fillIn(step.prompt, { ...scope, vars }))
      const prompt = [asked, injected(step, scope, graph)].filter(part => part !== '').join('\n\n')
      if (!(await pass(prompt))) return undefined
      return await workers.runPanel({ step, prompt, vars, run: earlier, begun })
    }
    if (step.folder !== undefined)
      return await workers.readFolder({ ...step, folder: String(fillIn(step.folder, scope)) })
    return { ok: true, text: String(fillIn(step.text ?? '', scope)), data: null }
  } catch (error) {
    return { ok: false, error: toToolError(error).message, retryable: false }
  }
}

const MOST_INJECTED = 180_000

/** What the steps right before it said, and in a loop what went wrong, for a panel that does not pick values by name. */
function injected({ id, vars, prompt = '' }: Step, { steps }: Scope, graph: Graph): string {
  if (Object.keys(vars).length > 0 || prompt.includes('{{steps.')) return ''
  const back = [...graph.loops.values()].flat().filter(({ to }) => to === id)
  const sources = new Set([...(graph.incoming.get(id) ?? []), ...back].map(({ from }) => from))
  const parts = [...sources].flatMap(from => {
    const text = steps[from]?.text ?? ''
    return text === '' ? [] : [`--- Output of step ${from} ---\n${text}\n--- End ---`]
  })
  return cut(parts.join('\n\n'))
}

/** By bytes, and never through the middle of a character. */
function cut(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MOST_INJECTED) return text
  let end = MOST_INJECTED
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.subarray(0, end).toString('utf8')}\n[${bytes.length - end} of ${bytes.length} bytes left out]`
}

/** What a step can name: everything that is done, summarised where an edge says so, and in a loop the round before. */
async function scopeOf(
  { id }: Step,
  { input, about = {}, progress }: PipelineRun,
  graph: Graph,
  workers: PipelineWorkers,
): Promise<Scope> {
  const steps: Record<string, StepValue> = {}
  for (const mate of loopMates(graph, id)) steps[mate] = progress.before?.[mate] ?? { text: '', data: null }
  for (const [name, step] of Object.entries(progress.steps))
    if (step.status === 'done') steps[name] = { text: step.text, data: step.data }
  for (const edge of graph.incoming.get(id) ?? []) {
    const whole = steps[edge.from]
    if (edge.summarize && whole !== undefined)
      steps[edge.from] = { ...whole, text: await workers.summarize(edge, whole.text) }
  }
  return { input, steps, run: about }
}
