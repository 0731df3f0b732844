import { InvalidPipeline } from '../agents/pipelines/pipeline.ts'
import { toLine } from '../core/visible.ts'
import {
  createPipelineRun,
  createRunAgain,
  type PipelineOptions,
  type PipelineParts,
  type PlannedAgain,
  planAgain,
  repeatsOf,
  requirePipelineRun,
  workOnPipeline,
} from '../pipelines/pipelines.ts'
import type { PipelineEvent } from '../pipelines/work.ts'
import { pipelineRunsOf, type SavedPipelineRun } from '../store/pipeline-runs.ts'
import { type CommandContext, CommandError, flag, textOption, UsageError } from './command.ts'
import { confirmed } from './confirm.ts'
import { EXIT } from './exit-codes.ts'
import type { Output } from './output.ts'
import { withRuns } from './run-session.ts'

/** `kogu pipeline run NAME`: the whole of it, or `--from STEP`, `--only STEP` with the outputs of an earlier run. */
export function runNew(context: CommandContext, name: string): Promise<number> {
  return withParts(context, async parts => {
    const again = readAgain(context, parts, name)
    const model = textOption(context.values, 'model')
    const choices = { rehearse: flag(context.values, 'rehearse'), model }
    if (again === undefined)
      return work(context, parts, await createPipelineRun(parts, name, readGiven(context), choices))
    const repeats = repeatsOf(parts, again)
    if (repeats.length > 0 && !(await agreed(context, repeats))) {
      if (context.output.json) context.output.object({ ok: false, repeats })
      context.output.problem(
        `These were done before and would be done again:\n${repeats.join('\n')}\nAdd --yes.`,
      )
      return EXIT.needsPerson
    }
    if (again.of?.rehearse === true && !choices.rehearse)
      context.output.note(`${again.of.id} was a rehearsal, so this run is one too.`)
    return work(context, parts, await createRunAgain(parts, again, readGiven(context), choices))
  })
}

export function resumeRun(context: CommandContext, id: string): Promise<number> {
  return withParts(context, async parts => {
    const run = requirePipelineRun(pipelineRunsOf(parts.runtime.places), id)
    if (run.build === undefined) return work(context, parts, run)
    return (await import('./build-session.ts')).workOnBuild(context, parts, run)
  })
}

/** Opens everything that working on a pipeline takes. */
export function withParts<T>(
  context: CommandContext,
  use: (parts: PipelineParts & Pick<PipelineOptions, 'approver'>) => Promise<T>,
): Promise<T> {
  return withRuns(context, ({ loaded, database, runtime, runs, approver }) =>
    use({ loaded, database, runtime, runs, approver, environment: context.environment }),
  ).catch((error: unknown) => {
    // As `kogu pipeline validate` ends where the file is wrong.
    if (error instanceof InvalidPipeline) throw new CommandError(EXIT.config, error.message, error.hint)
    throw error
  })
}

export function names(context: CommandContext, option: string): string[] {
  return [context.values[option] ?? []].flat().map(String)
}

/** `--input NAME=VALUE`, as often as there are values. */
export function readGiven(context: CommandContext): Record<string, string> {
  return Object.fromEntries(
    names(context, 'input').map(text => {
      const [, key, value = ''] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(text) ?? []
      if (key === undefined) throw new UsageError('--input takes NAME=VALUE.')
      return [key, value]
    }),
  )
}

async function work(
  context: CommandContext,
  parts: PipelineParts & Pick<PipelineOptions, 'approver'>,
  run: SavedPipelineRun,
): Promise<number> {
  const { output, signal } = context
  const ended = await workOnPipeline(parts, run.id, {
    signal,
    ...(parts.approver === undefined ? {} : { approver: parts.approver }),
    approve: names(context, 'approve'),
    retry: names(context, 'retry'),
    skip: names(context, 'skip'),
    onEvent: event => show(output, event),
  })
  if (output.json) output.object({ ...summarizeRun(ended), steps: ended.progress.steps })
  else output.note(describeEnd(ended))
  if (ended.status === 'completed') return EXIT.ok
  return ended.status === 'failed' ? EXIT.failed : EXIT.needsPerson
}

function show(output: Output, event: PipelineEvent): void {
  if (event.type === 'agent.event') return
  if (event.type === 'step.started')
    output.note(`${output.signs.begins} ${event.step}  ${toLine(event.what)}`)
  else if (event.type === 'step.waiting')
    output.note(`${output.signs.waits} ${event.step}  waits ${event.why}`)
  else
    output.note(
      `${event.ok ? output.signs.ok : output.signs.failed} ${event.step}${event.error === undefined ? '' : `  ${firstLines(event.error)}`}`,
    )
}

const SHOWN_LINES = 12
const LONGEST_LINE = 500

/** What a failed check says first, under the step's name; `kogu pipeline show` has the rest. */
export function firstLines(text: string): string {
  const lines = text.trim().split('\n')
  const shown = lines.slice(0, SHOWN_LINES).map(line => toLine(line, LONGEST_LINE))
  return [
    ...shown,
    ...(lines.length > SHOWN_LINES ? [`… ${lines.length - SHOWN_LINES} more lines`] : []),
  ].join('\n    ')
}

function describeEnd({ id, status }: SavedPipelineRun): string {
  if (status === 'waiting')
    return `waits for a person. Answer (kogu approvals list), then: kogu pipeline resume ${id}`
  if (status === 'stopped') return `stopped. To go on: kogu pipeline resume ${id}`
  return `${status}. To take back what it changed: kogu undo --run ${id}`
}

export function summarizeRun({ id, pipeline, status, startedAt, continues }: SavedPipelineRun) {
  return { id, pipeline, status, started_at: startedAt, ...(continues === undefined ? {} : { continues }) }
}

function readAgain(
  { values }: CommandContext,
  parts: PipelineParts,
  pipeline: string,
): PlannedAgain | undefined {
  const from = textOption(values, 'from')
  const only = textOption(values, 'only')
  const step = from ?? only
  if (from !== undefined && only !== undefined) throw new UsageError('Use --from or --only, not both.')
  if (step === undefined) {
    if (values.of !== undefined) throw new UsageError('--of needs --from STEP or --only STEP.')
    return undefined
  }
  const extent = from === undefined ? 'only' : 'from'
  return planAgain(parts, { pipeline, step, extent, of: textOption(values, 'of') })
}

async function agreed(context: CommandContext, repeats: readonly string[]): Promise<boolean> {
  if (flag(context.values, 'yes')) return true
  return confirmed(context, `These were done before and would be done again:\n${repeats.join('\n')}\nDo it?`)
}
