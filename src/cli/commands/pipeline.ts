import { relative } from 'node:path'
import type { LoadedConfig } from '../../config/load.ts'
import { noApprover } from '../../core/approval.ts'
import { toToolError } from '../../core/errors.ts'
import { toLine } from '../../core/visible.ts'
import { problemsOf, warningsOf } from '../../pipelines/checks.ts'
import { listPipelines, readPipeline } from '../../pipelines/files.ts'
import { requiredOf } from '../../pipelines/input.ts'
import { requirePipelineRun } from '../../pipelines/pipelines.ts'
import { isTrusted, trustPipeline } from '../../pipelines/trust.ts'
import { createRuntime, type Runtime } from '../../runtime.ts'
import { pipelineRunsOf, type SavedPipelineRun } from '../../store/pipeline-runs.ts'
import { placesFor } from '../../store/places.ts'
import { type Command, type CommandContext, textOption, UsageError, unknownVerb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { table } from '../output.ts'
import { firstLines, names, resumeRun, runNew, summarizeRun, withParts } from '../pipeline-runs.ts'

export const pipeline: Command = {
  help: `
Run pipelines: tools and panels, chained in .kogu/pipelines/NAME.toml.

  kogu pipeline new weekly --template weekly-review    create one; without --template, a short example
  kogu pipeline validate weekly               check it; runs nothing, exit 3 if something is wrong
  kogu pipeline trust weekly                  trust it and its panels as they are now
  kogu pipeline run weekly --input topic=tea
  kogu pipeline run weekly --rehearse         play .kogu/rehearsals instead of calling models
  kogu pipeline run weekly --from write       start in the middle, with the outputs of the last run
  kogu pipeline resume pl_4f9c12ab34cd        continue after its questions are answered (kogu approvals list)
  kogu pipeline schedule weekly "0 9 * * 1"   every Monday at nine, run by kogu serve; without a time: list schedules
  kogu pipeline pause ps_1f2e3d4c             until: kogu pipeline resume ps_1f2e3d4c
  kogu pipeline unschedule ps_1f2e3d4c
  kogu pipeline list                          list pipelines, and runs and builds that are open
  kogu pipeline show pl_4f9c12ab34cd          show the steps of a run with their outputs; of a build also its report
  kogu pipeline accept pl_4f9c12ab34cd        of a build: merge its branch into what is checked out
  kogu pipeline discard pl_4f9c12ab34cd       of a build: delete its copy and its branch

Templates
  folder-summary er-diagram design-to-code bug-fix auto-docs code-review market-research weekly-review self-bootstrap

Options
  --input NAME=VALUE   a value for its [input]; repeatable
  --model M            use this model instead of the panels' own
  --from STEP · --only STEP   with the outputs of an earlier run (--of ID, or the last one) for the steps before;
                       lists what would be done twice, and then needs --yes
  --catch-up HOW       for times missed while no server ran: once (default), skip or all · --timezone Europe/Berlin
  --approve STEP       with resume: approve the gate of a step; repeatable
  --retry STEP         with resume: repeat a step whose outcome is unknown · --skip STEP: treat it as done

Every call is decided, recorded and undoable; kogu undo --run ID undoes a whole run. resume continues where a run stopped.
Exit codes: 0 completed, 1 failed, 3 not valid, 7 waits for a person, 9 no such pipeline
`,
  options: {
    template: { type: 'string' },
    input: { type: 'string', multiple: true },
    approve: { type: 'string', multiple: true },
    retry: { type: 'string', multiple: true },
    skip: { type: 'string', multiple: true },
    from: { type: 'string' },
    only: { type: 'string' },
    of: { type: 'string' },
    yes: { type: 'boolean' },
    rehearse: { type: 'boolean' },
    mode: { type: 'string' },
    model: { type: 'string' },
    'yes-once': { type: 'boolean' },
    'catch-up': { type: 'string' },
    timezone: { type: 'string' },
  },
  words: {
    ...{ list: 1, show: 2, validate: 2, new: 2, trust: 2, run: 2, resume: 2, pause: 2, unschedule: 2 },
    ...{ accept: 2, discard: 2 },
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
        return runNew(context, name)
      case 'pause':
        refuseInsideCall(context)
        return (await import('../pipeline-schedule.ts')).setPaused(
          context,
          placeOf(context).places,
          name,
          true,
        )
      case 'resume':
        if (name.startsWith('ps_')) {
          refuseInsideCall(context)
          const { setPaused } = await import('../pipeline-schedule.ts')
          return setPaused(context, placeOf(context).places, name, false)
        }
        // A command of an agent must not open the gates of its own pipeline.
        if (names(context, 'approve').length > 0) refuseInsideCall(context)
        return resumeRun(context, name)
      case 'schedule':
      case 'unschedule':
        refuseInsideCall(context)
        return (await import('../pipeline-schedule.ts'))[verb](context, placeOf(context).places, name)
      case 'accept':
      case 'discard':
        refuseInsideCall(context)
        return (await import('../settle-build.ts'))[verb](context, name)
      default:
        throw unknownVerb('pipeline', verb, VERBS)
    }
  },
}

const VERBS = [
  ...['run', 'list', 'show', 'validate', 'new', 'trust', 'resume'],
  ...['schedule', 'pause', 'unschedule', 'accept', 'discard'],
]

function placeOf(context: CommandContext) {
  const { root } = loadForCommand(context).workspace
  const places = placesFor(root, context.environment.directories.state)
  return { root, places, runs: pipelineRunsOf(places) }
}

