import { createInterface } from 'node:readline/promises'
import { toVisible } from '../../core/visible.ts'
import type { Runtime } from '../../runtime.ts'
import type { CallChanges, UndoConflict, UndoPlan, UndoSelection } from '../../workspace/undo-plan.ts'
import { toChangeHistory, wholeCallIds } from '../change-history.ts'
import { type Command, type CommandContext, countOption, flag, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { matchId } from '../match-id.ts'
import { openRuntime } from '../open-runtime.ts'
import { renderStep } from '../render-changes.ts'

export const undo: Command = {
  help: `
Take back what calls changed: exactly the bytes, modes and links from before. Nothing that somebody changed since is touched.

  kogu undo                       the last call that changed something
  kogu undo call_4f9c             one call, by its id or the start of it
  kogu undo --last 3 --dry-run    what would come back, without doing it
  kogu undo --run nightly --yes   everything a run changed

Options
  --dry-run           only show the plan
  --yes               do it without asking
  --skip-conflicts    take back the paths that nobody changed since, and leave the others; the call is partly undone
                      then, and naming it again takes back the rest

An undo is recorded like a call and can be undone itself. Exit codes: 0 done, 1 conflicts, 7 needs --yes
`,
  options: {
    run: { type: 'string' },
    last: { type: 'string' },
    'dry-run': { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
    'skip-conflicts': { type: 'boolean' },
  },
  async run(context) {
    if (context.environment.insideCall !== undefined) {
      throw new UsageError('A Kogu that was started from inside a Kogu call never undoes.')
    }
    const runtime = await openRuntime(context)
    try {
      for (const sentence of await runtime.recover()) context.output.note(sentence)
      const plan = await runtime.planUndo(await readSelection(context, runtime), {
        leaveOut: flag(context.values, 'skip-conflicts') ? 'paths' : 'calls',
      })
      return await carryOut(context, runtime, plan)
    } finally {
      await runtime.close()
    }
  },
}

async function readSelection(
  { positionals, values }: CommandContext,
  runtime: Runtime,
): Promise<UndoSelection> {
  const run = textOption(values, 'run')
  const last = countOption(values, 'last')
  const given = [positionals.length > 0, run !== undefined, last !== undefined].filter(Boolean).length
  if (given > 1) throw new UsageError('Name calls, or --run, or --last: only one of them.')
  if (positionals.length > 0) return { calls: await wholeCallIds(positionals, runtime) }
  return run === undefined ? { last: last ?? 1 } : callsOfRun(run, await runtime.listChanges())
}

/** Also those of which an undo left something. */
function callsOfRun(given: string, all: readonly CallChanges[]): UndoSelection {
  const run = matchId(
    given,
    'run',
    all.map(each => each.run),
  )
  const history = toChangeHistory(all)
  const left = all.filter(
    each => each.run === run && each.undoes.length === 0 && history.stateOf(each) !== 'undone',
  )
  return { calls: left.map(each => each.call) }
}

async function carryOut(context: CommandContext, runtime: Runtime, plan: UndoPlan): Promise<number> {
  const { output, values } = context
  const conflicts = await explainConflicts(plan, runtime)
  const report = describe(plan, conflicts)
  if (!output.json) output.data(render(plan, conflicts, context, runtime))
  // A call of which nothing but objects is left is taken back as far as it can be: the next undo is for the one before.
  const nothing = plan.steps.length === 0 && (plan.leftObjects === 0 || plan.conflicts.length > 0)
  const skips = flag(values, 'skip-conflicts')
  const blocked = plan.conflicts.length > 0 && (nothing || !skips)
  if (nothing || blocked || flag(values, 'dry-run')) {
    const rest = skips ? 'Nothing else is left.' : '--skip-conflicts takes back the rest.'
    const message = `Nothing was changed. ${summarize(conflicts)}. ${rest}`
    if (blocked) output.problem(message)
    const error = blocked ? { code: 'conflict', message, hint: null } : null
    if (output.json) output.object({ ok: !blocked, done: false, error, ...report })
    return blocked ? EXIT.failed : EXIT.ok
  }
  if (!flag(values, 'yes') && !(await confirm(context))) {
    output.note('Nothing was changed. To do it: add --yes')
    if (output.json) output.object({ ok: false, done: false, ...report })
    return EXIT.needsPerson
  }
  const result = await runtime.applyUndo(plan, { despiteConflicts: skips })
  if (output.json)
    output.object({ ok: true, done: true, call: result.call, verified: result.verified, ...report })
  else
    output.note(
      `Done, and ${result.verified} read again to prove it. To take this back: kogu undo ${result.call}`,
    )
  return EXIT.ok
}

interface ExplainedConflict extends UndoConflict {
  /** The later call that is in the way; null: somebody else, or something that undoing cannot settle. */
  readonly changed_by: { readonly call: string; readonly tool: string } | null
}

async function explainConflicts({ conflicts }: UndoPlan, runtime: Runtime): Promise<ExplainedConflict[]> {
  if (conflicts.length === 0) return []
  const history = toChangeHistory(await runtime.listChanges())
  return conflicts.map(conflict => {
    const blocker = history.blockerOf(conflict)
    return {
      ...conflict,
      changed_by: blocker === undefined ? null : { call: blocker.call, tool: blocker.tool },
    }
  })
}

function describe({ calls, steps, staying, leftObjects }: UndoPlan, conflicts: readonly ExplainedConflict[]) {
  return {
    calls: calls.map(({ call, tool, run }) => ({ call, tool, run })),
    steps: steps.map(({ path, now, then }) => ({
      path,
      now: now?.state ?? null,
      restored: then?.state ?? null,
    })),
    conflicts,
    staying,
    left_git_objects: leftObjects,
  }
}

function render(
  plan: UndoPlan,
  conflicts: readonly ExplainedConflict[],
  { output }: CommandContext,
  runtime: Runtime,
): string {
  const { calls, steps, staying, leftObjects } = plan
  const stuck = new Set(conflicts.map(({ call }) => call))
  const taken = steps.length === 0 ? calls.filter(({ call }) => !stuck.has(call)) : calls
  if (calls.length === 0 && conflicts.length === 0) return 'Nothing to undo.'
  return [
    ...taken.map(
      ({ call, tool }) =>
        `${output.style('bold', 'undo')} ${tool} ${call}${stuck.has(call) ? ' in part' : ''}`,
    ),
    ...steps.map(step => renderStep(step, runtime, output)),
    ...staying.map(path => `  stays   ${toVisible(path)}: it holds something else now`),
    ...(leftObjects === 0
      ? []
      : [`  left    ${leftObjects} git objects, which git gc collects once nothing uses them`]),
    ...conflicts.map(
      conflict =>
        `  ${output.style('red', 'conflict')} ${toVisible(conflict.path)}: ${causeOf(conflict, stuck)}`,
    ),
  ].join('\n')
}

function causeOf({ reason, changed_by }: ExplainedConflict, stuck: ReadonlySet<string>): string {
  if (changed_by === null) return reason
  const { tool, call } = changed_by
  const way = stuck.has(call) ? 'which cannot be undone either' : `undo that one first: kogu undo ${call}`
  return `changed by ${tool} ${call}, ${way}`
}

function summarize(conflicts: readonly ExplainedConflict[]): string {
  const [first] = conflicts
  if (first === undefined) return 'there is nothing to undo'
  const more = conflicts.length === 1 ? '' : ` (and ${conflicts.length - 1} more)`
  const stuck = new Set(conflicts.map(({ call }) => call))
  return `${toVisible(first.path)}: ${causeOf(first, stuck)}${more}`
}

async function confirm({ stdin }: CommandContext): Promise<boolean> {
  if (stdin.isTTY !== true || process.stderr.isTTY !== true) return false
  const lines = createInterface({ input: stdin, output: process.stderr })
  try {
    return (await lines.question('Type yes to do this: ')).trim().toLowerCase() === 'yes'
  } finally {
    lines.close()
  }
}
