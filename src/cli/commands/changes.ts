import { ToolError } from '../../core/errors.ts'
import { toLine } from '../../core/visible.ts'
import type { Runtime } from '../../runtime.ts'
import type { CallChanges, UndoSelection } from '../../workspace/undo/undo-plan.ts'
import { toChangeHistory, type UndoState, wholeCallIds, wholeRunId } from '../change-history.ts'
import { type Command, type CommandContext, countOption, textOption } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import type { Output } from '../output.ts'
import { type ChangeView, changeEntries } from '../render-changes.ts'
import { createRoom, showEntries } from '../room.ts'

export const changes: Command = {
  help: `
List what calls changed, with diffs, the newest first.

  kogu changes
  kogu changes --last 3
  kogu changes --run nightly --json
  kogu changes call_4f9c        by its id or the start of it

Options
  --last N    the last N calls that changed something
  --run ID    what one run changed
`,
  options: { run: { type: 'string' }, last: { type: 'string' } },
  async run(context) {
    const runtime = await openRuntime(context)
    try {
      for (const sentence of await runtime.recover()) context.output.note(toLine(sentence))
      const calls = await runtime.listChanges(await readSelection(context, runtime))
      const { stateOf } = toChangeHistory(calls.some(each => each.undone) ? await runtime.listChanges() : [])
      const [wanted] = context.positionals
      if (wanted !== undefined && calls.length === 0) {
        throw new ToolError('not_found', `No change by the call '${wanted}' is recorded.`, {
          hint: 'See: kogu changes',
        })
      }
      if (context.output.json) context.output.object(calls.map(call => toData(call, stateOf(call))))
      else if (calls.length === 0) context.output.note('No changes are recorded.')
      else
        context.output.data(
          renderCalls(calls, stateOf, {
            runtime,
            output: context.output,
            cwd: context.cwd,
            contentWith: await runtime.openContents(),
          }),
        )
      return EXIT.ok
    } finally {
      await runtime.close()
    }
  },
}

async function readSelection(
  { positionals, values }: CommandContext,
  runtime: Runtime,
): Promise<UndoSelection | undefined> {
  const run = textOption(values, 'run')
  const last = countOption(values, 'last')
  if (positionals.length > 0) return { calls: await wholeCallIds(positionals, runtime) }
  if (run !== undefined) return { run: await wholeRunId(run, await runtime.listChanges(), runtime) }
  return last === undefined ? undefined : { last }
}

function toData({ call, run, tool, at, undoes, records }: CallChanges, state: UndoState) {
  const effects = records.flatMap(record =>
    record.changes.map(({ change, path, entry, before, after, undoable = true }) => ({
      change,
      path,
      entry,
      before,
      after,
      undoable,
    })),
  )
  return {
    call,
    run,
    tool,
    at: new Date(at).toISOString(),
    undoes,
    undone: state === 'undone',
    partly_undone: state === 'partly undone',
    effects,
  }
}

/** Once there is no more room for diffs, so many paths of each call are named, and of so many calls. */
const PATHS_OF_EACH = 10
const MOST_CALLS = 50

function renderCalls(
  calls: readonly CallChanges[],
  stateOf: (call: CallChanges) => UndoState,
  view: ChangeView,
): string {
  const room = createRoom()
  const shown: string[] = []
  let withoutDiffs = 0
  for (const [index, each] of calls.entries()) {
    if (room.full <= 0) withoutDiffs += 1
    if (withoutDiffs > MOST_CALLS) {
      shown.push(`and ${calls.length - index} more calls (all of it: --json)`)
      break
    }
    if (calls.length > 1) room.lines = PATHS_OF_EACH
    const entries = showEntries(changeEntries(each.records, view), room)
    shown.push(callLine(each, stateOf(each), view.output), ...entries)
  }
  return shown.join('\n')
}

function callLine({ call, tool, at }: CallChanges, state: UndoState, output: Output): string {
  const time = new Date(at).toISOString().slice(0, 19).replace('T', ' ')
  const note = state === 'in force' ? '' : output.style('dim', ` (${state})`)
  return `${output.style('bold', toLine(tool))} ${toLine(call)}  ${time}${note}`
}
