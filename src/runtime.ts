import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { compose, lazyValue, type Parts, type RuntimeOptions } from './compose/compose.ts'
import type { LoadedConfig } from './config/load.ts'
import { withTimeout } from './core/approval.ts'
import type { Authority } from './core/authority.ts'
import { type Call, type CallResult, callTool, explainCall } from './core/call.ts'
import type { DecidedBy, Decision, Judgement, Outcome, PermissionEngine } from './core/decision.ts'
import { endExpired, withdrawQuestions } from './core/end-question.ts'
import { toToolError } from './core/errors.ts'
import { type Gate, type GateAnswer, passGate } from './core/gate.ts'
import { sweepLocks } from './core/lock-file.ts'
import { createOpenRuns, type OpenRunOptions } from './core/open-runs.ts'
import type { Provider } from './core/provider.ts'
import { isInside } from './core/real-path.ts'
import type { Entry, Registry } from './core/registry.ts'
import type { Run } from './core/run.ts'
import { createSeal } from './core/seal.ts'
import { type ShownQuestion, shownQuestion } from './core/stored-question.ts'
import { createLifeCycle, type LifeCycle } from './dynamic/life-cycle.ts'
import { goOn, goOnAll } from './go-on.ts'
import type { GrantStore } from './permissions/grants.ts'
import type { Rule } from './permissions/rules/rules.ts'
import type { McpAdmin } from './providers/mcp/admin.ts'
import type { ReviewBoard } from './review/board.ts'
import type { RecoveredOverlay } from './sandbox/layer/overlay-commit.ts'
import { findAbandonedRuns, removeRunFolder } from './sandbox/layer/run-folder.ts'
import { sweepJournals } from './store/journals-folder.ts'
import { markState, setForeignAside } from './store/own-state.ts'
import type { Places } from './store/places.ts'
import { createWaitingCalls, type WaitingCalls } from './waiting-calls.ts'
import { recoverWorkspace } from './workspace/undo/recovery.ts'
import type { UndoResult } from './workspace/undo/undo-apply.ts'
import type { CallChanges, PlanOptions, UndoPlan, UndoSelection } from './workspace/undo/undo-plan.ts'
import { readKept, type SavedRecord } from './workspace/undo/undo-read.ts'
import type { Change } from './workspace/undo/undo-record.ts'

// What doors and programs call. The parts come from compose.ts. What most calls do without (undo, recovery of commands,
// named runs) is imported when it is needed: for one call from the command line, loading is most of the time.

export interface CallRequest {
  readonly tool: string
  readonly input: unknown
  readonly cwd?: string
  /** Calls of one run share its authority and what was read. Defaults to a run of its own. */
  readonly run?: string
  /** The door it came through: command line, MCP, HTTP, … */
  readonly caller?: string
  readonly signal?: AbortSignal
  readonly onProgress?: (text: string) => void
  /** How a tool asks the person for values; without it, it is told that nobody can be asked. */
  readonly elicit?: Call['elicit']
  /** Defaults to a new one. Whoever makes a call durable gives its own, so that it is known again after a crash. */
  readonly id?: string
  readonly beforeRun?: Call['beforeRun']
  readonly afterRun?: Call['afterRun']
  readonly gate?: string
}

export interface Explanation extends Pick<Judgement, 'hard' | 'risk' | 'command' | 'access' | 'reasons'> {
  readonly tool: string
  readonly canonical: string
  readonly decision: Outcome
  /** `contained`: it would run contained, and its changes would be judged. */
  readonly by: DecidedBy
  readonly ref: Decision['ref']
  /** Other rules that matched but did not decide. */
  readonly also: NonNullable<Decision['also']>
}

