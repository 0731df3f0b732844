import { type Access, ISOLATED_CODE, UNWALLED_CODE } from '../core/access.ts'
import type { DynamicTool } from './definition.ts'
import type { DynamicParts } from './parts.ts'

/** The code itself touches nothing; whatever it wants from outside is a call of its own. */
export function accessOf(tool: DynamicTool, parts: DynamicParts): Access[] {
  const missing = parts.missingWall()
  const details = `${tool.name} (${tool.id}, version ${tool.version})`
  if (missing === null) return [{ kind: 'custom', name: ISOLATED_CODE, details }]
  return [{ kind: 'custom', name: UNWALLED_CODE, details: `${details}. ${missing}` }]
}
