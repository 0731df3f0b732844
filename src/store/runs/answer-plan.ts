import { ToolError } from '../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { answerPlan, failRejected, orchestrationOfRun } from '../tables/orchestration-runs.ts'
import { insertEvents, newEvent } from '../tables/run-events.ts'
import { requeueRun } from '../tables/run-queue.ts'
import { findRun } from '../tables/workflow-runs.ts'

export interface PlanAnswer {
  readonly verdict: 'approve' | 'reject'
  readonly user: string
  /** Whether an approved run waits for a worker then, or whoever answers works on it. */
  readonly isQueued: boolean
}

/** A person's answer to the plan of a run, through whichever door: all of it or nothing, and only the first one counts. */
export async function answerPlanOf(
  database: Database,
  run: string,
  { verdict, user, isQueued }: PlanAnswer,
): Promise<void> {
  await database.transaction(async queries => {
    const found = await orchestrationOfRun(queries, run)
    const status = verdict === 'approve' ? 'running' : 'rejected'
    if (found === undefined || !(await answerPlan(queries, found.id, status))) {
      // A plan waits no longer when its run was stopped.
      const stands = found?.status === 'awaiting_approval' ? await findRun(queries, run) : found
      throw new ToolError(
        'conflict',
        `Orchestration run is not awaiting approval (status: ${stands?.status ?? 'none'})`,
      )
    }
    const type = verdict === 'approve' ? 'plan.approved' : 'plan.rejected'
    await insertEvents(queries, run, found.execution, [newEvent({ type, orchestration: found.id, user })])
    if (verdict === 'reject') await failRejected(queries, found)
    else if (isQueued) await requeueRun(queries, run, 'awaiting_plan')
  })
}