export interface Runtime extends WaitingCalls {
  readonly workspace: string
  readonly cwd: string
  /** Of runs that are opened without a parent. */
  readonly authority: Authority
  readonly places: Places
  readonly registry: Registry
  readonly rules: readonly Rule[]
  /**
   * Applies the permission part of a changed configuration: rules, defaults, hooks, turned-off tools, and the mode of new
   * runs. If it is invalid, this throws and the old one stays.
   */
  replacePolicy(loaded: LoadedConfig): Promise<void>
  readonly grants: GrantStore
  readonly permissions: PermissionEngine
  /** Undefined when the configuration leaves dynamic tools out. */
  readonly dynamic: LifeCycle | undefined
  /** Reviewers of plans and outcomes; undefined when the configuration names no reviewer. */
  readonly board: ReviewBoard | undefined
  /** Tells of every request to a model that reviews something. Returns how to end that. */
  onReviewSpent: Parts['onReviewSpent']
  /** Whether the configuration leaves a tool on. */
  isEnabled(entry: Entry): boolean
  /** Adds a source of tools; the returned function takes it out again and closes it. */
  registerProvider(provider: Provider): Promise<() => Promise<void>>
  call(request: CallRequest): Promise<CallResult>
  /** The calls of one turn: neighbours that say they may run side by side do, the others one after another. */
  callAll(requests: readonly CallRequest[]): Promise<CallResult[]>
  /** Questions that wait for an answer, without secrets, the oldest first. */
  listQuestions(): Promise<ShownQuestion[]>
  /** Withdraws the open questions of a stopped run and its children. */
  withdrawQuestions(run: string): Promise<void>
  /** Asks a person whether something may begin that is more than one call. */
  passGate(gate: Gate): Promise<GateAnswer>
  explain(request: Pick<CallRequest, 'tool' | 'input' | 'cwd' | 'run'>): Promise<Explanation>
  /** Calls whose changes can be undone, newest first. */
  listChanges(selection?: UndoSelection): Promise<CallChanges[]>
  planUndo(selection: UndoSelection, options?: PlanOptions): Promise<UndoPlan>
  /** Does what the plan says, all of it or nothing; recorded like a call. */
  applyUndo(plan: UndoPlan, options?: { despiteConflicts?: boolean }): Promise<UndoResult & { call: string }>
  /** Masks what looks like a secret, for text and plain data that are shown. */
  redact<T>(value: T): T
  /** The bytes a file had before a change. */
  readKept(record: SavedRecord, change: Change): Uint8Array
  /** Finds contents by their hash among all that are kept now. */
  openContents(): Promise<(sha256: string) => Uint8Array | undefined>
  /** MCP servers of the configuration: trust, tests, approvals of their tools. */
  mcp(): Promise<McpAdmin>
  /** Records a change of authority (trust, revoked grants). */
  note(action: string, details: Record<string, unknown>): void
  /** Cleans up after a killed Kogu, once; runs by itself before the first call. Returns one sentence for each finding. */
  recover(): Promise<string[]>
  /** The same for what another process has left since: whoever takes its work over needs its files as they are to be. */
  recoverAgain(): Promise<void>
  /** Starts or resumes a run, with an authority and an approver of its own. */
  openRun(options?: OpenRunOptions): Promise<Run>
  /** Ends a run and those below it: they take no more calls, and what was granted for the session is forgotten. */
  closeRun(id: string): Promise<void>
  close(): Promise<void>
}

