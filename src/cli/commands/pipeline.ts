import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { startProgress } from '../../agents/pipelines/progress.ts'
import { type PipelineRun, runPipeline } from '../../agents/pipelines/run-pipeline.ts'
import { ToolError } from '../../core/errors.ts'
import { makeFolders } from '../../core/make-folders.ts'
import { listPipelines, type PipelineFile, problemsOf, readPipeline } from '../../pipeline-files.ts'
import { openPipelineRuns, type SavedPipelineRun } from '../../store/pipeline-runs.ts'
import { placesFor } from '../../store/places.ts'
import { openScriptTrust } from '../../store/script-trust.ts'
import { type Command, type CommandContext, UsageError, unknownVerb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand, openRuntime } from '../open-runtime.ts'
import { table } from '../output.ts'
import { STARTER } from '../pipeline-starter.ts'
import { createWorkers } from '../pipeline-workers.ts'
import { type RunSession, withRuns } from '../run-session.ts'

export const pipeline: Command = {
  help: `
Run tools and panels one after another, as .kogu/pipelines/NAME.toml says.

  kogu pipeline new weekly                    write a pipeline to start from
  kogu pipeline validate weekly               what is wrong with it; runs nothing, exit 3 when something is
  kogu pipeline trust weekly                  let it run, as it is now
  kogu pipeline run weekly --input topic=tea
  kogu pipeline resume pl_4f9c12ab34cd --approve write
  kogu pipeline list                          pipelines, and runs that wait or failed
  kogu pipeline show pl_4f9c12ab34cd          the steps of a run with their outputs

Options
  --input NAME=VALUE   a value of its [input]; repeatable
  --approve STEP       open the gate of a step; repeatable
  --retry STEP         run a step again of which nobody knows whether it happened · --skip STEP: take it as done

Every call is decided, recorded and undoable: kogu undo --run ID. A pipeline that waits or was killed is resumed where it stopped.
Exit codes: 0 completed, 1 failed, 3 not valid, 7 waits for a person, 9 no such pipeline
`,
  options: {
    input: { type: 'string', multiple: true },
    approve: { type: 'string', multiple: true },
    retry: { type: 'string', multiple: true },
    skip: { type: 'string', multiple: true },
    mode: { type: 'string' },
    model: { type: 'string' },
    'yes-once': { type: 'boolean' },
  },
  async run(context) {
    const [verb = 'list', name = ''] = context.positionals
    switch (verb) {
      case 'list':
        return list(context)
      case 'show':
        return show(context, name)
      case 'validate':
        return validate(context, name)
      case 'new':
        return create(context, name)
      case 'trust':
        return trust(context, name)
      case 'run':
        return start(context, name)
      case 'resume':
        return resume(context, name)
      default:
        throw unknownVerb('pipeline', verb, ['run', 'list', 'show', 'validate', 'new', 'trust', 'resume'])
    }
  },
}

function runsOf(context: CommandContext) {
  const { root } = loadForCommand(context).workspace
  const places = placesFor(root, context.environment.directories.state)
  return { root, runs: openPipelineRuns(join(places.state, 'pipeline-runs')) }
}

function list(context: CommandContext): number {
  const { root, runs } = runsOf(context)
  const names = listPipelines(root)
  const open = runs.list().filter(({ status }) => status !== 'completed')
  if (context.output.json) context.output.object({ pipelines: names, runs: open.map(summarize) })
  else if (names.length === 0) context.output.note('There are no pipelines. Make one: kogu pipeline new NAME')
  else
    context.output.data(
      table([...names.map(name => [name, '', '']), ...open.map(run => [run.pipeline, run.id, run.status])]),
    )
  return EXIT.ok
}

function show(context: CommandContext, id: string): number {
  const run = requireRun(context, id)
  if (context.output.json) context.output.object(run)
  else
    context.output.data(
      table(
        Object.entries(run.progress.steps).map(([step, { status, text, error }]) => [
          step,
          status,
          String(error ?? text ?? '')
            .replaceAll('\n', ' ')
            .slice(0, 80),
        ]),
      ),
    )
  return EXIT.ok
}

