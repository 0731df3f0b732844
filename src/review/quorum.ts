import { hash } from 'node:crypto'
import type { Approver, CallSummary, Question } from '../core/approval.ts'
import type { Objection, Reviewer } from '../core/review.ts'
import { type Asked, type AskOptions, addCosts, askMembers, type QuorumMember } from './ask-members.ts'
import { actionPrompt } from './prompt.ts'
import { type Tally, type TallyOptions, tally } from './tally.ts'

export interface QuorumOptions extends TallyOptions, Omit<AskOptions, 'signal' | 'run'> {
  readonly members: readonly QuorumMember[]
  /** `all`: every call of high risk. `asked`: only those that a person was asked about. */
  readonly review: 'all' | 'asked'
  /** Of calls that can be taken back: `one` reviewer may let them through alone; otherwise all are asked. */
  readonly ordinary: 'all' | 'one'
  /** Kinds of calls (`dangerous`, a kind of access, a named effect) that one rejection stops. */
  readonly vetoFor: readonly string[]
  /** What happens when too few reviewers voted. `auto_approve` never counts for calls of high risk, which all of these are. */
  readonly hil: 'interactive' | 'auto_reject' | 'auto_approve'
  /** What a rejection means: the call is refused, or a person decides. */
  readonly onDeny: 'deny' | 'human'
  /** How often the same tool may be tried again in a run after a rejection. */
  readonly maxActionRevisions: number
  /** Puts the votes on record. */
  record(call: CallSummary, result: Tally, asked: Asked): void
}

/** After so many rejections in a row, or of its last reviews, a run is refused without asking anybody: it tries its luck. */
const MOST_IN_ROW = 5
const MOST_OF_RECENT = 10
const RECENT = 50

export interface Quorum extends Reviewer {
  /** Answers questions before the person does, where it may; only with a yes. */
  answerFirst(person: Approver): Approver
}

/** Asks every member at once, none of them knowing of the others, and counts. It never allows what was refused before. */
export function createQuorum(options: QuorumOptions): Quorum {
  const ofRun = createKept<readonly boolean[]>([])
  const ofAction = createKept(0)
  const answered = createKept(false)
  return {
    id: 'quorum',
    answerFirst: person => ({
      async ask(question, signal, live) {
        if (!mayAnswer(question) || !(await vote(options, question, signal)).passed)
          return person.ask(question, signal, live)
        answered.set(subjectOf(question), true)
        return { kind: 'once', user: 'quorum' }
      },
    }),
    async review(call, signal, spend) {
      if (options.review === 'asked' && call.decision.outcome !== 'ask') return undefined
      // They have just said yes to this very call, as the ones who were asked.
      if (answered.get(subjectOf(call))) return undefined
      // Of the whole tree: a sub-agent for every try would otherwise begin to count anew.
      const [run = call.runId] = call.runPath
      const action = `${run} ${call.tool.name}`
      const stopped = alreadyStopped(options, ofRun.get(run), ofAction.get(action))
      if (stopped !== undefined) return stopped
      const result = await vote(withSpending(options, spend), call, signal)
      if (signal.aborted) return undefined
      const keep = (passed: boolean): void => {
        ofRun.set(run, [...ofRun.get(run), passed].slice(-RECENT))
        ofAction.set(action, passed ? 0 : ofAction.get(action) + 1)
      }
      if (result.passed) {
        keep(true)
        return undefined
      }
      if (result.undecided && options.hil !== 'auto_reject') return { ask: undecided(result) }
      if (!result.undecided && options.onDeny === 'human')
        return { ask: `Rejected by quorum review ${result.display}\n${result.feedback}`.trimEnd() }
      keep(false)
      if (result.undecided) return { refuse: undecided(result) }
      return { refuse: `Action rejected by quorum review ${result.display}\n${result.feedback}`.trimEnd() }
    },
  }
}

/** Whoever reads it has to know which reviewer to mend. */
function undecided({ votes, display }: Tally): string {
  const failed = votes.filter(({ verdict }) => verdict === 'error')
  const reasons = failed.map(({ reviewer, reasoning }) => `${reviewer}: ${reasoning}`)
  return [`Too few reviewers voted ${display}`, ...reasons].join('\n')
}

