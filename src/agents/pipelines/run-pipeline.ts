import { toToolError } from '../../core/errors.ts'
import { type Graph, toGraph } from './graph.ts'
import type { Pipeline, Step } from './pipeline.ts'
import {
  finishStep,
  nextSteps,
  type PipelineStatus,
  type Progress,
  type StepOutcome,
  statusOf,
} from './progress.ts'
import { fillIn, type Scope, type StepValue } from './values.ts'

export interface PipelineRun {
  readonly pipeline: Pipeline
  readonly input: Readonly<Record<string, unknown>>
  readonly progress: Progress
}

/** Who does the work. Each may throw; only an outcome that says so is tried again. */
export interface PipelineWorkers {
  /** Undefined: the call waits for somebody's answer, and the pipeline stops here for now. */
  runTool(step: Step, input: Record<string, unknown>): Promise<StepOutcome | undefined>
  runPanel(step: Step, prompt: string, vars: Record<string, unknown>): Promise<StepOutcome | undefined>
  readFolder(step: Step): Promise<StepOutcome>
  /** Whether somebody lets the step begin. */
  passGate(step: Step, input: unknown): Promise<boolean>
  /** Written down before a step begins and after it ended. */
  save(progress: Progress): Promise<void>
  wait(until: number): Promise<void>
  now(): number
  readonly signal: AbortSignal
}

/** Runs what can run until the pipeline has ended, was stopped, or waits for a person. */
export async function runPipeline(
  run: PipelineRun,
  workers: PipelineWorkers,
): Promise<{ progress: Progress; status: PipelineStatus | 'waiting' }> {
  const { pipeline } = run
  const graph = toGraph(pipeline)
  let { progress } = run
  for (;;) {
    workers.signal.throwIfAborted()
    const next = nextSteps(pipeline, graph, progress)
    progress = next.progress
    const [step] = next.ready
    if (step === undefined) {
      await workers.save(progress)
      const status = statusOf(pipeline, progress)
      return { progress, status: status === 'running' ? 'waiting' : status }
    }
    const before = progress
    const own = progress.steps[step.id]
    if (own?.status === 'waiting' && own.notBefore !== undefined) await workers.wait(own.notBefore)
    progress = {
      ...progress,
      steps: { ...progress.steps, [step.id]: { status: 'running', attempts: own?.attempts ?? 0 } },
    }
    await workers.save(progress)
    const outcome = await work(step, { ...run, progress: before }, graph, workers)
    if (outcome === undefined) {
      await workers.save(before)
      return { progress: before, status: 'waiting' }
    }
    progress = finishStep(pipeline, graph, before, { id: step.id, outcome, now: workers.now() })
    await workers.save(progress)
  }
}

async function work(
  step: Step,
  run: PipelineRun,
  graph: Graph,
  workers: PipelineWorkers,
): Promise<StepOutcome | undefined> {
  try {
    const scope = scopeOf(run)
    if (step.tool !== undefined) {
      const input = fillIn(step.args, scope) as Record<string, unknown>
      if (step.gate !== undefined && !(await workers.passGate(step, input))) return undefined
      return await workers.runTool(step, input)
    }
    if (step.panel !== undefined) {
      const vars = fillIn(step.vars, scope) as Record<string, unknown>
      const asked = step.prompt === undefined ? '' : String(fillIn(step.prompt, { ...scope, vars }))
      const prompt = [asked, injected(step, run, graph)].filter(part => part !== '').join('\n\n')
      if (step.gate !== undefined && !(await workers.passGate(step, prompt))) return undefined
      return await workers.runPanel(step, prompt, vars)
    }
    if (step.folder !== undefined) return await workers.readFolder(step)
    return { ok: true, text: String(fillIn(step.text ?? '', scope)), data: null }
  } catch (error) {
    return { ok: false, error: toToolError(error).message, retryable: false }
  }
}

const MOST_INJECTED = 180_000

/** What the steps right before it said, for a panel that does not pick values by name. */
function injected({ id, vars }: Step, { progress }: PipelineRun, { incoming }: Graph): string {
  if (Object.keys(vars).length > 0) return ''
  const parts = (incoming.get(id) ?? []).flatMap(({ from }) => {
    const step = progress.steps[from]
    return step?.status === 'done' ? [`--- Output of step ${from} ---\n${step.text}\n--- End ---`] : []
  })
  const text = parts.join('\n\n')
  if (Buffer.byteLength(text) <= MOST_INJECTED) return text
  return `${Buffer.from(text).subarray(0, MOST_INJECTED).toString('utf8')}\n[cut at ${MOST_INJECTED} bytes]`
}

function scopeOf({ input, progress }: PipelineRun): Scope {
  const done = Object.entries(progress.steps).flatMap(([id, step]): [string, StepValue][] =>
    step.status === 'done' ? [[id, { text: step.text, data: step.data }]] : [],
  )
  return { input, steps: Object.fromEntries(done) }
}