async function validate(context: CommandContext, name: string): Promise<number> {
  const runtime = await openRuntime(context)
  try {
    const problems = problemsOf(readPipeline(runtime.workspace, name).pipeline, runtime)
    if (context.output.json) context.output.object({ ok: problems.length === 0, problems })
    else if (problems.length === 0) context.output.data(`${name} is valid`)
    else context.output.data(problems.join('\n'))
    return problems.length === 0 ? EXIT.ok : EXIT.config
  } finally {
    await runtime.close()
  }
}

function create(context: CommandContext, name: string): number {
  if (!/^[a-z][a-z0-9_-]*$/.test(name))
    throw new UsageError('A pipeline has a lower-case name.', 'For example: kogu pipeline new weekly')
  refuseInsideCall(context)
  const { root } = runsOf(context)
  const path = join(root, '.kogu/pipelines', `${name}.toml`)
  if (existsSync(path))
    throw new UsageError(`There is a pipeline '${name}' already: ${relative(context.cwd, path)}`)
  makeFolders(join(root, '.kogu/pipelines'))
  writeFileSync(path, STARTER.replaceAll('NAME', name), { flag: 'wx' })
  if (context.output.json) context.output.object({ ok: true, file: path })
  else context.output.note(`Wrote ${relative(context.cwd, path)}. Then: kogu pipeline trust ${name}`)
  return EXIT.ok
}

async function trust(context: CommandContext, name: string): Promise<number> {
  refuseInsideCall(context)
  const { root } = runsOf(context)
  const file = readPipeline(root, name)
  await openScriptTrust(context.environment.directories.state, root).trust(file)
  if (context.output.json) context.output.object({ ok: true, sha256: file.sha256 })
  else context.output.note(`${name} can run as it is now.`)
  return EXIT.ok
}

async function start(context: CommandContext, name: string): Promise<number> {
  const { root } = runsOf(context)
  const file = requireTrusted(context, readPipeline(root, name), root)
  const input = readInput(context, file)
  const saved: SavedPipelineRun = {
    id: `pl_${randomBytes(6).toString('hex')}`,
    pipeline: name,
    sha256: file.sha256,
    input,
    startedAt: new Date().toISOString(),
    status: 'running',
    progress: { ...startProgress(file.pipeline) },
  }
  return withRuns(context, session => work(context, session, file, saved))
}

async function resume(context: CommandContext, id: string): Promise<number> {
  const saved = requireRun(context, id)
  const { root } = runsOf(context)
  const file = requireTrusted(context, readPipeline(root, saved.pipeline), root)
  if (file.sha256 !== saved.sha256)
    throw new ToolError('stale', `The pipeline '${saved.pipeline}' has changed since this run began.`)
  if (saved.status === 'completed' || saved.status === 'failed')
    throw new UsageError(`This run has ${saved.status}.`)
  return withRuns(context, session => work(context, session, file, settle(context, session, file, saved)))
}

/** Steps that were under way when the process ended: those that only read run again, of the others a person knows. */
function settle(
  context: CommandContext,
  { runtime }: RunSession,
  { pipeline: made }: PipelineFile,
  saved: SavedPipelineRun,
): SavedPipelineRun {
  const wanted = (option: string): string[] => [context.values[option] ?? []].flat().map(String)
  const steps = Object.entries(saved.progress.steps).map(([id, step]) => {
    if (step.status !== 'running') return [id, step] as const
    const { tool } = made.steps.find(each => each.id === id) ?? {}
    const readsOnly = tool === undefined || runtime.registry.candidates(tool)[0]?.risk === 'low'
    if (readsOnly || wanted('retry').includes(id))
      return [id, { status: 'waiting', attempts: step.attempts }] as const
    if (wanted('skip').includes(id))
      return [id, { status: 'done', attempts: step.attempts, text: '', data: null }] as const
    throw new ToolError(
      'conflict',
      `Nobody knows whether the step '${id}' happened: Kogu ended while it ran.`,
      {
        hint: `Look at the workspace, then add --retry ${id} or --skip ${id}.`,
      },
    )
  })
  return { ...saved, progress: { ...saved.progress, steps: Object.fromEntries(steps) } }
}

