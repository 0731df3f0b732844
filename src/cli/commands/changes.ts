import { ToolError } from '../../core/errors.ts'
import { toVisible } from '../../core/visible.ts'
import type { Runtime } from '../../runtime.ts'
import type { CallChanges, UndoSelection } from '../../workspace/undo-plan.ts'
import { toChangeHistory, type UndoState, wholeCallIds } from '../change-history.ts'
import { type Command, type CommandContext, countOption, textOption } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { matchId } from '../match-id.ts'
import { openRuntime } from '../open-runtime.ts'
import { renderChange } from '../render-changes.ts'

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
      for (const sentence of await runtime.recover()) context.output.note(sentence)
      const calls = await runtime.listChanges(await readSelection(context, runtime))
      const { stateOf } = toChangeHistory(calls.some(each => each.undone) ? await runtime.listChanges() : [])
      const [wanted] = context.positionals
      if (wanted !== undefined && calls.length === 0) {
        throw new ToolError('not_found', `No change by the call '${wanted}' is kept.`, {
          hint: 'See: kogu changes',
        })
      }
      if (context.output.json) context.output.object(calls.map(call => toData(call, stateOf(call))))
      else if (calls.length === 0)
        context.output.note('No call changed anything, as far as the undo store remembers.')
      else
        context.output.data(calls.map(call => renderCall(call, stateOf(call), context, runtime)).join('\n'))
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
  if (run !== undefined) {
    const runs = (await runtime.listChanges()).map(each => each.run)
    return { run: matchId(run, 'run', runs) }
  }
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

function renderCall(
  { call, tool, at, records }: CallChanges,
  state: UndoState,
  { output }: CommandContext,
  runtime: Runtime,
): string {
  const time = new Date(at).toISOString().slice(0, 19).replace('T', ' ')
  const note = state === 'in force' ? '' : output.style('dim', ` (${state})`)
  return [
    `${output.style('bold', tool)} ${call}  ${toVisible(time)}${note}`,
    ...records.flatMap(record => record.changes.map(change => renderChange(record, change, runtime, output))),
  ].join('\n')
}
