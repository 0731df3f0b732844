import { coreIdOf } from '../../agents/agent-ids.ts'
import { ToolError } from '../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { cancelAgentApprovals } from '../tables/approvals.ts'
import { findRunAgent, requestAgentStop } from '../tables/sub-agents.ts'

interface OneAgent {
  readonly run: string
  readonly execution: string
}

/**
 * Wants a sub-agent to end, with all below it; whoever works on the run sees to it within a second, or when it goes on.
 * What they have asked is taken back at once.
 */
export async function stopAgent(
  database: Database,
  agent: OneAgent,
  withdraw: (run: string) => Promise<void>,
): Promise<void> {
  if (!(await requestAgentStop(database, agent))) {
    const found = await findRunAgent(database, agent)
    if (found === undefined) throw new ToolError('not_found', 'This run has no such agent.')
    if (found.parent === null)
      throw new ToolError('invalid_input', 'This is the agent of the run itself.', { hint: 'Stop the run.' })
    throw new ToolError('conflict', 'This sub-agent has ended already.')
  }
  await withdrawAgent(database, agent, withdraw)
}

/** Takes back what a sub-agent and those below it have asked. */
export async function withdrawAgent(
  database: Database,
  { run, execution }: OneAgent,
  withdraw: (run: string) => Promise<void>,
): Promise<void> {
  await cancelAgentApprovals(database, execution)
  await withdraw(coreIdOf(run, execution))
}
