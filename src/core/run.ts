import type { Approver } from './approval.ts'
import type { Authority } from './authority.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Receipts } from './files.ts'
import type { Label } from './tool.ts'

/** Calls that belong together: one agent run, one batch, one MCP connection. Holds what later calls depend on. */
export interface Run {
  readonly id: string
  /** It goes on under its id in other processes. */
  readonly isNamed?: true
  /** What every call of the run is judged under. */
  readonly authority: Authority
  /** Who answers the questions of this run, and of no other. */
  readonly approver: Approver
  /** What it is for, where somebody has said so. */
  readonly task?: string
  /** The run that opened this one. What this one uses up counts for that one too. */
  readonly parent?: Run
  /** By the clock that never goes back. Of a run that other processes began: as if this one had been there. */
  readonly openedAt: number
  /** When its first process opened it, in milliseconds since 1970. */
  readonly startedAt: number
  /** By all its processes, as far as this one knows. */
  readonly spent: Spent
  /** It takes no more calls. */
  closed?: true
  /** Of files that were seen as a whole. */
  readonly receipts: Receipts
  /** Files of which only a part was seen, by real path. */
  readonly partialViews: Map<string, PartialView>
  /** What was read, by real path, for showing what changed since. Bounded, and gone with the process. */
  readonly contents: Map<string, Uint8Array>
  /** What entered this run so far, each once. */
  readonly labels: Label[]
  /** Where labels are kept, when other processes can belong to the run or continue it. */
  readonly kept?: KeptLabels
  /** The same for what it has used up. */
  readonly spending?: KeptSpending
  /** How many results it has had. */
  results: number
  /** Where commands of this run stand, once one of them went somewhere. */
  cwd?: string
  /** What commands of this run exported. */
  readonly variables: Map<string, string>
}

export interface KeptLabels {
  /** Returns when the label is on the disk; throws when that is impossible. */
  add(label: Label): void
  /** Adds what other processes have kept. */
  refresh(labels: Label[]): void
}

export interface Spent {
  calls: number
  money: number
}

/** What all processes of a run have used up. Each adds to it at once: one that is killed takes nothing back. */
export interface KeptSpending {
  /** Counts a call; returns its number among those of all processes. */
  addCall(spent: Spent): number
  addMoney(spent: Spent, amount: number): void
}

export interface PartialView {
  /** Of the content that the lines are of. */
  readonly sha256: string
  /** In order, without overlap. */
  readonly lines: readonly LineRange[]
}

/** Lines counted from 0; the second is the first one behind them. */
export type LineRange = readonly [number, number]

export interface RunOptions {
  readonly isNamed?: true
  readonly authority: Authority
  readonly approver: Approver
  readonly task?: string
  readonly parent?: Run
  /** Defaults to the system's. */
  readonly clock?: Clock
  readonly kept?: KeptLabels
  readonly spending?: KeptSpending
  /** Of a run that goes on. Defaults to now. */
  readonly startedAt?: number
}

export function createRun(
  id: string,
  { authority, approver, task, parent, isNamed, kept, spending, clock = systemClock, ...options }: RunOptions,
): Run {
  const now = clock.now()
  const { startedAt = now } = options
  return {
    id,
    authority,
    approver,
    ...(task === undefined ? {} : { task }),
    ...(parent === undefined ? {} : { parent }),
    ...(isNamed === undefined ? {} : { isNamed }),
    ...(kept === undefined ? {} : { kept }),
    ...(spending === undefined ? {} : { spending }),
    // A machine whose date was set back gives no time back beyond what this process can measure.
    openedAt: clock.elapsed() - Math.max(0, now - startedAt),
    startedAt,
    spent: { calls: 0, money: 0 },
    receipts: new Map<string, string>(),
    partialViews: new Map(),
    contents: new Map(),
    labels: [],
    results: 0,
    variables: new Map(),
  }
}

export function nextNumber(run: Run): number {
  run.results += 1
  return run.results
}

/** More sources than this are not told apart. */
const MOST_LABELS = 1000

/** Kept before it counts, so that no crash forgets what the run has seen. */
export function addLabel(run: Run, { origin, trusted, source }: Label): void {
  // Of what is trusted, nobody asks where exactly it came from.
  const isPlain = trusted || source === undefined || run.labels.length >= MOST_LABELS
  const label: Label = isPlain ? { origin, trusted } : { origin, trusted, source }
  if (hasLabel(run, label)) return
  run.kept?.add(label)
  run.labels.push(label)
}

export function hasLabel({ labels }: Run, { origin, trusted, source }: Label): boolean {
  return labels.some(label => label.origin === origin && label.trusted === trusted && label.source === source)
}

/** The run and those above it, the nearest first. */
export function lineage(run: Run): readonly Run[] {
  return run.parent === undefined ? [run] : [run, ...lineage(run.parent)]
}

/** Counts something that was paid for, a model's answer for example, in the run and in those above it. */
export function spendMoney(run: Run, amount: number): void {
  for (const { spending, spent } of lineage(run)) {
    if (spending === undefined) spent.money += amount
    else spending.addMoney(spent, amount)
  }
}

/** Counts a call of this run alone. Returns its number. */
export function addCall({ spending, spent }: Run): number {
  if (spending !== undefined) return spending.addCall(spent)
  spent.calls += 1
  return spent.calls
}
