import { ToolError } from '../../core/errors.ts'
import { toVisible } from '../../core/visible.ts'
import type { Runtime } from '../../runtime.ts'
import type { CallChanges, UndoSelection } from '../../workspace/undo-plan.ts'
import { type Command, type CommandContext, countOption, textOption } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import { renderChange } from '../render-changes.ts'

export const changes: Command = {
  help: `
List what calls changed, with diffs, the newest first.

  kogu changes
  kogu changes --last 3
  kogu changes --run nightly --json
  kogu changes call_4f9c…

Options
  --last N    the last N calls that changed something
  --run ID    what one run changed
`,
  options: { run: { type: 'string' }, last: { type: 'string' } },
  async run(context) {
    const runtime = await openRuntime(context)
    try {
      for (const sentence of await runtime.recover()) context.output.note(sentence)
      const calls = await runtime.listChanges(readSelection(context))
      const [wanted] = context.positionals
      if (wanted !== undefined && calls.length === 0) {
        throw new ToolError('not_found', `No change by the call '${wanted}' is kept.`, {
          hint: 'See: kogu changes',
        })
      }
      if (context.output.json) context.output.object(calls.map(toData))
      else if (calls.length === 0)
        context.output.note('No call changed anything, as far as the undo store remembers.')
      else context.output.data(calls.map(call => renderCall(call, context, runtime)).join('\n'))
      return EXIT.ok
    } finally {
      await runtime.close()
    }
  },
}

function readSelection({ positionals, values }: CommandContext): UndoSelection | undefined {
  const run = textOption(values, 'run')
  const last = countOption(values, 'last')
  if (positionals.length > 0) return { calls: positionals }
  if (run !== undefined) return { run }
  return last === undefined ? undefined : { last }
}

function toData({ call, run, tool, at, undoes, undone, records }: CallChanges) {
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
  return { call, run, tool, at: new Date(at).toISOString(), undoes, undone, effects }
}

function renderCall(
  { call, tool, at, undone, records }: CallChanges,
  { output }: CommandContext,
  runtime: Runtime,
): string {
  const time = new Date(at).toISOString().slice(0, 19).replace('T', ' ')
  const state = undone ? output.style('dim', ' (undone)') : ''
  return [
    `${output.style('bold', tool)} ${call}  ${toVisible(time)}${state}`,
    ...records.flatMap(record => record.changes.map(change => renderChange(record, change, runtime, output))),
  ].join('\n')
}
