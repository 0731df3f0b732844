import { counted } from '../core/counted.ts'
import type { CallChanges, UndoConflict, UndoPlan, UndoSelection } from '../workspace/undo/undo-plan.ts'
import { toChangeHistory } from './change-history.ts'
import { stepEntries, type View } from './render-changes.ts'
import { createRoom, showEntries } from './room.ts'
import { shownPath, shownWord } from './shown-path.ts'

/** A conflict with the later call that is in the way; null: somebody else, or something that undoing cannot settle. */
export type ExplainedConflict = Pick<UndoConflict, 'path' | 'call' | 'reason' | 'missingFolder'> & {
  readonly changed_by: { readonly call: string; readonly tool: string } | null
}

/** `all`: the recorded calls, the newest first. */
export function explainConflicts({ conflicts }: UndoPlan, all: readonly CallChanges[]): ExplainedConflict[] {
  if (conflicts.length === 0) return []
  const history = toChangeHistory(all)
  return conflicts.map(({ by, ...conflict }) => {
    const blocker = by ?? history.blockerOf(conflict)
    return {
      ...conflict,
      changed_by: blocker === undefined ? null : { call: blocker.call, tool: blocker.tool },
    }
  })
}

/** The plan as data, complete. */
export function describePlan(
  { calls, steps, staying, leftObjects }: UndoPlan,
  conflicts: readonly ExplainedConflict[],
) {
  return {
    calls: calls.map(({ call, tool, run }) => ({ call, tool, run })),
    steps: steps.map(({ path, now, then }) => ({
      path,
      now: now?.state ?? null,
      restored: then?.state ?? null,
    })),
    conflicts: conflicts.map(({ missingFolder: _, ...conflict }) => conflict),
    staying,
    left_git_objects: leftObjects,
  }
}

/** The plan for a person, as much of it as one reads. */
export function renderPlan(
  { calls, steps, staying, leftObjects }: UndoPlan,
  conflicts: readonly ExplainedConflict[],
  view: View,
): string {
  if (steps.length + conflicts.length + staying.length + leftObjects === 0) return 'Nothing to undo.'
  const { output, cwd } = view
  const stuck = new Set(conflicts.map(({ call }) => call))
  const lines = (texts: readonly string[]): string[] =>
    showEntries(
      texts.map(line => ({ line })),
      createRoom(0),
    )
  return [
    ...lines(
      calls.map(
        ({ call, tool }) =>
          `${output.style('bold', 'undo')} ${tool} ${call}${stuck.has(call) ? ' in part' : ''}`,
      ),
    ),
    ...showEntries(stepEntries(steps, view), createRoom()),
    ...lines(staying.map(path => `  stays   ${shownPath(path, cwd)}: it now contains something else`)),
    ...(leftObjects === 0
      ? []
      : [`  left    ${counted(leftObjects, 'git object')}; git gc removes what nothing uses`]),
    ...lines(conflicts.map(each => `  ${output.style('red', 'conflict')} ${sentence(each, stuck, cwd)}`)),
  ].join('\n')
}

interface Blocked {
  readonly conflicts: readonly ExplainedConflict[]
  readonly selection: UndoSelection
  readonly all: readonly CallChanges[]
  /** Something could be taken back without the paths in conflict. */
  readonly canSkip: boolean
  readonly cwd: string
}

/** Why nothing was done, and every way on that there is. */
export function describeBlocked({ conflicts, selection, all, canSkip, cwd }: Blocked): string {
  const [first] = conflicts
  if (first === undefined) return 'Nothing was changed.'
  const stuck = new Set(conflicts.map(({ call }) => call))
  const more = conflicts.length === 1 ? '' : ` (and ${conflicts.length - 1} more)`
  const before = 'last' in selection ? callBefore(selection.last, all) : undefined
  const ways = [
    ...(canSkip ? ['--skip-conflicts takes back the rest.'] : []),
    ...(before === undefined ? [] : [`To take back the call before instead: kogu undo ${before.call}`]),
  ]
  if (ways.length === 0) ways.push(`What the call did: kogu changes ${first.call}`)
  return `Nothing was changed. ${sentence(first, stuck, cwd)}${more}. ${ways.join(' ')}`
}

/** What the person may not expect of what was chosen. */
export function remarkOn(
  selection: UndoSelection,
  plan: UndoPlan,
  all: readonly CallChanges[],
): string | undefined {
  const { calls, conflicts, steps } = plan
  const found = new Set([...calls, ...conflicts].map(({ call }) => call)).size
  if (found === 0) return 'last' in selection ? whatIsLeft(all) : undefined
  const asked = 'last' in selection ? selection.last : found
  if (found < asked) {
    return `Only ${found} of ${asked}: no other recorded call can be undone. Kogu deletes the oldest records when the undo store is full.`
  }
  if (steps.length + conflicts.length + plan.leftObjects > 0) return undefined
  if (plan.staying.length > 0) return laterCalls(plan, all)
  const before = 'last' in selection ? callBefore(asked, all) : undefined
  const way = before === undefined ? '' : ` To take back the call before: kogu undo ${before.call}`
  return `Everything is as it was before ${calls.map(({ tool, call }) => `${tool} ${call}`).join(', ')}.${way}`
}

const MOST_IDS = 10

/** A folder that later calls filled cannot go before what is in it: a repository, for example, before its commits. */
function laterCalls({ calls, staying }: UndoPlan, all: readonly CallChanges[]): string {
  const chosen = new Set(calls.map(({ call }) => call))
  const isIn = (path: string): boolean => staying.some(folder => path.startsWith(`${folder}/`))
  const later = all.filter(
    ({ call, undone, undoes, records }) =>
      !(undone || undoes.length > 0 || chosen.has(call)) &&
      records.some(({ changes }) => changes.some(({ path }) => isIn(path))),
  )
  const ids = [...later.map(({ call }) => call), ...chosen]
  const way =
    later.length === 0 || ids.length > MOST_IDS ? '' : ` Undo them together: kogu undo ${ids.join(' ')}`
  return `Nothing was changed: what it created now holds later changes.${way}`
}

function whatIsLeft(all: readonly CallChanges[]): string | undefined {
  const { stateOf } = toChangeHistory(all)
  const partly = all.find(each => stateOf(each) === 'partly undone')
  return partly && `An undo left a part of ${partly.tool} ${partly.call}: kogu undo ${partly.call}`
}

/** The newest call in force that is not among the last so many. */
function callBefore(last: number, all: readonly CallChanges[]): CallChanges | undefined {
  return all.filter(each => !each.undone && each.undoes.length === 0)[last]
}

function sentence(
  { path, reason, missingFolder, changed_by }: ExplainedConflict,
  stuck: ReadonlySet<string>,
  cwd: string,
): string {
  const shown = shownPath(path, cwd)
  if (changed_by !== null) {
    const { tool, call } = changed_by
    const way = stuck.has(call) ? 'which cannot be undone either' : `undo that one first: kogu undo ${call}`
    return `${shown}: changed by ${tool} ${call}, ${way}`
  }
  if (missingFolder === undefined) return `${shown}: ${reason}`
  return `${shown}: ${reason}; make it (mkdir -p ${shownWord(missingFolder, cwd)}) and repeat`
}
