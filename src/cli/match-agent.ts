import { ToolError } from '../core/errors.ts'
import { toLine } from '../core/visible.ts'
import { UsageError } from './command.ts'
import { matchId } from './match-id.ts'

export interface NamedAgent {
  readonly execution: string
  readonly name: string
  /** A sub-agent that has not ended. */
  readonly isAtWork: boolean
}

/** The sub-agent of a run that is meant: by its name while it works, or by the beginning of its id. */
export function matchAgent(given: string, agents: readonly NamedAgent[]): string {
  const atWork = agents.filter(({ isAtWork }) => isAtWork)
  const [first, ...others] = atWork.filter(({ name }) => name === given)
  if (first !== undefined && others.length === 0) return first.execution
  if (first !== undefined)
    throw new UsageError(
      `${others.length + 1} sub-agents are called '${toLine(given)}':\n${[first, ...others].map(({ execution }) => `  ${execution}`).join('\n')}`,
      'Name one by its id.',
    )
  const ids = agents.map(({ execution }) => execution)
  const id = matchId(given, 'agent', ids)
  if (ids.includes(id)) return id
  const names = [...new Set(atWork.map(({ name }) => toLine(name)))].join(', ')
  throw new ToolError('not_found', `No sub-agent '${toLine(given)}' is running in this run.`, {
    hint: names === '' ? 'None is running.' : `Running: ${names}`,
  })
}
