import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LostRun, type TurnStore } from '../../agents/durable-turn.ts'
import type { RunLimits } from '../../agents/limits.ts'
import { type LoopState, startState } from '../../agents/loop-state.ts'
import type { Control, RunWish } from '../../agents/run-control.ts'
import { type RunRecord, type RunSpec, requireHome } from '../../agents/run-record.ts'
import type { Standstill } from '../../agents/standstill.ts'
import { ToolError } from '../../core/errors.ts'
import type { Redactor } from '../../core/redact.ts'
import type { Database } from '../database/database.ts'
import { loadState, saveState } from '../tables/agent-executions.ts'
import { insertApprovals, settleApprovals } from '../tables/approvals.ts'
import { findClaims, finishClaim, insertClaim, releaseClaims } from '../tables/claims.ts'
import { forgetExecutor, isGone, registerExecutor } from '../tables/executors.ts'
import { markTaken, waitingMessages } from '../tables/run-messages.ts'
import type { RunPlace } from '../tables/run-place.ts'
import { spentElsewhere } from '../tables/sub-agents.ts'
import { insertToolExecutions } from '../tables/tool-executions.ts'
import { insertUsage } from '../tables/usage.ts'
import {
  findRun,
  finishTurn,
  insertRun,
  isNotOwner,
  obeyWish,
  ownedRuns,
  ownerOf,
  releaseRun,
  reopen,
  requireOwner,
  takeRun,
  wishOf,
} from '../tables/workflow-runs.ts'
import { workflowOf } from '../tables/workflows.ts'
import { openTurnEngine, type TurnEngine, type TurnId, type TurnWork } from './turn-engine.ts'

/** The part of the store that works on runs; there is one in each process that does. */
export interface DurableRuns {
  readonly executor: string
  create(spec: RunSpec, place: RunPlace & { user: string }, id: string): Promise<RunRecord>
  /**
   * Takes a run of this place over that nobody works on, with other limits if given. Fails with `conflict` while somebody
   * does, and for a run of another place.
   */
  take(id: string, place: RunPlace, limits?: RunLimits): Promise<RunRecord>
  /** Takes a run whose owner left it in the middle. Fails with `conflict` when it was let go meanwhile: that is its end. */
  rescue(id: string, place: RunPlace): Promise<RunRecord>
  /** Works on one turn. Returns what a person wants of the run at its end: `watch` may not have seen it yet. */
  turn(turn: TurnId, work: TurnWork): Promise<RunWish | null>
  /** A wish that nobody has heard yet holds for a run that begins to wait. True: it was a stop. */
  release(id: string, standstill: Standstill): Promise<boolean>
  look(id: string): Promise<RunRecord>
  /**
   * Of the run's own agent, or of a sub-agent in it. What is only for looking is redacted; what the model is sent again has
   * to stay as it was.
   */
  storeFor(part: StoredPart, model: { provider: string; name: string }, redactor: Redactor): TurnStore
  /** Says what a person wants of the run, and when the run is no longer ours. */
  watch(id: string, control: Heard): () => void
  /** Runs of a workspace whose executor is gone. */
  interrupted(place: RunPlace): Promise<string[]>
  close(): Promise<void>
}

/** `lifetimeMs`: how long a question waits for its answer. */
export async function openDurableRuns(database: Database, lifetimeMs: number): Promise<DurableRuns> {
  const executor = await registerExecutor(database, `kogu-${randomUUID()}`)
  const engine = await openTurnEngine(database, executor.id).catch(async (error: unknown) => {
    // Its connection would keep this process alive.
    await executor.close()
    throw error
  })
  const me = executor.id
  return {
    executor: me,
    async create(spec, { workspace, workspaceId, user }, id) {
      const workflow = await workflowOf(database, user, workspace)
      const run = { id, execution: randomUUID(), workflow, workspace, workspaceId, spec, executor: me }
      await database.transaction(queries => insertRun(queries, run))
      return requireRun(database, id)
    },
    async take(id, place, limits) {
      await takeOver(database, engine, { id, me, place, isLeft: false })
      await reopen(database, { id, executor: me, ...(limits === undefined ? {} : { limits }) })
      return requireRun(database, id)
    },
    async rescue(id, place) {
      await takeOver(database, engine, { id, me, place, isLeft: true })
      return requireRun(database, id)
    },
    async turn(turn, work) {
      const finish = () => finishTurn(database.relaxed, { id: turn.run, executor: me, turn: turn.turn })
      try {
        await engine.take(turn, work)
      } catch (error) {
        await finish()
        throw error
      }
      return finish()
    },
    async release(id, standstill) {
      // Together: whoever wishes something after this finds it standing still, also when this process ends here.
      return database.transaction(async queries => {
        if (!(await releaseRun(queries, id, me, standstill))) throw new LostRun()
        return standstill.status === 'pending' && obeyWish(queries, id)
      })
    },
    look: id => requireRun(database, id),
    storeFor: (part, model, redactor) =>
      createTurnStore(database, { part, executor: me, model, redactor, lifetimeMs }),
    watch: (id, control) => watchRun(database, me, id, control),
    async interrupted(place) {
      const owned = await ownedRuns(database, place)
      const gone = new Set<string>()
      for (const owner of new Set(owned.map(run => run.executor)))
        if (owner !== me && (await isGone(database, owner))) gone.add(owner)
      return owned.filter(run => gone.has(run.executor)).map(run => run.id)
    },
    async close() {
      await engine.close()
      await executor.close()
    },
  }
}

