import type { Call, CallResult, CallRuntime, Prepared, Progress } from './call.ts'
import type { Decision } from './decision.ts'
import { endQuestion } from './end-question.ts'
import { ToolError } from './errors.ts'
import type { FileLock } from './lock-file.ts'
import { Pending } from './obtain-approval.ts'
import { recordFinished } from './record-call.ts'
import type { Registry } from './registry.ts'
import type { Run } from './run.ts'
import { findSameOuter, type StoredQuestion, withoutValues } from './stored-question.ts'

// Calls that a tool makes as a part of its own. When one of them asks and the answer comes later, the whole call waits: it
// ends with `Pending`, and goes on by running its tool again, also in another process. What the inner calls gave until then
// stands in a journal and is given again, so that none is made twice. The tool has to ask for the same things again; one
// that does not has gone another way, and its call ends.

export interface InnerCall extends Pick<Call, 'tool' | 'input' | 'caller' | 'isPart' | 'onProgress'> {
  /** These default to those of the call that makes it. */
  readonly cwd?: string
  readonly signal?: AbortSignal
  readonly registry?: Registry
  /** `id`: of the inner call, the same in every process. */
  run?(id: string): Run
}

/** What inner calls gave, by the id of the call that made them. Kept until that one has ended. */
export interface CallJournals {
  /** Undefined when there is none. */
  read(call: string): readonly JournalLine[] | undefined
  append(call: string, lines: readonly JournalLine[]): void
  end(call: string): void
  /** For whoever works on the call: of several processes that go on with it, one does. Undefined when it is not free. */
  hold(call: string): Promise<FileLock | undefined>
}

/** The first line is how the call itself began; of several lines about one inner call, the last counts. */
export type JournalLine = Begun | Entry

interface Begun {
  readonly digest: string
  readonly decision: Decision
}

interface Entry {
  readonly id: string
  readonly digest: string
  /** It was about to have its effect. Without a result, whether it had it is not known. */
  readonly hasBegun?: true
  readonly result?: CallResult
}

/** The tool asks for other things than before its call waited. Not for the tool to handle: its call ends, and no retry follows. */
export class Diverged extends ToolError {
  constructor(tool: string) {
    super('stale', `${tool} asked for other things than before it waited, so it could not go on.`, {
      hint: 'No call was repeated, and what was done stays. Call it again to begin anew.',
    })
  }
}

export interface InnerCalls {
  /**
   * How it was decided that the call may begin, if it goes on now: nobody is asked again. What is refused by now is. Throws
   * when it is not the same call any more.
   */
  begun(): Promise<Decision | undefined>
  make(inner: InnerCall, signal: AbortSignal): Promise<CallResult>
  /** After the tool has run: throws if it has not asked again for all that it had asked for. */
  requireAll(): void
  /** The call has left its tool, for good or to wait. */
  release(): Promise<void>
  /** The call has ended. */
  end(result: CallResult): Promise<void>
}

