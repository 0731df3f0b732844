import { resolve } from 'node:path'
import { ToolError } from '../core/errors.ts'
import { isInside, realPathOf } from '../core/real-path.ts'
import type { Runtime } from '../runtime.ts'

const REHEARSAL = 'rehearsal:'

/**
 * A model that a request names. A rehearsal is a file, so naming one is a read: of the workspace, and only where the rules
 * let a tool read it unasked. Otherwise a token could have any file of the person opened. Returns the name as it is.
 */
export async function requestedModel<Name extends string | undefined>(
  { workspace, cwd, explain }: Pick<Runtime, 'workspace' | 'cwd' | 'explain'>,
  name: Name,
): Promise<Name> {
  if (!name?.startsWith(REHEARSAL)) return name
  const path = resolve(cwd, name.slice(REHEARSAL.length))
  const { decision, reasons } = await explain({ tool: 'read_file', input: { path } })
  if (!isInside(realPathOf(path), workspace))
    throw new ToolError('forbidden', 'A rehearsal that a request names lies in the workspace.')
  if (decision === 'allow') return name
  throw new ToolError('forbidden', reasons[0] ?? 'The rules do not let this file be read.')
}
