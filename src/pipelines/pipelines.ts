import { randomBytes } from 'node:crypto'
import { toGraph } from '../agents/pipelines/graph.ts'
import { InvalidPipeline, type Pipeline, type Step } from '../agents/pipelines/pipeline.ts'
import { type Progress, type StepOutcome, startProgress, whyFailed } from '../agents/pipelines/progress.ts'
import { type Again, beginAgain } from '../agents/pipelines/run-again.ts'
import { type PipelineOrder, runPipeline } from '../agents/pipelines/run-pipeline.ts'
import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Approver } from '../core/approval.ts'
import { ToolError } from '../core/errors.ts'
import type { Run } from '../core/run.ts'
import type { Runs } from '../runs.ts'
import type { Runtime } from '../runtime.ts'
import type { Database } from '../store/database/database.ts'
import { type PipelineRuns, pipelineRunsOf, type SavedPipelineRun } from '../store/pipeline-runs.ts'
import type { DoorUser } from '../waiting-calls.ts'
import { describeRepeats, problemsOf } from './checks.ts'
import { type PipelineFile, readPipeline } from './files.ts'
import { readInput } from './input.ts'
import { takeLabels } from './panels.ts'
import { callIdOf, settle } from './settle.ts'
import { isTrusted, withInside } from './trust.ts'
import { createWorkers, type PipelineEvent, type WorkParts } from './work.ts'

// Runs of pipelines: what doors call to start one, continue it and begin again in its middle. Looking at files and at
// runs needs no database: `files.ts`, `checks.ts` and the store's `pipeline-runs.ts`.

export interface PipelineParts {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly runtime: Runtime
  readonly database: Database
  readonly runs: Runs
}

export interface PipelineOptions {
  readonly approver?: Approver
  /** Aborted: it stops where it is and can go on later. */
  readonly signal?: AbortSignal
  /** Steps whose questions a person answers with yes. */
  readonly approve?: readonly string[]
  /** Who that is. Defaults to the person at this machine. */
  readonly by?: DoorUser
  /** Steps of which nobody knows whether they happened: run again, or taken as done. */
  readonly retry?: readonly string[]
  readonly skip?: readonly string[]
  onEvent?(event: PipelineEvent): void
}

/** What is chosen when a run is made, and holds until it has ended. */
interface PipelineChoices {
  /** Instead of the models that panels name. */
  readonly model?: string | undefined
  /** Plays `.kogu/rehearsals/PANEL.toml`, and what steps say in a rehearsal, instead of asking models and calling tools. */
  readonly rehearse?: boolean | undefined
}

/** Writes down a new run; `workOnPipeline` does the rest. `given`: values of its `[input]`, as text or as they are. */
export async function createPipelineRun(
  parts: PipelineParts,
  name: string,
  given: Readonly<Record<string, unknown>> = {},
  choices: PipelineChoices &
    Partial<Pick<SavedPipelineRun, 'id' | 'parent' | 'inputFrom' | 'isServers' | 'startedBy' | 'build'>> = {},
): Promise<SavedPipelineRun> {
  const file = await requireRunnable(parts, name)
  return begin(parts, file, {
    ...choices,
    input: readInput(file.pipeline, given),
    progress: startProgress(file.pipeline),
  })
}

export interface PlannedAgain extends Again {
  readonly pipeline: string
  /** The run whose outputs are used; undefined if the pipeline has not run yet. */
  readonly of: SavedPipelineRun | undefined
}

/** `of`: the id of a run. Defaults to the last one of the pipeline. */
export function planAgain(
  { runtime }: Pick<PipelineParts, 'runtime'>,
  { of: named, ...again }: Again & { readonly pipeline: string; readonly of: string | undefined },
): PlannedAgain {
  const runs = pipelineRunsOf(runtime.places)
  const id = named ?? runs.list().find(run => run.pipeline === again.pipeline)?.id
  const of = id === undefined ? undefined : requirePipelineRun(runs, id)
  if (of !== undefined && of.pipeline !== again.pipeline)
    throw new ToolError('invalid_input', `${id} is a run of '${of.pipeline}'.`)
  return { ...again, of }
}