async function requireRun(database: Database, id: string): Promise<RunRecord> {
  const run = await findRun(database, id)
  if (run === undefined)
    throw new ToolError('not_found', `There is no run '${id}'.`, { hint: 'See: kogu runs list' })
  return run
}

async function takeOver(
  database: Database,
  engine: TurnEngine,
  { id, me, place, isLeft }: { id: string; me: string; place: RunPlace; isLeft: boolean },
): Promise<void> {
  const run = await requireRun(database, id)
  requireHome(run, place)
  const owner = await ownerOf(database, id)
  if (isLeft && owner === null) throw new ToolError('conflict', 'This run was not interrupted.')
  if (owner !== null && owner !== me && !(await isGone(database, owner))) {
    throw new ToolError('conflict', 'Another Kogu is working on this run.', {
      hint: `Watch it: kogu runs tail ${id}`,
    })
  }
  if (!(await takeRun(database, id, me, owner))) {
    throw new ToolError('conflict', 'Another Kogu has just taken over this run.')
  }
  const isAnothers = owner !== null && owner !== me
  if (isLeft || isAnothers) await engine.abandon(id)
  if (isAnothers) await forgetExecutor(database, owner)
}

interface StoredPart {
  readonly run: string
  readonly execution: string
  readonly task: string
  /** A sub-agent hears what its orchestrator tells it and what the person says to it, and not what is said to the run. */
  readonly isChild?: true
}

interface StoreParts {
  readonly part: StoredPart
  readonly executor: string
  readonly model: { provider: string; name: string }
  readonly redactor: Redactor
  readonly lifetimeMs: number
}

function createTurnStore(database: Database, parts: StoreParts): TurnStore {
  const { part, executor, model, redactor, lifetimeMs } = parts
  const { run: id, execution, task } = part
  // What is in the tables; nobody else writes there while we own the run, and a save without ownership fails.
  let written: LoopState | undefined
  // Whether there can be questions of this execution that nobody has settled: another process may have left some.
  let mayWait = true
  return {
    async load() {
      written ??= (await loadState(database, execution)) ?? startState(task)
      return written
    },
    async save(state, { taken = [], usage, calls = [], inner = [], waiting = [] }) {
      const known = written === undefined || written.turn === 0 ? 0 : written.messages.length
      const entry = usage === undefined ? undefined : { id: randomUUID(), run: id, execution, ...usage }
      const shown = {
        // What a result says is for a model as well; what was called with what, somebody may have to judge.
        calls: calls.map(call => ({ ...redactor.value(call), input: redactor.perToken.value(call.input) })),
        waiting: redactor.perToken.value(waiting),
      }
      await asOwner(() =>
        database.together(queries => [
          requireOwner(queries, id, executor),
          saveState(queries, { execution, known }, state),
          markTaken(queries, taken),
          insertToolExecutions(queries, execution, shown.calls),
          ...(mayWait ? [settleApprovals(queries, [...calls, ...inner])] : []),
          // What a call that waits has done stands in its journal: it is made again after the answer.
          ...(waiting.length === 0
            ? []
            : [
                releaseClaims(
                  queries,
                  waiting.map(({ made }) => made),
                ),
              ]),
          insertApprovals(queries, { run: id, execution, lifetimeMs }, shown.waiting),
          ...(entry === undefined
            ? []
            : [insertUsage(queries, { ...entry, provider: model.provider, model: model.name })]),
        ]),
      )
      mayWait = (mayWait && calls.length === 0) || waiting.length > 0
      written = state
    },
    claim: claim => insertClaim(database, { ...claim, run: id, execution, executor }),
    finish: (call, result) => finishClaim(database, call, result),
    claims: calls => findClaims(database, calls),
    messages: () => waitingMessages(database, id, part.isChild === true ? execution : null),
    spentElsewhere: () => spentElsewhere(database, id, execution),
  }
}

async function asOwner(save: () => Promise<void>): Promise<void> {
  try {
    await save()
  } catch (error) {
    throw isNotOwner(error) ? new LostRun() : error
  }
}

const WATCH_MS = 400

type Heard = Pick<Control, 'wish' | 'stopAgents'>

function watchRun(database: Database, executor: string, id: string, control: Heard): () => void {
  const stopped = new AbortController()
  const look = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await sleep(WATCH_MS, undefined, { signal: stopped.signal, ref: false })
      // When the database cannot be asked, the step that needs it says so; a wish is heard when it is back.
      const found = await wishOf(database, id).catch(() => null)
      if (found === null) continue
      if (found?.executor !== executor) return control.wish('lost')
      control.stopAgents(found.stopped)
      if (found.requested === null) continue
      control.wish(found.requested)
      // Until the step has come to its end, one can still want more.
      if (found.requested !== 'stop_after_step') return
    }
  }
  look().catch(() => undefined)
  return () => stopped.abort()
}
