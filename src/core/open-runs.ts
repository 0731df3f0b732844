import { randomUUID } from 'node:crypto'
import type { Approver } from './approval.ts'
import { type Authority, type AuthorityWish, agentWish, narrow } from './authority.ts'
import type { Clock } from './clock.ts'
import { ToolError } from './errors.ts'
import { absolutePath, isInside, realPathOf } from './real-path.ts'
import { addLabel, createRun, type Run, type RunOptions } from './run.ts'
import { type RunOrigin, type RunState, restoreRun } from './stored-question.ts'

export interface OpenRunOptions {
  /** A named run is resumed where an earlier process left it. Defaults to a new run that ends with this process. */
  readonly id?: string
  /**
   * What the run may do, of what its parent may. An agent that is named here has no tools, `doc` to write in, a few
   * reading commands and git to look at, as far as the wish says nothing else. Folders are relative to the workspace.
   */
  readonly authority?: AuthorityWish
  /** Defaults to the parent's, or to that of the runtime. */
  readonly approver?: Approver
  /** Id of an open run. What has entered that one has entered this one, too. */
  readonly parent?: string
  /** What the run is for; whoever decides about its calls is told. */
  readonly task?: string
}

export interface OpenRunsParts {
  readonly workspace: string
  /** Of runs without a parent. */
  readonly authority: Authority
  readonly approver: Approver
  readonly clock: Clock
  /** So that names in a wish mean the same as those in the parent's list. */
  canonicalTool(name: string): string
  /** Bounds how long this approver is waited for. */
  limitApprover(approver: Approver): Approver
  load(id: string, options: RunOptions): Promise<Run>
  save(run: Run): Promise<void>
  /** Takes back what was granted to a run that is over. */
  forget(run: Run): Promise<void>
  /** Takes away what belongs to a run that nobody can continue. */
  discard(id: string): void
}

const GENERATED = /^run_[0-9a-f-]{36}$/

/** The runs that are open in this process. */
export function createOpenRuns(parts: OpenRunsParts) {
  const runs = new Map<string, Run>()
  // Two calls of one turn ask for their run at the same moment, and must get the same one.
  const opening = new Map<string, Promise<Run>>()
  const children = new WeakMap<Run, Set<Run>>()
  const approver = parts.limitApprover(parts.approver)

  const find = (id: string): Run | Promise<Run> | undefined => runs.get(id) ?? opening.get(id)

  const add = (run: Run): Run => {
    const { parent } = run
    // It may have been closed while this one was read.
    if (parent?.closed === true) throw notOpen(parent.id)
    if (parent !== undefined) children.set(parent, (children.get(parent) ?? new Set()).add(run))
    runs.set(run.id, run)
    return run
  }

  const toOptions = async (wanted: OpenRunOptions): Promise<RunOptions> => {
    const { authority = {}, approver: own, parent: id, task } = wanted
    const parent = id === undefined ? undefined : await find(id)
    if (id !== undefined && parent === undefined) throw notOpen(id)
    return {
      authority: narrow(parent?.authority ?? parts.authority, toWish(authority, parent, parts)),
      approver: own === undefined ? (parent?.approver ?? approver) : parts.limitApprover(own),
      clock: parts.clock,
      parent,
      task,
    }
  }

  const openNamed = (id: string, options: OpenRunOptions): Promise<Run> => {
    const opened = toOptions(options)
      .then(async each => {
        const run = withParentsLabels(await parts.load(id, each))
        // Before its first call: a process that is killed must not leave a run without its authority.
        await parts.save(run)
        return add(run)
      })
      .finally(() => opening.delete(id))
    opening.set(id, opened)
    return opened
  }

  const end = async (run: Run, isOver: boolean): Promise<void> => {
    run.closed = true
    for (const child of children.get(run) ?? []) await end(child, isOver)
    if (run.parent !== undefined) children.get(run.parent)?.delete(run)
    if (!runs.delete(run.id)) return
    if (run.isNamed !== true) return parts.discard(run.id)
    await parts.save(run)
    if (isOver) await parts.forget(run)
  }

  return {
    async open(options: OpenRunOptions = {}): Promise<Run> {
      const { id } = options
      if (id === undefined) {
        return add(withParentsLabels(createRun(`run_${randomUUID()}`, await toOptions(options))))
      }
      // Whoever holds the id of a run could otherwise give it another authority.
      if (find(id) !== undefined) throw new ToolError('conflict', `The run '${id}' is already open.`)
      if (GENERATED.test(id)) throw notOpen(id)
      return openNamed(id, options)
    },
    /** The open run of this name; one that is not open is opened with the authority of the runtime. */
    async get(id: string): Promise<Run> {
      const known = find(id)
      if (known !== undefined) return known
      // The id of a run that was closed must not open one with more authority.
      if (GENERATED.test(id)) throw notOpen(id)
      return openNamed(id, {})
    },
    /** The same for a question about it: nothing is opened. */
    async look(id: string): Promise<Run> {
      return find(id) ?? parts.load(id, await toOptions({}))
    },
    /** The run of a call that goes on, below those that it was opened below, with no more authority than it had. */
    async resume(origins: readonly RunOrigin[], state: RunState): Promise<Run> {
      let run: Run | undefined
      let isOpen = false
      for (const { id, authority, startedAt } of origins) {
        const known = await find(id)
        isOpen = known !== undefined
        const most = narrow(run?.authority ?? parts.authority, authority)
        const options = { parent: run, authority: most, approver, clock: parts.clock, startedAt }
        run = known ?? (await parts.load(id, options))
      }
      if (run === undefined) throw new Error('A call belongs to a run.')
      return isOpen ? run : restoreRun(run, state)
    },
    /** A run for one call. */
    single: (): Run =>
      createRun(`run_${randomUUID()}`, { authority: parts.authority, approver, clock: parts.clock }),
    /** The run and those below it take no more calls, and what only they knew is forgotten. */
    async close(id: string): Promise<void> {
      const run = await find(id)
      if (run !== undefined) await end(run, true)
    },
    /** With the process; a run that has a name goes on in the next one. */
    async closeAll(): Promise<void> {
      await Promise.allSettled(opening.values())
      for (const run of runs.values()) await end(run, false)
    },
  }
}

/** A run knows what the one above it says, so what entered that one has entered it. */
function withParentsLabels(run: Run): Run {
  for (const label of run.parent?.labels ?? []) addLabel(run, label)
  return run
}

function toWish(wish: AuthorityWish, parent: Run | undefined, parts: OpenRunsParts): AuthorityWish {
  const { workspace, canonicalTool } = parts
  const { agent } = wish
  const isOther = agent !== undefined && agent !== parent?.authority.agent
  const whole = isOther ? agentWish(agent, workspace, wish) : wish
  const { writeScope, tools } = whole
  return {
    ...whole,
    ...(writeScope && { writeScope: writeScope.map(folder => realFolder(folder, workspace)) }),
    ...(tools === undefined || tools === 'all' ? {} : { tools: tools.map(canonicalTool) }),
  }
}

/** What lies outside the workspace has no layer, no record and no undo. */
function realFolder(folder: string, workspace: string): string {
  const real = realPathOf(absolutePath(folder, workspace))
  if (isInside(real, workspace)) return real
  const hint =
    'Changes outside the workspace could not be undone. Name a folder inside it, or start Kogu there.'
  const message = `The write folder '${folder}' is outside of the workspace '${workspace}'.`
  throw new ToolError('forbidden', message, { hint })
}

function notOpen(id: string): ToolError {
  return new ToolError('not_found', `The run '${id}' is not open.`)
}
