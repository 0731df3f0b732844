import type { Approver } from './approval.ts'
import type { Authority } from './authority.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Receipts } from './files.ts'
import type { Label } from './tool.ts'

/** Calls that belong together: one agent run, one batch, one MCP connection. Holds what later calls depend on. */
export interface Run {
  readonly id: string
  /** A named run: other processes can continue it by its id. */
  readonly isNamed?: true | undefined
  /** Every call of the run is judged under it. */
  readonly authority: Authority
  /** Answers the questions of this run only. */
  readonly approver: Approver
  /** The task of the run, if known. */
  readonly task?: string | undefined
  /** The run that opened this one. Usage of this run counts for its parent too. */
  readonly parent?: Run | undefined
  /** Start on the monotonic clock; for a run that another process began, converted to this process. */
  readonly openedAt: number
  /** When its first process opened it, in milliseconds since 1970. */
  readonly startedAt: number
  /** Usage of all its processes, as far as this one knows. */
  readonly spent: Spent
  /** It takes no more calls. */
  closed?: true
  /** Hashes of files that were read in full. */
  readonly receipts: Receipts
  /** Files that were read in part, by real path. */
  readonly partialViews: Map<string, PartialView>
  /** Content that was read, by real path, to show what changed since. Limited in size and not persisted. */
  readonly contents: Map<string, Uint8Array>
  /** Distinct labels of content that entered this run. */
  readonly labels: Label[]
  /** Where labels are saved, if other processes can share or continue the run. */
  readonly kept?: KeptLabels | undefined
  /** The same for its usage. */
  readonly spending?: KeptSpending | undefined
  /** Number of results so far. */
  results: number
  /** The current folder of its commands, once one of them changed it. */
  cwd?: string
  /** Variables that its commands exported. */
  readonly variables: Map<string, string>
}

export interface KeptLabels {
  /** Returns once the label is on disk; throws if that is impossible. */
  add(label: Label): void
  /** Adds what other processes have kept. */
  refresh(labels: Label[]): void
}

export interface Spent {
  calls: number
  money: number
}

/** Usage of all processes of a run. Each adds to it at once, so a killed process cannot lose its part. */
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

/** Lines counted from 0; the end is exclusive. */
export type LineRange = readonly [number, number]

export interface RunOptions
  extends Pick<Run, 'isNamed' | 'authority' | 'approver' | 'task' | 'parent' | 'kept' | 'spending'> {
  /** Defaults to the system's. */
  readonly clock?: Clock
  /** Of a run that goes on. Defaults to now. */
  readonly startedAt?: number
}

export function createRun(id: string, { clock = systemClock, ...options }: RunOptions): Run {
  const now = clock.now()
  const { startedAt = now } = options
  return {
    ...options,
    id,
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

/** Saved before it counts, so that a crash cannot lose it. */
export function addLabel(run: Run, { origin, trusted, source }: Label): void {
  // The exact source of trusted content does not matter.
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
