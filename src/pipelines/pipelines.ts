import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Pipeline, Step } from '../agents/pipelines/pipeline.ts'
import { type Progress, type StepProgress, startProgress } from '../agents/pipelines/progress.ts'
import { type Again, beginAgain } from '../agents/pipelines/run-again.ts'
import { attemptOf, runPipeline } from '../agents/pipelines/run-pipeline.ts'
import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Approver } from '../core/approval.ts'
import { ToolError } from '../core/errors.ts'
import type { Runs } from '../runs.ts'
import type { Runtime } from '../runtime.ts'
import type { Database } from '../store/database/database.ts'
import { openPipelineRuns, type PipelineRuns, type SavedPipelineRun } from '../store/pipeline-runs.ts'
import type { Places } from '../store/places.ts'
import { mirrorPanel, readPanel } from '../store/runs/find-agent.ts'
import { openScriptTrust } from '../store/script-trust.ts'
import { workflowOf } from '../store/tables/workflows.ts'
import { describeRepeats, problemsOf } from './checks.ts'
import { type PipelineFile, readPipeline } from './files.ts'
import { callIdOf, createWorkers, type PipelineEvent, recordedEnd, type WorkParts } from './work.ts'

// Runs of pipelines: what doors call to start one, continue it and begin again in its middle. Looking at files and at
// runs needs no database: `files.ts`, `checks.ts` and `pipelineRunsOf`.

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
  /** Steps whose gate a person has opened. */
  readonly approve?: readonly string[]
  /** Steps of which nobody knows whether they happened: run again, or taken as done. */
  readonly retry?: readonly string[]
  readonly skip?: readonly string[]
  /** Instead of the models that panels name. */
  readonly model?: string
  /** Plays `.kogu/rehearsals/PANEL.toml` instead of asking models. */
  readonly rehearse?: boolean
  /** Asks a person who is there. Defaults to nobody: the run waits. */
  askAtGate?(step: Step, input: unknown): Promise<boolean>
  onEvent?(event: PipelineEvent): void
}

export function pipelineRunsOf({ pipelines }: Places): PipelineRuns {
  return openPipelineRuns(join(pipelines, 'runs'))
}

/** Whether a person has looked at exactly this text. */
export function isTrusted({ directories }: Environment, workspace: string, file: PipelineFile): boolean {
  return openScriptTrust(directories.state, workspace).isTrusted(file)
}

/** A person's word that the pipeline and the panels it names may run as they are now. */
export async function trustPipeline(
  { environment, runtime, database, runs }: PipelineParts,
  name: string,
): Promise<{ file: PipelineFile; panels: string[] }> {
  const { workspace } = runtime
  const file = readPipeline(workspace, name)
  const panels = panelsOf(file.pipeline)
  const workflow = await workflowOf(database, runs.place.user, workspace)
  for (const panel of panels) await mirrorPanel(database, workflow, readPanel(workspace, panel))
  await openScriptTrust(environment.directories.state, workspace).trust(file)
  return { file, panels }
}

function panelsOf({ steps, edges }: Pipeline): string[] {
  const named = [...steps.map(({ panel }) => panel), ...edges.map(({ summarizer }) => summarizer)]
  return [...new Set(named.filter(name => name !== undefined))]
}

/** Writes down a new run; `workOnPipeline` does the rest. `given`: values of its `[input]`, as text or as they are. */
export async function createPipelineRun(
  parts: PipelineParts,
  name: string,
  given: Readonly<Record<string, unknown>> = {},
): Promise<SavedPipelineRun> {
  const file = await requireRunnable(parts, name)
  return begin(parts, file, {
    input: readInput(file.pipeline, given),
    progress: startProgress(file.pipeline),
  })
}

export interface PlannedAgain extends Again {
  /** The run whose outputs are used. */
  readonly of: SavedPipelineRun
}

/** What would happen a second time if a run began again in the middle, one line each. */
export function repeatsOf(
  { runtime }: Pick<PipelineParts, 'runtime'>,
  { of, ...again }: PlannedAgain,
): string[] {
  const { pipeline } = readPipeline(runtime.workspace, of.pipeline)
  return describeRepeats(pipeline, beginAgain(pipeline, of.progress, again).repeats, runtime)
}

/** A new run with the outputs of an earlier one for the steps before. */
export async function createRunAgain(
  parts: PipelineParts,
  { of, ...again }: PlannedAgain,
): Promise<SavedPipelineRun> {
  const file = await requireRunnable(parts, of.pipeline)
  const { progress } = beginAgain(file.pipeline, of.progress, again)
  return begin(parts, file, { input: of.input, progress, continues: of.id })
}

