import { counted } from '../../core/counted.ts'
import { toLine } from '../../core/visible.ts'
import type { Runtime } from '../../runtime.ts'
import { pipelineRunsOf, wholePipelineRun } from '../../store/pipeline-runs.ts'
import { isOfRun, type UndoPlan, type UndoSelection } from '../../workspace/undo/undo-plan.ts'
import { interruptedUndo, toChangeHistory, wholeCallIds, wholeRunId } from '../change-history.ts'
import { type Command, type CommandContext, countOption, flag, textOption, UsageError } from '../command.ts'
import { confirmed } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import { describeBlocked, describePlan, explainConflicts, remarkOn, renderPlan } from '../undo-report.ts'

export const undo: Command = {
  help: `
Undo what calls changed: restores the exact bytes, modes and links. Never touches what was changed since.

  kogu undo                       the last call that changed something
  kogu undo call_4f9c             one call, by its id or the start of it
  kogu undo --last 3 --dry-run    what would come back, without doing it
  kogu undo --run nightly --yes   everything a run changed, with its sub-agents and panels

Options
  --dry-run           only show the plan
  --yes               do it without asking
  --skip-conflicts    undo only the paths that were not changed since; to undo the rest later, name the call again

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
      throw new UsageError('Undo is not available inside a Kogu call.')
    }
    const runtime = await openRuntime(context)
    try {
      for (const sentence of await runtime.recover()) context.output.note(toLine(sentence))
      const selection = await readSelection(context, runtime)
      const plan = await runtime.planUndo(selection, {
        leaveOut: flag(context.values, 'skip-conflicts') ? 'paths' : 'calls',
      })
      return await carryOut(context, runtime, selection, plan)
    } finally {
      await runtime.close()
    }
  },
}

async function readSelection(
  { positionals, values, output }: CommandContext,
  runtime: Runtime,
): Promise<UndoSelection> {
  const run = textOption(values, 'run')
  const last = countOption(values, 'last')
  const given = [positionals.length > 0, run !== undefined, last !== undefined].filter(Boolean).length
  if (given > 1) throw new UsageError('Use only one of: call ids, --run, --last.')
  if (positionals.length > 0) return { calls: await wholeCallIds(positionals, runtime) }
  if (run !== undefined) return callsOfRun(run, runtime)
  if (last !== undefined) return { last }
  const unfinished = interruptedUndo(await runtime.listChanges())
  if (unfinished.length === 0) return { last: 1 }
  output.note('The last undo was interrupted. This finishes it.')
  return { calls: unfinished }
}

/** Also those of which an undo left something. The run of a pipeline is taken back with every run that it has begun. */
async function callsOfRun(given: string, runtime: Runtime): Promise<UndoSelection> {
  const all = await runtime.listChanges()
  const pipelines = pipelineRunsOf(runtime.places)
  const begun = pipelines.find(given)?.id
  const runs =
    begun === undefined ? [await wholeRunId(given, all, runtime)] : wholePipelineRun(pipelines, begun)
  const history = toChangeHistory(all)
  const left = all.filter(
    each =>
      runs.some(run => isOfRun(each, run)) && each.undoes.length === 0 && history.stateOf(each) !== 'undone',
  )
  return { calls: left.map(each => each.call) }
}

async function carryOut(
  context: CommandContext,
  runtime: Runtime,
  selection: UndoSelection,
  plan: UndoPlan,
): Promise<number> {
  const { output, values, cwd } = context
  const isSmooth = plan.steps.length > 0 && plan.conflicts.length === 0
  const all = isSmooth ? [] : await runtime.listChanges()
  const conflicts = explainConflicts(plan, all)
  const report = describePlan(plan, conflicts)
  if (!output.json) output.data(renderPlan(plan, conflicts, { runtime, output, cwd }))
  // A call of which nothing but objects is left is taken back as far as it can be: the next undo is for the one before.
  const nothing = plan.steps.length === 0 && (plan.leftObjects === 0 || plan.conflicts.length > 0)
  const skips = flag(values, 'skip-conflicts')
  const blocked = plan.conflicts.length > 0 && (nothing || !skips)
  const remark = remarkOn(selection, plan, all)
  if (remark !== undefined) output.note(remark)
  if (blocked) {
    const canSkip = !skips && (await runtime.planUndo(selection, { leaveOut: 'paths' })).steps.length > 0
    const message = describeBlocked({ conflicts, selection, all, canSkip, cwd })
    output.problem(message)
    const error = { code: 'conflict', message, hint: null }
    if (output.json) output.object({ ok: false, done: false, error, ...report })
    return EXIT.failed
  }
  if (nothing || flag(values, 'dry-run')) {
    const isStuck = nothing && plan.staying.length > 0
    if (output.json) output.object({ ok: !isStuck, done: false, error: null, ...report })
    return isStuck ? EXIT.failed : EXIT.ok
  }
  if (!flag(values, 'yes') && !(await confirmed(context, 'Undo this?'))) {
    output.note('Nothing was changed. To go ahead, add --yes.')
    if (output.json) output.object({ ok: false, done: false, ...report })
    return EXIT.needsPerson
  }
  const result = await runtime.applyUndo(plan, { despiteConflicts: skips })
  if (output.json)
    output.object({ ok: true, done: true, call: result.call, verified: result.verified, ...report })
  else
    output.note(
      `Done; ${counted(result.verified, 'path')} verified. To revert this undo: kogu undo ${result.call}`,
    )
  return EXIT.ok
}
