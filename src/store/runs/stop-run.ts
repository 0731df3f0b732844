import type { RunRecord } from '../../agents/run-record.ts'
import type { Database } from '../database/database.ts'
import { cancelApprovals } from '../tables/approvals.ts'
import { insertEvents, newEvent } from '../tables/run-events.ts'
import { cancelStanding } from '../tables/run-queue.ts'
import { requestRun } from '../tables/workflow-runs.ts'

/**
 * Stops a run. One that nobody works on has ended with this, and `withdraw` takes back what it has asked; whoever works on
 * any other stops within a second, or after its step, and does the same. True: it has ended.
 */
export async function stopRun(
  database: Database,
  { id, execution }: Pick<RunRecord, 'id' | 'execution'>,
  withdraw: (run: string) => Promise<void>,
  wish: 'stop' | 'stop_after_step' = 'stop',
): Promise<boolean> {
  if (!(await cancelStanding(database, id))) {
    await requestRun(database, id, wish)
    // Whoever worked on it may have let it go in between, and sees no wish any longer.
    if (!(await cancelStanding(database, id))) return false
  }
  await tellStopped(database, { id, execution }, withdraw)
  return true
}

/** For a run that has just ended by a stop: tells of it, and takes back what it has asked. */
export async function tellStopped(
  database: Database,
  { id, execution }: Pick<RunRecord, 'id' | 'execution'>,
  withdraw: (run: string) => Promise<void>,
): Promise<void> {
  await insertEvents(database, id, execution, [
    newEvent({ type: 'run.finished', status: 'cancelled', stopReason: 'cancelled' }),
  ])
  await cancelApprovals(database, id)
  await withdraw(id)
}
