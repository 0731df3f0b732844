import { ToolError } from '../core/errors.ts'
import { toLine } from '../core/visible.ts'
import { readPipeline } from '../pipelines/files.ts'
import { readInput } from '../pipelines/input.ts'
import { createSchedule, openSchedules, showSchedule, withPause } from '../pipelines/schedules.ts'
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
    const all = schedules.list().map(each => showSchedule(each, new Date()))
    if (output.json) output.object({ schedules: all })
    else if (all.length === 0) output.note('Nothing is scheduled.')
    else
      output.data(
        table(
          all.map(({ id, pipeline, cron, paused, next, last }) => [
            ...[id, pipeline, cron, paused ? 'paused' : (next ?? 'never')],
            last?.problem == null ? (last?.run ?? '') : toLine(last.problem),
          ]),
        ),
      )
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
  const shown = showSchedule(made, new Date())
  if (output.json) output.object(shown)
  else
    output.note(`${made.id}: ${name} runs next at ${shown.next ?? 'no time'}, if kogu serve is running then.`)
  return EXIT.ok
}

export async function unschedule({ output }: CommandContext, places: Places, id: string): Promise<number> {
  if (!(await openSchedules(places).remove(id))) throw noSchedule(id)
  if (output.json) output.object({ ok: true })
  else output.note(`${id} is no longer scheduled.`)
  return EXIT.ok
}

/** `kogu pipeline pause ID` and, for a schedule, `kogu pipeline resume ID`. */
export async function setPaused(
  { output }: CommandContext,
  places: Places,
  id: string,
  paused: boolean,
): Promise<number> {
  const schedules = openSchedules(places)
  const found = schedules.list().find(each => each.id === id)
  if (found === undefined) throw noSchedule(id)
  const changed = withPause(found, paused, new Date())
  await schedules.replace(changed)
  const shown = showSchedule(changed, new Date())
  if (output.json) output.object(shown)
  else output.note(paused ? `${id} is paused.` : `${id} runs next at ${shown.next ?? 'no time'}.`)
  return EXIT.ok
}

function noSchedule(id: string): ToolError {
  return new ToolError('not_found', `There is no schedule '${id}'.`, { hint: 'See: kogu pipeline schedule' })
}