/** Works on a run until it ends, is stopped or waits for a person. One process at a time. */
export async function workOnPipeline(
  parts: PipelineParts,
  id: string,
  options: PipelineOptions = {},
): Promise<SavedPipelineRun> {
  const { runtime } = parts
  const runs = pipelineRunsOf(runtime.places)
  const lock = runs.lock(id)
  if (lock === undefined) throw new ToolError('conflict', 'Another Kogu is working on this run.')
  try {
    const saved = requirePipelineRun(runs, id)
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
  options: PipelineOptions,
): Promise<SavedPipelineRun> {
  const { runtime } = parts
  const runs = pipelineRunsOf(runtime.places)
  const { approver, signal = new AbortController().signal } = options
  const core = await runtime.openRun({ id: saved.id, ...(approver === undefined ? {} : { approver }) })
  try {
    const progress = await settle(parts, pipeline, saved, options)
    const keep = (status: SavedPipelineRun['status'], now: Progress): SavedPipelineRun => {
      const kept = { ...saved, status, progress: { ...now } }
      runs.save(kept)
      return kept
    }
    const workParts: WorkParts = {
      ...parts,
      ...{ core, approver, signal, model: options.model, rehearse: options.rehearse ?? false },
      approved: new Set(options.approve),
      askAtGate: options.askAtGate ?? (async () => false),
      save: async now => void keep('running', now),
      tell: event => options.onEvent?.(event),
    }
    const run = { pipeline, input: saved.input, about: aboutRun(saved), progress }
    const ended = await runPipeline(run, createWorkers(workParts))
    return keep(ended.status, ended.progress)
  } finally {
    await runtime.closeRun(saved.id)
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

/** Steps that were under way when the process ended: what is known to have ended has, and of the rest a person knows. */
async function settle(
  parts: PipelineParts,
  pipeline: Pipeline,
  saved: SavedPipelineRun,
  { retry = [], skip = [] }: PipelineOptions,
): Promise<Progress> {
  let progress: Progress = saved.progress
  for (const [id, step] of Object.entries(progress.steps)) {
    if (step.status !== 'running') continue
    const { attempts, waits, run } = step
    const tries = {
      attempts,
      ...(waits === undefined ? {} : { waits }),
      ...(run === undefined ? {} : { run }),
    }
    const settled = (next: StepProgress): void => {
      progress = { ...progress, steps: { ...progress.steps, [id]: next } }
    }
    const { tool } = pipeline.steps.find(each => each.id === id) ?? {}
    const again = (): void => settled({ status: 'waiting', ...tries })
    // The run of a panel knows itself what it has done. Reading twice does no harm.
    if (tool === undefined || parts.runtime.registry.candidates(tool)[0]?.risk === 'low') again()
    else if (retry.includes(id)) settled({ status: 'waiting', ...tries, waits: (waits ?? 0) + 1 })
    else if (skip.includes(id)) settled({ status: 'done', ...tries, text: '', data: null })
    else {
      const since = new Date(saved.startedAt)
      const end = await recordedEnd(parts, callIdOf(saved.id, id, attemptOf(progress, id)), since)
      if (end === 'none') again()
      else if (end === 'unknown') throw unknownEnd(id)
      else if (end.ok) settled({ status: 'done', ...tries, text: LOST, data: null })
      else settled({ status: 'failed', ...tries, error: end.error ?? 'It failed.' })
    }
  }
  return progress
}

const LOST = 'Kogu was interrupted after this step had succeeded, so that its output is lost.'

function unknownEnd(id: string): ToolError {
  return new ToolError(
    'conflict',
    `Nobody knows whether the step '${id}' happened: Kogu ended while it ran.`,
    { hint: `Look at the workspace, then add --retry ${id} or --skip ${id}.` },
  )
}

function begin(
  { runtime }: PipelineParts,
  { pipeline, sha256 }: PipelineFile,
  start: { input: Record<string, unknown>; progress: Progress; continues?: string },
): SavedPipelineRun {
  const { progress, ...rest } = start
  const run: SavedPipelineRun = {
    ...rest,
    id: `pl_${randomBytes(6).toString('hex')}`,
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

/** A repository can bring pipelines along; what nobody has looked at does not run, and neither does what cannot work. */
async function requireRunnable(parts: PipelineParts, name: string): Promise<PipelineFile> {
  const { environment, runtime } = parts
  const file = readPipeline(runtime.workspace, name)
  if (!isTrusted(environment, runtime.workspace, file)) {
    throw new ToolError(
      'needs_approval',
      `The pipeline '${name}' is new or has changed, so it does not run.`,
      {
        hint: `Look at it and allow it: kogu pipeline trust ${name}`,
      },
    )
  }
  const problems = await problemsOf(file.pipeline, runtime)
  if (problems.length > 0) throw new ToolError('invalid_input', problems.join('\n'))
  return file
}

export function requirePipelineRun(runs: PipelineRuns, id: string): SavedPipelineRun {
  const found = runs.find(id)
  if (found !== undefined) return found
  throw new ToolError('not_found', `There is no run '${id}' of a pipeline.`, {
    hint: 'See: kogu pipeline list',
  })
}

/** Values of the pipeline's `[input]`, of the types that it says. */
export function readInput(
  { input, name }: Pipeline,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const unknown = Object.keys(given).find(key => !Object.hasOwn(input, key))
  if (unknown !== undefined)
    throw new ToolError('invalid_input', `The pipeline '${name}' has no input '${unknown}'.`)
  return Object.fromEntries(
    Object.entries(input).map(([key, field]) => {
      const value = given[key]
      if (value === undefined) {
        if (field.required && field.default === undefined)
          throw new ToolError('invalid_input', `The pipeline '${name}' needs '${key}'.`, {
            hint: `--input ${key}=…`,
          })
        return [key, field.default ?? '']
      }
      return [key, toType(key, field.type, value)]
    }),
  )
}

function toType(key: string, type: 'string' | 'number' | 'boolean', value: unknown): unknown {
  const text = String(value)
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true'
  if (text.trim() === '' || Number.isNaN(Number(text)))
    throw new ToolError('invalid_input', `'${key}' is a number, not '${text}'.`)
  return Number(text)
}