export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { root: workspace, cwd } = options.loaded.workspace
  const { registry, parts } = await compose(options)
  const runs = openRuns(options, registry, parts)
  const waiting = createWaitingCalls(parts.calls, runs)
  const recovered = lazyValue(async () => {
    await endExpired(parts.calls)
    return recover(parts)
  })
  const isLongRow = createRowCheck()

  const toCall = async (request: CallRequest, find = runs.get): Promise<Call> => ({
    id: request.id ?? `call_${randomUUID()}`,
    tool: request.tool,
    input: request.input,
    caller: request.caller ?? 'library',
    run: request.run === undefined ? runs.single() : await find(request.run),
    cwd: request.cwd === undefined ? cwd : resolve(cwd, request.cwd),
    signal: request.signal ?? new AbortController().signal,
    ...(request.onProgress === undefined ? {} : { onProgress: request.onProgress }),
    ...(request.elicit === undefined ? {} : { elicit: request.elicit }),
    ...(request.beforeRun === undefined ? {} : { beforeRun: request.beforeRun }),
    ...(request.afterRun === undefined ? {} : { afterRun: request.afterRun }),
    ...(request.gate === undefined ? {} : { gate: request.gate }),
  })

  return {
    workspace,
    cwd,
    get authority() {
      return parts.policy.current.authority
    },
    board: parts.board,
    onReviewSpent: parts.onReviewSpent,
    places: parts.places,
    registry,
    get rules() {
      return parts.policy.current.rules
    },
    replacePolicy: parts.replacePolicy,
    grants: parts.grants,
    permissions: parts.calls.permissions,
    dynamic: parts.dynamic === undefined ? undefined : createLifeCycle(parts.dynamic),
    openRun: runs.open,
    closeRun: runs.close,
    isEnabled: parts.calls.isEnabled,
    registerProvider: provider => registry.add(provider),
    async call(request) {
      await recovered()
      if (isLongRow()) await setImmediate()
      const call = await toCall(request)
      try {
        return await (request.id === undefined ? callTool : goOn)(parts.calls, call)
      } finally {
        if (request.run === undefined) endRun(parts.places, call.run.id)
      }
    },
    async callAll(requests) {
      await recovered()
      const calls = await Promise.all(requests.map(request => toCall(request)))
      try {
        return await goOnAll(parts.calls, calls)
      } finally {
        requests.forEach((request, index) => {
          if (request.run === undefined) endRun(parts.places, calls[index]?.run.id ?? '')
        })
      }
    },
    async listQuestions() {
      await endExpired(parts.calls)
      return (await parts.calls.questions.list()).map(stored => shownQuestion(stored, parts.calls.redactor))
    },
    answerQuestion: waiting.answerQuestion,
    withdrawQuestions: run => withdrawQuestions(parts.calls, run),
    async continueCall(id, callOptions) {
      await recovered()
      return waiting.continueCall(id, callOptions)
    },
    ...{ tryWaiting: waiting.tryWaiting, changedSince: waiting.changedSince, extend: waiting.extend },
    offersOf: waiting.offersOf,
    narrowedOffer: waiting.narrowedOffer,
    async callInstead(id, changed, callOptions) {
      await recovered()
      return waiting.callInstead(id, changed, callOptions)
    },
    passGate: gate => passGate(parts.calls, gate),
    mcp: parts.mcp,
    recover: recovered,
    async recoverAgain() {
      await recovered()
      await recover(parts)
    },
    redact: value => parts.calls.redactor.perToken.value(value),
    note: (action, details) => parts.calls.audit.record({ type: 'note', action, details }),
    async explain(request) {
      const { entry, judgement } = await explainCall(parts.calls, await toCall(request, runs.look))
      const { decision, hard, risk, command, access, reasons } = judgement
      return {
        tool: request.tool,
        canonical: entry.tool.name,
        decision: decision.outcome,
        by: decision.by,
        hard,
        risk,
        ...(command === undefined ? {} : { command }),
        access,
        reasons,
        ref: decision.ref,
        also: decision.also ?? [],
      }
    },
    async listChanges(selection) {
      await recovered()
      // Looking leaves no trace in a folder that Kogu was never used in.
      if (!existsSync(parts.places.undo)) return []
      const { listCalls } = await import('./workspace/undo/undo-plan.ts')
      return listCalls(parts.undo.value, selection)
    },
    async planUndo(selection, planOptions) {
      await recovered()
      const { planNothing, planUndo } = await import('./workspace/undo/undo-plan.ts')
      if (!existsSync(parts.places.undo)) return planNothing(selection)
      return planUndo(parts.undo.value, selection, planOptions)
    },
    readKept: (record, { before }) => readKept(parts.undo.value.places, record, before?.sha256 ?? ''),
    async openContents() {
      const { createContentIndex } = await import('./workspace/undo/undo-find.ts')
      return createContentIndex(parts.undo.value.places)
    },
    applyUndo: (plan, undoOptions) => undoRecorded(parts, workspace, plan, undoOptions),
    async close() {
      await runs.closeAll()
      await parts.close()
    },
  }
}

const LONGEST_ROW_MS = 50

/**
 * Short calls wait for nothing, and a row of them would keep every timer waiting: that which brings the log to the disk is
 * one. True now and then: the process should look at them.
 */
function createRowCheck(): () => boolean {
  let last = performance.now()
  return () => {
    const now = performance.now()
    if (now - last < LONGEST_ROW_MS) return false
    last = now
    return true
  }
}

