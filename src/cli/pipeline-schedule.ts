import { ToolError } from '../core/errors.ts'
import { readPipeline } from '../pipelines/files.ts'
import { readInput } from '../pipelines/pipelines.ts'
import { createSchedule, nextTime, openSchedules, type Schedule } from '../pipelines/schedules.ts'
import type { Places } from '../store/places.ts'
import { type CommandContext, textOption, UsageError } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { loadForCommand } from './open-runtime.ts'
import { table } from './output.ts'
import { readGiven } from './pipeline-runs.ts'

const CATCH_UPS = ['once', 'skip', 'all'] as const

/** `kogu pipeline schedule`: lists, or adds one. */
export async function schedule(context: CommandContext, places: Places, name: string): Promise<number> {
  const { output, values, positionals } = context
  const schedules = openSchedules(places)
  const [, , cron] = positionals
  if (name === '') {
    const all = schedules.list().map(toShown)
    if (output.json) output.object({ schedules: all })
    else if (all.length === 0) output.note('Nothing is scheduled.')
    else output.data(table(all.map(each => [each.id, each.pipeline, each.cron, each.next ?? 'never'])))
    return EXIT.ok
  }
  if (cron === undefined) throw new UsageError('When?', `kogu pipeline schedule ${name} "0 9 * * 1"`)
  const { pipeline } = readPipeline(loadForCommand(context).workspace.root, name)
  const timezone = textOption(values, 'timezone')
  const wanted = textOption(values, 'catch-up') ?? 'once'
  const catchUp = CATCH_UPS.find(each => each === wanted)
  if (catchUp === undefined)
    throw new UsageError(`--catch-up takes ${CATCH_UPS.join(', ')}, not '${wanted}'.`)
  const made = createSchedule(
    {
      ...{ pipeline: name, cron, catchUp, input: readInput(pipeline, readGiven(context)) },
      ...(timezone === undefined ? {} : { timezone }),
    },
    new Date(),
  )
  await schedules.add(made)
  const shown = toShown(made)
  if (output.json) output.object(shown)
  else output.note(`${made.id}: ${name} runs next at ${shown.next ?? 'no time'}, while kogu serve is there.`)
  return EXIT.ok
}

export async function unschedule({ output }: CommandContext, places: Places, id: string): Promise<number> {
  if (!(await openSchedules(places).remove(id)))
    throw new ToolError('not_found', `There is no schedule '${id}'.`, { hint: 'See: kogu pipeline schedule' })
  if (output.json) output.object({ ok: true })
  else output.note(`${id} is no longer scheduled.`)
  return EXIT.ok
}

function toShown(made: Schedule) {
  const next = nextTime(made, new Date())
  const { id, pipeline, cron, timezone, catchUp } = made
  return {
    id,
    pipeline,
    cron,
    timezone: timezone ?? null,
    catch_up: catchUp,
    next: next?.toISOString() ?? null,
  }
}