export function createInnerCalls(
  runtime: CallRuntime,
  outer: Call,
  { entry: { tool, fingerprint }, request, judgement }: Prepared,
  progress: Progress,
  callTool: (runtime: CallRuntime, call: Call) => Promise<CallResult>,
): InnerCalls {
  const { journals, questions } = runtime
  const digest = (value: unknown): string => runtime.digestInput(value) ?? ''
  const entries = new Map<string, Entry>()
  const taken = new Set<string>()
  let journal = outer.id
  let isWritten = false
  let opening: Promise<Begun | undefined> | undefined
  let holding: Promise<FileLock | undefined> | undefined

  // With what it touches: code that a tool runs by its name may be another's by now.
  const whole = (): string =>
    digest([journal, tool.name, fingerprint, request.input, request.access, outer.cwd])
  const hold = async (): Promise<void> => {
    holding ??= journals.hold(journal)
    if ((await holding) === undefined) throw new ToolError('conflict', GOES_ON)
  }
  const read = async (): Promise<Begun | undefined> => {
    // A client that cannot continue a call repeats it: then the one that waits goes on.
    const isOwn = journals.read(outer.id) !== undefined
    journal = isOwn ? outer.id : ((await findSameOuter(questions, outer)) ?? outer.id)
    const mustGoOn = journal !== outer.id || (outer.isResumed === true && outer.within === undefined)
    if (!isOwn && !mustGoOn) return undefined
    await hold()
    const [begun, ...known] = journals.read(journal) ?? []
    // Another process was faster, and the call has ended.
    if (begun === undefined || !('decision' in begun)) throw new ToolError('conflict', GOES_ON)
    isWritten = true
    for (const line of known) if ('id' in line) entries.set(line.id, line)
    if (begun.digest === whole()) return begun
    throw new ToolError('stale', `${tool.name} or its input is not what it was when this call began.`, {
      hint: 'Call it again to begin anew.',
    })
  }
  const open = (): Promise<Begun | undefined> => {
    opening ??= read()
    return opening
  }
  /** `isNeeded`: on the disk, with all that was given before. What only read is not worth that until then. */
  const note = async (line: Entry, isNeeded: boolean): Promise<void> => {
    entries.set(line.id, line)
    if (!isWritten && !isNeeded) return
    await hold()
    const begun = { digest: whole(), decision: progress.decision ?? judgement.decision }
    journals.append(journal, isWritten ? [line] : [begun, ...entries.values()])
    isWritten = true
  }
  const isOpen = (): boolean => [...entries.keys()].some(id => !taken.has(id))
  const questionOf = async (id: string): Promise<StoredQuestion | undefined> => {
    const stored = await questions.find(id)
    return stored?.question.callId === id ? stored : undefined
  }
  const makeNow = async ({ id, digest }: Entry, inner: InnerCall, signal: AbortSignal, isKnown: boolean) => {
    const { run, registry = runtime.registry, ...rest } = inner
    const call: Call = {
      ...{ cwd: outer.cwd, signal, ...rest, id, run: run?.(id) ?? outer.run },
      within: { call: { ...outer, id: journal }, tool: tool.name },
      async beforeRun(prepared, deeper) {
        await outer.beforeRun?.(prepared, deeper ?? id)
        if (deeper === undefined && actsItself(prepared)) await note({ id, digest, hasBegun: true }, true)
      },
      ...(outer.afterRun === undefined ? {} : { afterRun: outer.afterRun }),
      ...(isKnown ? { isResumed: true } : {}),
    }
    const continues = isKnown ? await questionOf(id) : undefined
    const make = (each: Call): Promise<CallResult> => callTool({ ...runtime, registry }, each)
    let result = continues === undefined ? await make(call) : await make({ ...call, continues })
    // Asked anew: the call goes on with things as they are now.
    const isOver = result.error?.code === 'stale' || result.error?.code === 'expired'
    if (continues !== undefined && isOver) result = await make(call)
    if (result.question !== undefined) {
      await note({ id, digest }, true)
      const hidden = registry.candidates(inner.tool).flatMap(entry => entry.tool.unrecorded ?? [])
      const part = { call: id, tool: result.tool, input: withoutValues(Object(inner.input), hidden) }
      const reason = `Its call of ${result.tool} asks: ${result.decision.reason}`
      throw new Pending({ id: result.question, callId: journal }, reason, result.part ?? part)
    }
    // What was cut off before it had an effect has not happened.
    const isCut = result.error?.code === 'cancelled' && entries.get(id)?.hasBegun !== true
    if (!isCut) await note({ id, digest, result }, false)
    return result
  }
  return {
    async begun() {
      const { decision, risk } = judgement
      const isReviewed = runtime.reviewers.length > 0 && risk === 'high'
      const isAsked = decision.outcome === 'ask' || (decision.outcome === 'allow' && isReviewed)
      return isAsked ? (await open())?.decision : undefined
    },
    async make(inner, signal) {
      await open()
      const wanted = digest([inner.tool, inner.input, inner.cwd ?? outer.cwd])
      const known = [...entries.values()].find(each => each.digest === wanted && !taken.has(each.id))
      if (known === undefined && isOpen()) throw new Diverged(tool.name)
      const entry = known ?? { id: `${journal}~${entries.size + 1}`, digest: wanted }
      entries.set(entry.id, entry)
      taken.add(entry.id)
      if (entry.result !== undefined) {
        await outer.afterRun?.(entry.result)
        return entry.result
      }
      if (entry.hasBegun !== true) return makeNow(entry, inner, signal, known !== undefined)
      // Nothing that is tried again by itself: whether it had its effect is for a person to find out.
      throw new ToolError('cancelled', `Kogu was interrupted while ${inner.tool} ran. ${UNKNOWN_EFFECT}`)
    },
    requireAll() {
      if (isOpen()) throw new Diverged(tool.name)
    },
    async release() {
      const lock = await holding?.catch(() => undefined)
      lock?.release()
    },
    async end(result) {
      // Refused before its tool could ask for anything.
      if (!result.ok && journals.read(outer.id) !== undefined) await open().catch(() => undefined)
      if (!isWritten) return
      for (const each of entries.values()) {
        const stored = each.result === undefined ? await questionOf(each.id) : undefined
        if (stored !== undefined) await endQuestion(runtime, stored, 'withdrawn')
      }
      if (journal !== outer.id) recordFinished(runtime, { ...outer, id: journal }, progress, result)
      journals.end(journal)
    },
  }
}

const GOES_ON = 'Another process goes on with this call, or has.'
export const UNKNOWN_EFFECT = 'It may or may not have taken effect, and it was not repeated.'

/**
 * Whether running it has an effect of its own. Reading has none, and code in an isolate acts through calls only. A contained
 * command only reads until its changes are to be kept, and then this is asked about those.
 */
export function actsItself({ judgement, request, changes }: Prepared): boolean {
  if (changes !== undefined) return true
  const writes = request.access.some(({ kind }) => kind === 'file_write' || kind === 'file_delete')
  return request.tool.isIsolated !== true && (writes || judgement.risk !== 'low')
}