/** First the layers of commands, then the records of changes: a finished layer completes the record of its call. */
async function recover({ places, calls, undo }: Parts): Promise<string[]> {
  const sentences = setForeignAside(places, calls.workspace)
  for (const id of findAbandonedRuns(places.temporary)) endRun(places, id)
  sweepJournals(places.journals, calls.clock.now())
  const { audit, locks, waiting, journals, temporary } = places
  for (const folder of [audit, locks, waiting, journals, temporary]) sweepLocks(folder)
  if (existsSync(places.overlays)) {
    const { recoverOverlays } = await import('./sandbox/layer/overlay-commit.ts')
    const waiting = async (): Promise<Set<string>> => {
      const questions = await calls.questions.list()
      return new Set(
        questions.flatMap(({ question: { subject } }) => (subject.kind === 'changes' ? subject.layer : [])),
      )
    }
    for (const recovered of await recoverOverlays(places.overlays, waiting)) {
      const { outcome, folder, displaced } = recovered
      sentences.push(describeRecovered(outcome, folder))
      for (const { path, keptAs } of displaced)
        sentences.push(
          path === keptAs
            ? `${path} had changed since, so it was not deleted.`
            : `${path} had changed since; its content is now in ${keptAs}.`,
        )
    }
  }
  if (existsSync(places.undo)) {
    const { completed, problems } = await recoverWorkspace(undo.value, places.locks)
    if (completed > 0) sentences.push(`${completed} interrupted calls had changed files; they can be undone.`)
    sentences.push(...problems)
  }
  if (sentences.length > 0) calls.audit.record({ type: 'note', action: 'recovered', details: { sentences } })
  return sentences
}

function describeRecovered(outcome: RecoveredOverlay['outcome'], folder: string): string {
  switch (outcome) {
    case 'finished':
      return 'A command was interrupted while its changes were being applied: all of them are now in the workspace.'
    case 'discarded':
      return 'A command was interrupted before its changes were applied: none of them are in the workspace.'
    case 'unfinished':
      return `What a command left in ${folder} could not be recovered: the workspace may have only some of its changes. Undo the call, or copy the rest by hand, then delete that folder.`
  }
}

/** An undo changes files, so it is on record before and after, and can itself be undone. */
async function undoRecorded(
  parts: Parts,
  workspace: string,
  plan: UndoPlan,
  options: { despiteConflicts?: boolean } = {},
): Promise<UndoResult & { call: string }> {
  const call = `undo_${randomUUID()}`
  const calls = plan.calls.map(each => each.call)
  const note = (action: string, details: Record<string, unknown>): void =>
    parts.calls.audit.record({ type: 'note', action, details: { call, calls, ...details } })
  note('undo-started', {})
  try {
    const { applyUndo } = await import('./workspace/undo/undo-apply.ts')
    const result = await applyUndo(parts.undo.value, plan, {
      call: { id: call, run: call, tool: 'undo' },
      mayChange: path => isInside(path, workspace),
      ...options,
    })
    note('undo-finished', { ok: true, effects: result.effects })
    return { ...result, call }
  } catch (error) {
    note('undo-finished', { ok: false, error: toToolError(error).message })
    throw error
  }
}

/** Takes away the private /tmp of a run that nobody can continue. It is no reason for a call to fail. */
function endRun(places: Places, id: string): void {
  try {
    removeRunFolder(places.temporary, id)
  } catch {
    // Somebody else's files are in it: the call has said what there was to say.
  }
}

function openRuns(
  { loaded, approver }: RuntimeOptions,
  registry: Registry,
  { policy, places, calls, grants, answerFirst }: Parts,
) {
  const { config, workspace } = loaded
  const saved = () => import('./workspace/runs.ts')
  const seal = createSeal(places.sealKey)
  return createOpenRuns({
    workspace: workspace.root,
    get authority() {
      return policy.current.authority
    },
    approver,
    clock: calls.clock,
    limitApprover: each => answerFirst(withTimeout(each, config.permissions.approval_timeout)),
    canonicalTool: name => registry.candidates(name)[0]?.tool.name ?? name,
    load: async (id, options) => (await saved()).loadRun({ directory: places.runs, seal }, id, options),
    async save(run) {
      markState(places, workspace.root)
      await (await saved()).saveRun({ directory: places.runs, seal }, run)
    },
    async forget(run) {
      const own = grants.list().filter(grant => grant.run === run.id && grant.workspace === workspace.root)
      for (const grant of own) await grants.remove(grant.id)
    },
    discard: id => endRun(places, id),
  })
}
