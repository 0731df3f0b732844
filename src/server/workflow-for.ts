import { findWorkflow, workflowOf } from '../store/tables/workflows.ts'
import { HttpProblem } from './problem.ts'
import type { Services } from './services.ts'

/** The workflow of an id; by default that of the workspace. */
export async function workflowFor({ database, runs }: Services, id: string | undefined): Promise<string> {
  const { user, workspace } = runs.place
  if (id === undefined) return workflowOf(database, user, workspace)
  const found = await findWorkflow(database, runs.place, id)
  if (found === undefined) throw new HttpProblem(404, 'not_found', 'There is no such workflow.')
  return found.id
}