/** What would happen a second time if a run began again in the middle, one line each. */
export function repeatsOf(
  { runtime }: Pick<PipelineParts, 'runtime'>,
  { of, ...again }: PlannedAgain,
): string[] {
  const { pipeline } = readPipeline(runtime.workspace, again.pipeline)
  const older = of === undefined ? [] : continuedBy(pipelineRunsOf(runtime.places), of)
  return describeRepeats(pipeline, beginAgain(pipeline, of?.progress, again, older).repeats, runtime)
}

/** What the runs did whose outputs this one began with. */
function continuedBy(runs: PipelineRuns, { continues }: SavedPipelineRun): Progress[] {
  const before = continues === undefined ? undefined : runs.find(continues)
  return before === undefined ? [] : [before.progress, ...continuedBy(runs, before)]
}

/** A new run with the outputs of an earlier one for the steps before, and its input where `given` has no other. */
export async function createRunAgain(
  parts: PipelineParts,
  { of, ...again }: PlannedAgain,
  given: Readonly<Record<string, unknown>> = {},
  {
    by,
    ...choices
  }: PipelineChoices & Pick<SavedPipelineRun, 'isServers' | 'startedBy'> & Pick<PipelineOptions, 'by'> = {},
): Promise<SavedPipelineRun> {
  const file = await requireRunnable(parts, again.pipeline)
  const { progress, passedOver } = beginAgain(file.pipeline, of?.progress, again)
  if (by?.mayApprove === false) refuseGates(parts.runtime.workspace, passedOver)
  const isSame = of !== undefined && Object.keys(given).length === 0
  const input = isSame ? of.input : readInput(file.pipeline, { ...of?.input, ...given })
  // What was only played must not become part of a real run.
  const rehearse = choices.rehearse === true || of?.rehearse === true
  return begin(parts, file, {
    ...{ ...choices, rehearse, input, progress },
    ...(of === undefined ? {} : { inputFrom: of.inputFrom, continues: of.id }),
  })
}

/**
 * Who begins behind a gate opens it: an earlier run may have left it out, and a yes that was given there was for the input
 * and for what that run did.
 */
function refuseGates(workspace: string, passedOver: readonly Step[]): void {
  const isGate = ({ gate }: Step): boolean => gate !== undefined
  const gated = passedOver.find(
    step =>
      isGate(step) ||
      (step.pipeline !== undefined &&
        withInside(workspace, step.pipeline).some(({ pipeline }) => pipeline.steps.some(isGate))),
  )
  if (gated === undefined) return
  throw new ToolError('forbidden', `The gate of the step '${gated.id}' would be left out.`, {
    hint: `Run from ${gated.id}. Beginning behind a gate needs the scope approve.`,
  })
}

/** Works on a run until it ends, is stopped or waits for a person. One process at a time. */
export function workOnPipeline(
  parts: PipelineParts,
  id: string,
  options: PipelineOptions = {},
): Promise<SavedPipelineRun> {
  return workOn(parts, id, options)
}

/** `parent`: the run that it is a step of, which is open. */
type InsideOptions = PipelineOptions & { readonly parent?: string }

async function workOn(parts: PipelineParts, id: string, options: InsideOptions): Promise<SavedPipelineRun> {
  const { runtime } = parts
  const runs = pipelineRunsOf(runtime.places)
  const lock = runs.lock(id)
  if (lock === undefined) throw new ToolError('conflict', 'Another Kogu is working on this run.')
  try {
    const saved = requirePipelineRun(runs, id)
    if (saved.parent !== options.parent)
      throw new ToolError('conflict', `This run is a step of ${saved.parent} and continues with it.`, {
        hint: `kogu pipeline resume ${saved.parent}`,
      })
    // Its steps were written for a copy of the person's files, under rules that hold only there.
    if (saved.build !== undefined && saved.build.root !== runtime.workspace)
      throw new ToolError('forbidden', 'This run works only on the copy that was made for it.')
    const file = await requireRunnable(parts, saved.pipeline)
    if (file.sha256 !== saved.sha256)
      throw new ToolError('stale', `The pipeline '${saved.pipeline}' has changed since this run began.`, {
        hint: `Begin again: kogu pipeline run ${saved.pipeline} --of ${id} --from STEP`,
      })
    if (saved.status === 'completed' || saved.status === 'failed')
      throw new ToolError('conflict', `This run has ${saved.status}.`, {
        hint: `Begin again: kogu pipeline run ${saved.pipeline} --of ${id} --from STEP`,
      })
    return await work(parts, file, saved, options)
  } finally {
    lock.release()
  }
}