function list(context: CommandContext): number {
  const { root, runs } = placeOf(context)
  const found = listPipelines(root)
  // A build is open until a person has taken it or thrown it away.
  const open = runs
    .list()
    .filter(({ status, build }) =>
      build === undefined ? status !== 'completed' : build.settled === undefined,
    )
  const { output, environment } = context
  if (output.json) output.object({ pipelines: found, runs: open.map(summarizeRun) })
  else if (found.length + open.length === 0)
    output.note('There are no pipelines. Make one: kogu pipeline new NAME')
  else {
    const state = (name: string): string => {
      try {
        return isTrusted(environment, root, readPipeline(root, name)) ? '' : 'not trusted'
      } catch {
        // A file that is no pipeline; `validate` says why.
        return 'not valid'
      }
    }
    const rows = [
      ...found.map(name => [name, '', state(name)]),
      ...open.map(run => [run.pipeline, run.id, run.status]),
    ]
    output.data(table(rows))
  }
  return EXIT.ok
}

async function show(context: CommandContext, wanted: string): Promise<number> {
  const run = requirePipelineRun(placeOf(context).runs, wanted)
  if (context.output.json) context.output.object(run)
  else {
    const { describeReport } = await import('../../pipelines/build/report.ts')
    for (const line of describeReport(run)) context.output.data(line)
    context.output.data(
      table(
        Object.entries(run.progress.steps).flatMap(([id, step]) => {
          const [first = '', ...more] = describeStep(step).split('\n')
          return [[id, stateOf(step), first], ...more.map(line => ['', '', line])]
        }),
      ),
    )
  }
  return EXIT.ok
}

type SavedStep = SavedPipelineRun['progress']['steps'][string]

/** A step that ran and says no has failed, whatever else it is. */
function stateOf(step: SavedStep): string {
  if (step.status !== 'done' || step.verdict === undefined) return step.status
  return step.verdict.is === 'failed' ? 'failed' : 'warning'
}

function describeStep(step: SavedStep): string {
  if (step.status === 'failed') return firstLines(step.error)
  if (step.status === 'done' && step.verdict !== undefined) return firstLines(step.verdict.why)
  if (step.status === 'skipped') return step.reason
  if (step.status !== 'done') return step.run === undefined ? '' : `run ${step.run}`
  const from = step.untrusted === undefined ? '' : `(from ${toLine(step.untrusted)}) `
  return `${from}${toLine(step.text.slice(0, 200).replaceAll(/\s+/g, ' ')).slice(0, 80)}`
}

async function validate(context: CommandContext, name: string): Promise<number> {
  const loaded = loadForCommand(context)
  const { environment, output } = context
  const runtime = await createRuntime({ loaded, environment, approver: noApprover('it only looks') })
  try {
    const { problems, warnings } = await findProblems(runtime, loaded, name)
    if (output.json) output.object({ ok: problems.length === 0, problems, warnings })
    else output.data(problems.length === 0 ? `${name} is valid` : problems.join('\n'))
    if (!output.json) for (const warning of warnings) output.note(`warning: ${warning}`)
    return problems.length === 0 ? EXIT.ok : EXIT.config
  } finally {
    await runtime.close()
  }
}

/** What cannot be read as a pipeline has one problem: why not. */
async function findProblems(runtime: Runtime, loaded: LoadedConfig, name: string) {
  try {
    const made = readPipeline(runtime.workspace, name).pipeline
    return { problems: await problemsOf(made, runtime), warnings: warningsOf(made, runtime, loaded) }
  } catch (error) {
    const { code, message } = toToolError(error)
    if (code !== 'invalid_input') throw error
    return { problems: [toLine(message)], warnings: [] }
  }
}

async function create(context: CommandContext, name: string): Promise<number> {
  refuseInsideCall(context)
  const { root } = placeOf(context)
  const { writeTemplate } = await import('../../pipelines/templates.ts')
  const files = await writeTemplate(root, name, textOption(context.values, 'template') ?? 'todo')
  const { output } = context
  if (output.json) output.object({ ok: true, file: files[0], files })
  else {
    const shown = files.map(file => relative(context.cwd, file))
    const inputs = requiredOf(readPipeline(root, name).pipeline).map(key => ` --input ${key}=…`)
    // With rehearsals it can be tried before any model is paid for.
    const rehearse = files.some(file => file.includes('/rehearsals/')) ? ' --rehearse' : ''
    output.note(
      `Wrote ${shown.join(', ')}. Then: kogu pipeline trust ${name} && kogu pipeline run ${name}${rehearse}${inputs.join('')}`,
    )
  }
  return EXIT.ok
}

async function trust(context: CommandContext, name: string): Promise<number> {
  refuseInsideCall(context)
  const whole = await withParts(context, parts =>
    trustPipeline({ ...parts, services: async () => parts }, name),
  )
  const [file, ...inside] = whole.files.map(({ pipeline, sha256 }) => ({ name: pipeline.name, sha256 }))
  const panels = whole.panels.map(panel => panel.name)
  const { output } = context
  if (output.json)
    output.object({ ok: true, sha256: file?.sha256, inside: inside.map(each => each.name), panels })
  else {
    const all = [
      ...inside.map(each => `the pipeline ${each.name}`),
      ...panels.map(panel => `the panel ${panel}`),
    ]
    output.note(`${[name, ...all].join(', ')} can run as ${all.length === 0 ? 'it is' : 'they are'} now.`)
  }
  return EXIT.ok
}

function refuseInsideCall({ environment }: CommandContext): void {
  if (environment.insideCall !== undefined) throw new UsageError('This is not available inside a Kogu call.')
}
