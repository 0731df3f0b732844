import { isDeepStrictEqual } from 'node:util'
import type { CallSummary, GivenAnswer, Question } from './approval.ts'
import type { Authority } from './authority.ts'
import type { Call } from './call.ts'
import { headsOf } from './diff-parts.ts'
import type { Redactor } from './redact.ts'
import { hasLabel, lineage, type PartialView, type Run } from './run.ts'
import type { Label } from './tool.ts'

/** A question that outlives the process in which it was asked. Holds the exact input: never shown as it is. */
export interface StoredQuestion extends MadeWith {
  readonly question: Question
  /** What the digest was made of, piece by piece, to say what has changed. */
  readonly judged: Judged
  /** Parameters of the tool whose values are not to be shown. */
  readonly unrecorded: readonly string[]
  /** The outermost call that this one is a part of: that one goes on with the answer. */
  readonly outer?: MadeWith & Pick<Call, 'id' | 'tool' | 'input'>
  readonly answer?: GivenAnswer & { readonly at: number }
}

/** What a call was made with, to make it again. */
export interface MadeWith {
  readonly caller: string
  readonly isPart: true | undefined
  readonly cwd: string
  /** The runs above and the call's own, the outermost first: rules and limits of all of them hold for it. */
  readonly lineage: readonly RunOrigin[]
  /** What the judgement took from the run, which may be gone with its process. */
  readonly run: RunState
}

/** Ids of a run's calls, and of those inside of them, follow from that of the run, whichever process makes them. */
export function belongsToRun({ callId, runPath }: Pick<Question, 'callId' | 'runPath'>): boolean {
  return runPath.some(run => callId.startsWith(`call_${run}.`))
}

/** What a run was opened with. */
export interface RunOrigin {
  readonly id: string
  readonly authority: Authority
  readonly startedAt: number
}

export function lineageOf(run: Run): RunOrigin[] {
  return lineage(run)
    .map(({ id, authority, startedAt }) => ({ id, authority, startedAt }))
    .toReversed()
}

export interface RunState {
  readonly receipts: readonly (readonly [string, string])[]
  readonly partialViews: readonly (readonly [string, PartialView])[]
  readonly labels: readonly Label[]
  readonly cwd?: string
  readonly variables: readonly (readonly [string, string])[]
}

/** What of a run matters to a call that touches these paths. */
export function runStateOf(run: Run, paths: ReadonlySet<string>): RunState {
  return {
    receipts: [...run.receipts.entries()].filter(([path]) => paths.has(path)),
    partialViews: [...run.partialViews].filter(([path]) => paths.has(path)),
    labels: run.labels,
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
    variables: [...run.variables],
  }
}

/** Gives a run that was opened anew what it had. */
export function restoreRun(run: Run, state: RunState): Run {
  for (const [path, sha256] of state.receipts) run.receipts.set(path, sha256)
  for (const [path, view] of state.partialViews) run.partialViews.set(path, view)
  for (const [name, value] of state.variables) run.variables.set(name, value)
  for (const label of state.labels) if (!hasLabel(run, label)) run.labels.push(label)
  if (state.cwd !== undefined) run.cwd = state.cwd
  return run
}

/** Piece → digest. The names of the pieces are words for people. */
export type Judged = Readonly<Record<string, string>>

/** Before a path: the piece that is the state of that file. */
export const FILE_PIECE = 'the file '

/** What is stored after an answer; `isFirst`: this very answer, and not an earlier one. */
export interface Answered {
  readonly stored: StoredQuestion
  readonly isFirst: boolean
}

/** A question as it may be shown. */
export interface ShownQuestion extends Question {
  readonly answer: NonNullable<StoredQuestion['answer']> | null
}

export function shownQuestion(
  { question, unrecorded, answer }: StoredQuestion,
  redactor: Redactor,
): ShownQuestion {
  return { ...showCall(question, unrecorded, redactor), answer: answer ?? null }
}

/** What anybody gets who decides about a call: a person at any door, a client or a reviewer. */
export function showCall<Asked extends CallSummary>(
  asked: Asked,
  unrecorded: readonly string[],
  redactor: Redactor,
): Asked {
  const shown = redactor.perToken.value({ ...asked, input: withoutValues(asked.input, unrecorded) })
  if (asked.parts === undefined) return shown
  // Parts are chosen by their number, so a mask that hides where one begins must not shift those after it.
  const isCounted = isDeepStrictEqual(headsOf(shown.preview ?? ''), headsOf(asked.preview ?? ''))
  const { parts: _, ...rest } = shown
  // Without what can be absent it still is what it was.
  return isCounted ? shown : (rest as Asked)
}

/** An input without these values. Of variables, the names stay: which ones are set is part of what is asked. */
export function withoutValues<Input extends object>(input: Input, hidden: readonly string[]): Input {
  if (hidden.length === 0) return input
  const shown = Object.entries(input).map(([key, value]) => {
    if (!hidden.includes(key)) return [key, value]
    const isNamed = typeof value === 'object' && value !== null && !Array.isArray(value)
    const names = isNamed ? Object.keys(value).map(name => [name, NOT_SHOWN]) : undefined
    return [key, names === undefined ? NOT_SHOWN : Object.fromEntries(names)]
  })
  // Values are replaced, never keys.
  return Object.fromEntries(shown) as Input
}

const NOT_SHOWN = '‹not shown›'

/** Where questions wait. */
export interface QuestionStore {
  save(stored: StoredQuestion): Promise<void>
  /** All that have not ended, the oldest first. */
  list(): Promise<StoredQuestion[]>
  /** By its own id, by that of its call, or by that of the call which waits for it. */
  find(id: string): Promise<StoredQuestion | undefined>
  /** Keeps the first answer. Undefined when there is no such question any more. */
  answer(id: string, answer: GivenAnswer, at: number): Promise<Answered | undefined>
  /** Moves the end of its time. False when it has been answered or has ended. */
  extend(id: string, expiresAt: number): Promise<boolean>
  /** Ends a question. Of several that end the same one, in whatever process, only one gets true. */
  end(id: string): Promise<boolean>
}

export function findIn(all: readonly StoredQuestion[], id: string): StoredQuestion | undefined {
  const asked = all.find(({ question }) => question.id === id || question.callId === id)
  return asked ?? all.find(({ outer }) => outer?.id === id)
}

/** The id of a call of the same run that is the same as this one and waits for a call inside of it. */
export async function findSameOuter(
  questions: QuestionStore,
  { run, tool, input, cwd }: Pick<Call, 'run' | 'tool' | 'input' | 'cwd'>,
): Promise<string | undefined> {
  const same = ({ outer }: StoredQuestion): boolean =>
    outer?.lineage.at(-1)?.id === run.id &&
    outer.tool === tool &&
    outer.cwd === cwd &&
    isDeepStrictEqual(outer.input, input)
  return (await questions.list()).find(same)?.outer?.id
}