async function work(
  context: CommandContext,
  session: RunSession,
  file: PipelineFile,
  saved: SavedPipelineRun,
): Promise<number> {
  const { output } = context
  const problems = problemsOf(file.pipeline, session.runtime)
  if (problems.length > 0) throw new ToolError('invalid_input', problems.join('\n'))
  const { runs } = runsOf(context)
  const approved = new Set([context.values.approve ?? []].flat().map(String))
  // A command of an agent must not open the gates of its own pipeline.
  if (approved.size > 0) refuseInsideCall(context)
  const workers = createWorkers(context, {
    session,
    run: saved.id,
    approved,
    save: async progress => runs.save({ ...saved, status: 'running', progress: { ...progress } }),
  })
  // Read back from a file whose shape was checked; what each status carries was written by progress.ts.
  const run = {
    pipeline: file.pipeline,
    input: saved.input,
    progress: saved.progress as PipelineRun['progress'],
  }
  const ended = await runPipeline(run, workers)
  const kept: SavedPipelineRun = { ...saved, status: ended.status, progress: { ...ended.progress } }
  runs.save(kept)
  if (output.json) output.object({ ...summarize(kept), steps: kept.progress.steps })
  else output.note(describeEnd(kept))
  return ended.status === 'completed' ? EXIT.ok : ended.status === 'failed' ? EXIT.failed : EXIT.needsPerson
}

function describeEnd({ id, status }: SavedPipelineRun): string {
  if (status === 'waiting')
    return `waits for a person. Answer (kogu approvals list), then: kogu pipeline resume ${id}`
  return `${status}. To take back what it changed: kogu undo --run ${id}`
}

function summarize({ id, pipeline: name, status, startedAt }: SavedPipelineRun) {
  return { id, pipeline: name, status, started_at: startedAt }
}

function requireRun(context: CommandContext, id: string): SavedPipelineRun {
  const found = runsOf(context).runs.find(id)
  if (found === undefined)
    throw new ToolError('not_found', `There is no run '${id}' of a pipeline.`, {
      hint: 'See: kogu pipeline list',
    })
  return found
}

/** A repository can bring pipelines along; what nobody has looked at does not run. */
function requireTrusted({ environment }: CommandContext, file: PipelineFile, root: string): PipelineFile {
  if (openScriptTrust(environment.directories.state, root).isTrusted(file)) return file
  const { name } = file.pipeline
  throw new ToolError('needs_approval', `The pipeline '${name}' is new or has changed, so it does not run.`, {
    hint: `Look at it and allow it: kogu pipeline trust ${name}`,
  })
}

function readInput(
  { values }: CommandContext,
  { pipeline: { input, name } }: PipelineFile,
): Record<string, unknown> {
  const given = Object.fromEntries(
    [values.input ?? []].flat().map(text => {
      const [, key, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(String(text)) ?? []
      if (key === undefined) throw new UsageError('--input takes NAME=VALUE.')
      if (!Object.hasOwn(input, key)) throw new UsageError(`The pipeline '${name}' has no input '${key}'.`)
      return [key, value]
    }),
  )
  return Object.fromEntries(
    Object.entries(input).map(([key, field]) => {
      const text = given[key]
      if (text === undefined) {
        if (field.required && field.default === undefined)
          throw new UsageError(`The pipeline '${name}' needs '${key}'.`, `--input ${key}=…`)
        return [key, field.default ?? '']
      }
      if (field.type === 'number' && Number.isNaN(Number(text)))
        throw new UsageError(`'${key}' is a number, not '${text}'.`)
      return [key, field.type === 'number' ? Number(text) : field.type === 'boolean' ? text === 'true' : text]
    }),
  )
}

function refuseInsideCall({ environment }: CommandContext): void {
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
}