async function work(
  parts: PipelineParts,
  { pipeline }: PipelineFile,
  saved: SavedPipelineRun,
  options: InsideOptions,
): Promise<SavedPipelineRun> {
  const { runtime } = parts
  const runs = pipelineRunsOf(runtime.places)
  const { approver, parent, signal = new AbortController().signal } = options
  const core = await runtime.openRun({
    id: saved.id,
    task: `The pipeline '${pipeline.name}'. ${pipeline.description}`.trim(),
    ...(approver === undefined ? {} : { approver }),
    ...(parent === undefined ? {} : { parent }),
  })
  try {
    const progress = await settle(parts, pipeline, saved, options)
    if (parent === undefined) await answerByName(parts, saved.id, options)
    const begun = new Set(saved.runs)
    const keep = (status: SavedPipelineRun['status'], now: Progress): SavedPipelineRun => {
      for (const { run } of Object.values(now.steps)) if (run !== undefined) begun.add(run)
      const kept = { ...saved, status, runs: [...begun], progress: { ...now } }
      runs.save(kept)
      return kept
    }
    const workParts: WorkParts = {
      ...parts,
      ...{ core, approver, signal, pipeline: pipeline.name },
      ...{ model: saved.model, rehearse: saved.rehearse ?? false },
      runPipeline: order => runInside(parts, order, { saved, core, options }),
      save: async now => void keep('running', now),
      tell: event => options.onEvent?.(event),
    }
    const { input, inputFrom } = saved
    const run = { pipeline, input, inputFrom, about: aboutRun(saved), progress }
    const ended = await runPipeline(run, createWorkers(workParts))
    return keep(ended.status, ended.progress)
  } finally {
    await runtime.closeRun(saved.id)
  }
}

/** A person's yes to steps by name, of this run and those inside of it: to what is asked now, and to nothing that comes later. */
async function answerByName(
  { runtime, environment }: PipelineParts,
  run: string,
  { approve: steps = [], by }: PipelineOptions,
): Promise<void> {
  const user = by?.caller ?? environment.variables.USER ?? 'terminal'
  const waiting = steps.length === 0 ? [] : await runtime.listQuestions()
  for (const step of steps) {
    const [question, ...more] = waiting.filter(
      ({ runPath, callId, answer }) =>
        runPath[0] === run &&
        answer === null &&
        runPath.some(each => callId.startsWith(callIdOf(each, step, ''))),
    )
    if (question === undefined)
      throw new ToolError('conflict', `No step '${step}' of this run waits for an answer.`, {
        hint: 'Its question may have expired; without --approve the run asks again.',
      })
    if (more.length > 0)
      throw new ToolError('conflict', `Several steps '${step}' of this run wait for an answer.`, {
        hint: 'See: kogu approvals list',
      })
    if (question.isDangerous)
      throw new ToolError('needs_approval', `The step '${step}' is dangerous.`, {
        hint: `kogu approvals approve ${question.id} --confirm ${question.tool.name}`,
      })
    await runtime.answerQuestion(question.id, { kind: 'once', user }, by)
  }
}

/** Another pipeline as a step: a run of its own, under the authority of this one, whose questions name both. */
async function runInside(
  parts: PipelineParts,
  { step, input, inputFrom, run, begun }: PipelineOrder,
  { saved, core, options }: { saved: SavedPipelineRun; core: Run; options: PipelineOptions },
): Promise<StepOutcome | undefined> {
  const runs = pipelineRunsOf(parts.runtime.places)
  const id = run ?? newRunId()
  // Written down before it exists, as with panels.
  if (run === undefined) await begun(id)
  const inner =
    runs.find(id) ??
    (await createPipelineRun(parts, step.pipeline ?? '', input, {
      ...{ id, parent: saved.id, inputFrom, model: saved.model, rehearse: saved.rehearse },
    }))
  const isOver = inner.status === 'completed' || inner.status === 'failed'
  const ended = isOver ? inner : await workOn(parts, id, { ...options, parent: saved.id })
  // What entered it has entered the one around it.
  await takeLabels(parts.runtime, id, core)
  if (ended.status === 'waiting' || ended.status === 'stopped' || ended.status === 'running') return undefined
  return outcomeOf(ended, readPipeline(parts.runtime.workspace, ended.pipeline).pipeline)
}