function withSpending(options: QuorumOptions, spend: (usd: number) => void = () => undefined): QuorumOptions {
  return {
    ...options,
    record(call, result, asked) {
      spend(asked.costUsd ?? 0)
      options.record(call, result, asked)
    },
  }
}

/** What a call was found to have done, after they said yes to its words, is something else than the call. */
function subjectOf({ callId, access, preview }: CallSummary): string {
  return hash('sha256', JSON.stringify([callId, access, preview]))
}

/** Never what only a person may: what is hard to undo, changes that were made already, gates, what a mode wants confirmed. */
function mayAnswer({ subject, isDangerous, decision }: Question): boolean {
  const wantsPerson =
    decision.by === 'reviewers' || decision.by === 'gate' || decision.ref?.id === 'orchestration-approval'
  return subject.kind === 'call' && !isDangerous && !wantsPerson
}

function alreadyStopped(
  { hil, maxActionRevisions }: QuorumOptions,
  passed: readonly boolean[],
  sameTool: number,
): Objection | undefined {
  const inRow = passed.length - 1 - passed.lastIndexOf(true)
  if (inRow >= MOST_IN_ROW)
    return { refuse: `${inRow} calls of this run were rejected in a row; a person has to look at it first.` }
  const rejected = passed.filter(each => !each).length
  if (rejected >= MOST_OF_RECENT)
    return {
      refuse: `${rejected} of the last ${passed.length} reviewed calls of this run were rejected; a person has to look at it first.`,
    }
  if (sameTool <= maxActionRevisions) return undefined
  const reason = `It was rejected ${sameTool} times; further attempts are not reviewed.`
  return hil === 'interactive' ? { ask: reason } : { refuse: reason }
}

/** One reviewer, or those who hold a veto, where that is enough; all of them where it is not, or where one does not clearly approve. */
async function vote(options: QuorumOptions, call: CallSummary, signal: AbortSignal): Promise<Tally> {
  const { members, ordinary, record } = options
  const classes = classesOf(call)
  const anybody = options.vetoFor.some(name => classes.has(name))
  const counting = anybody ? { ...options, veto: members.map(({ name }) => name) } : options
  // One verdict, however many are asked for it one after another.
  const within = AbortSignal.any([signal, AbortSignal.timeout(options.maxTimeMs)])
  const ask = (asked: readonly QuorumMember[], more: Partial<AskOptions>): Promise<Asked> => {
    const how = { ...options, run: call.runId, signal: within, ...more }
    return askMembers(asked, call, () => actionPrompt(call), how)
  }
  const holders = members.filter(({ name }) => options.veto?.includes(name))
  const few = holders.length > 0 ? holders : members.slice(0, 1)
  let before: Asked = { votes: [], costUsd: 0 }
  if (ordinary === 'one' && !call.isDangerous && !anybody) {
    before = await ask(few, { debate: false })
    const alone = tally(before.votes, { ...counting, rule: { kind: 'unanimous' }, minModels: 1 })
    if (alone.passed) {
      record(call, alone, before)
      return alone
    }
  }
  const maxCostUsd =
    options.maxCostUsd === undefined ? undefined : Math.max(0, options.maxCostUsd - (before.costUsd ?? 0))
  const asked = await ask(members, { cast: before.votes, maxCostUsd })
  const result = tally(asked.votes, counting)
  record(call, result, { ...asked, costUsd: addCosts([before, asked]) })
  return result
}

function classesOf({ isDangerous, access, effects }: CallSummary): Set<string> {
  return new Set([...(isDangerous ? ['dangerous'] : []), ...access.map(({ kind }) => kind), ...effects])
}

const MOST_KEPT = 1_000

/** Runs come and go; the oldest are forgotten. */
function createKept<T>(unknown: T) {
  const kept = new Map<string, T>()
  return {
    get: (key: string): T => kept.get(key) ?? unknown,
    set(key: string, value: T): void {
      kept.delete(key)
      kept.set(key, value)
      const [oldest] = kept.keys()
      if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
    },
  }
}
