import type { GateAnswer } from '../../core/gate.ts'
import type { FolderPanel, TextPanel } from '../panel.ts'
import { doStep } from './do-step.ts'
import { type Graph, toGraph } from './graph.ts'
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
import type { StepValue } from './values.ts'

export interface PipelineRun {
  readonly pipeline: Pipeline
  readonly input: Readonly<Record<string, unknown>>
  /** Whose words are in it, when they are not those of a person or of the workspace. */
  readonly inputFrom?: string | undefined
  /** What `{{run.…}}` stands for: the same when the run goes on later. */
  readonly about?: Readonly<Record<string, unknown>>
  readonly progress: Progress
}

/** Who does the work. Each may throw; only an outcome that says so is tried again. */
export interface PipelineWorkers {
  /** The values of a step that calls a tool, with references filled in as the tool can take them. */
  fillArgs(step: Step, fill: Fill): Record<string, unknown>
  /** Undefined when the call waits for somebody's answer, and the pipeline stops here for now. */
  runTool(step: Step, input: Record<string, unknown>, attempt: string): Promise<StepOutcome | undefined>
  /** In a rehearsal: says what the step is to say instead of doing it. */
  rehearse?(step: Step, said: StepValue): Promise<StepOutcome | undefined>
  /** Of a panel in which no model works: what it hands over. It has been looked at, or this throws. */
  panelContent(panel: string): Promise<TextPanel | FolderPanel | undefined>
  runPanel(order: PanelOrder): Promise<StepOutcome | undefined>
  /** Another pipeline, as a run of its own. */
  runPipeline(order: PipelineOrder): Promise<StepOutcome | undefined>
  readFolder(step: Step): Promise<StepOutcome>
  /** What the reviewers have against a text; undefined when nothing, or when there are none. */
  review?(text: string): Promise<string | undefined>
  /** What a step hands over, shortened by a model. */
  summarize(edge: Edge, text: string): Promise<string>
  /** Whether somebody lets the step begin. A single call is asked about by itself. */
  passGate(step: Step, input: Record<string, unknown>, attempt: string): Promise<GateAnswer>
  /** Written down before a step begins and after it ended. */
  save(progress: Progress): Promise<void>
  wait(until: number): Promise<void>
  now(): number
  /** Panels at work at the same time. */
  readonly parallel: number
  readonly signal: AbortSignal
}

/** `file`: the value becomes the content of this file. */
export type Fill = (value: unknown, file?: string) => unknown

interface Order {
  readonly step: Step
  /** The run of an earlier try that goes on now. */
  readonly run: string | undefined
  /** Called with the id of a new run before it begins. */
  begun(run: string): Promise<void>
}

export interface PanelOrder extends Order {
  readonly prompt: string
  readonly vars: Record<string, unknown>
}

export interface PipelineOrder extends Order {
  readonly input: Record<string, unknown>
  readonly inputFrom?: string | undefined
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

/** Undefined when it waits for somebody, and stands as waiting again. */
async function takeStep(step: Step, parts: StepParts): Promise<StepOutcome | undefined> {
  const { run, graph, state, workers } = parts
  const { id } = step
  const own = state.progress.steps[id]
  if (own?.status === 'waiting' && own.notBefore !== undefined) {
    await workers.wait(own.notBefore)
    if (workers.signal.aborted) return undefined
  }
  const memory: Memory = rememberedOf(own)
  const set = async (status: 'running' | 'waiting', more: { gate?: true } = {}): Promise<void> => {
    state.progress = withStep(state.progress, id, { status, ...memory, ...more })
    await workers.save(state.progress)
  }
  const remember = async (more: Partial<Memory>): Promise<void> => {
    Object.assign(memory, more)
    await set('running')
  }
  await set('running')
  const outcome = await doStep(step, {
    ...{ workers, graph, memory, remember, run: { ...run, progress: state.progress } },
    attempt: attemptOf(state.progress, id),
  })
  if (outcome !== undefined && (outcome.ok || !workers.signal.aborted)) return outcome
  // Where nothing of it has begun, it is its gate that it waits at.
  const begun = memory.opened ?? memory.run ?? memory.items
  await set('waiting', step.gate !== undefined && begun === undefined ? { gate: true } : {})
  return undefined
}

/** What a step knows of itself while it is under way, and after a crash. */
export interface Memory {
  attempts: number
  round?: number | undefined
  waits?: number | undefined
  run?: string | undefined
  opened?: true | undefined
  items?: readonly StepValue[] | undefined
}

export function rememberedOf(step: Progress['steps'][string] | undefined): Memory {
  const { attempts = 0, round, waits, run, opened, items } = step ?? {}
  return {
    attempts,
    ...(round === undefined ? {} : { round }),
    ...(waits === undefined ? {} : { waits }),
    ...(run === undefined ? {} : { run }),
    ...(opened === undefined ? {} : { opened }),
    ...(items === undefined ? {} : { items }),
  }
}

/** Which try of which round of its loops it is: no two of a run are the same, and what other loops do changes none. */
export function attemptOf({ steps }: Progress, id: string): string {
  const { attempts = 0, round = 0, waits = 0 } = steps[id] ?? {}
  return `${round}.${attempts + waits + 1}`
}