/** What the last of its steps said that has said anything. */
function outcomeOf({ id, status, progress }: SavedPipelineRun, pipeline: Pipeline): StepOutcome {
  const steps = toGraph(pipeline).order.map(each => progress.steps[each])
  if (status === 'failed') {
    const error = whyFailed(progress)?.why ?? 'It failed.'
    return { ok: false, error, retryable: true, run: id }
  }
  const last = steps.findLast(step => step?.status === 'done')
  const foreign = steps.flatMap(step => (step?.status === 'done' ? (step.untrusted ?? []) : []))[0]
  return {
    ok: true,
    run: id,
    ...(last?.status === 'done' ? { text: last.text, data: last.data } : { text: '', data: null }),
    ...(foreign === undefined ? {} : { untrusted: foreign }),
  }
}

/** By the day on which it began, so that a run that goes on later writes into the same files. */
function aboutRun({ id, startedAt }: SavedPipelineRun): Record<string, string> {
  const date = startedAt.slice(0, 10)
  return { id, date, month: date.slice(0, 7), week: isoWeek(new Date(startedAt)) }
}

/** `2026-W47`: weeks begin on Monday, and the first one has the year's first Thursday. */
function isoWeek(date: Date): string {
  const day = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()))
  day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7))
  const year = day.getUTCFullYear()
  const week = Math.ceil(((day.getTime() - Date.UTC(year, 0, 1)) / 86_400_000 + 1) / 7)
  return `${year}-W${String(week).padStart(2, '0')}`
}

function begin(
  { runtime }: PipelineParts,
  { pipeline, sha256 }: PipelineFile,
  start: Omit<SavedPipelineRun, 'id' | 'runs' | 'pipeline' | 'sha256' | 'startedAt' | 'status'> & {
    readonly id?: string
  },
): SavedPipelineRun {
  const { progress, id = newRunId(), ...rest } = start
  const run: SavedPipelineRun = {
    ...rest,
    id,
    runs: [],
    pipeline: pipeline.name,
    sha256,
    startedAt: new Date().toISOString(),
    status: 'running',
    progress: { ...progress },
  }
  pipelineRunsOf(runtime.places).save(run)
  runtime.note('pipeline-started', { run: run.id, pipeline: pipeline.name, sha256 })
  return run
}

export function newRunId(): string {
  return `pl_${randomBytes(6).toString('hex')}`
}

/** A repository can bring pipelines along; what nobody has looked at does not run, and neither does what cannot work. */
async function requireRunnable(parts: PipelineParts, name: string): Promise<PipelineFile> {
  const { environment, runtime } = parts
  // What is checked is what runs: no file is read a second time.
  const files = withInside(runtime.workspace, name)
  for (const each of files) {
    if (isTrusted(environment, runtime.workspace, each)) continue
    const changed = each.pipeline.name
    throw new ToolError(
      'needs_approval',
      `The pipeline '${changed}' is new or has changed, so it does not run.`,
      { hint: `Look at it and allow it: kogu pipeline trust ${changed}` },
    )
  }
  const [file = readPipeline(runtime.workspace, name)] = files
  const problems = await problemsOf(file.pipeline, runtime)
  if (problems.length > 0) throw new InvalidPipeline(problems.join('\n'))
  return file
}

export function requirePipelineRun(runs: PipelineRuns, id: string): SavedPipelineRun {
  const found = runs.find(id)
  if (found !== undefined) return found
  throw new ToolError('not_found', `There is no pipeline run '${id}'.`, {
    hint: 'See: kogu pipeline list',
  })
}
