import { randomUUID } from 'node:crypto'
import { ToolError } from '../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { sayToRun, sayToSubAgent } from '../tables/run-messages.ts'
import { requeueRun } from '../tables/run-queue.ts'
import { findRunAgent } from '../tables/sub-agents.ts'
import { findRun } from '../tables/workflow-runs.ts'

/**
 * What a person says to a run, or to one sub-agent in it, through whichever door. True: the run had ended, and waits for a
 * worker now to read it. One that waits for an answer or was paused stays so.
 */
export async function say(
  database: Database,
  run: { readonly id: string; readonly execution: string },
  text: string,
  execution = run.execution,
): Promise<boolean> {
  if (execution !== run.execution) {
    await sayToAgent(database, { run: run.id, execution }, text)
    return false
  }
  await sayToRun(database, randomUUID(), run.id, text)
  // Looked at after the message is there: whoever works on it looks for messages after its end is.
  const { status } = (await findRun(database, run.id)) ?? { status: 'failed' }
  return status === 'completed' && (await requeueRun(database, run.id))
}

/** Nobody would ever read what is said to a sub-agent that has ended. */
async function sayToAgent(
  database: Database,
  agent: { run: string; execution: string },
  text: string,
): Promise<void> {
  if (await sayToSubAgent(database, agent, text)) return
  if ((await findRunAgent(database, agent)) === undefined)
    throw new ToolError('not_found', 'This run has no such agent.')
  throw new ToolError('conflict', 'This sub-agent has ended already.', { hint: 'Say it to the run.' })
}
