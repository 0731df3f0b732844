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

/**
 * The sub-agent of a run that is meant: by its name while it works, or by the beginning of its id. A model chooses the names:
 * one that is the id of another agent, or its beginning, does not take its place.
 */
export function matchAgent(given: string, agents: readonly NamedAgent[]): string {
  if (agents.some(({ execution }) => execution === given)) return given
  const atWork = agents.filter(({ isAtWork }) => isAtWork)
  const named = atWork.filter(({ name }) => name === given)
  const byId = agents.filter(({ execution }) => given.length >= 4 && execution.startsWith(given))
  const meant = [...new Set(named.length === 0 ? [] : [...named, ...byId])]
  const [first, ...others] = meant
  if (first !== undefined && others.length === 0) return first.execution
  if (first !== undefined)
    throw new UsageError(
      `${meant.length} sub-agents are called '${toLine(given)}':\n${meant.map(({ execution }) => `  ${execution}`).join('\n')}`,
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
