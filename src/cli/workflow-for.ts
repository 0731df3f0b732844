import type { Database } from '../store/database/database.ts'
import { workflowOf } from '../store/tables/workflows.ts'
import type { CommandContext } from './command.ts'

/** The workflow that holds the agents of this person in this workspace. */
export function workflowFor(
  { environment }: CommandContext,
  database: Database,
  workspace: string,
): Promise<string> {
  const { USER, USERNAME } = environment.variables
  return workflowOf(database, USER ?? USERNAME ?? 'local', workspace)
}
