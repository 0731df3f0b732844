import { dirname } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'
import { lookAt, realPathOf } from '../core/real-path.ts'
import type { ToolContext } from '../core/tool.ts'
import { resultPath, shownPath } from './result-path.ts'

/** For `.catch` of what is done to one path: says which, where the failure does not, and what to do. */
export function namePath(path: string, context: ToolContext): (error: unknown) => never {
  return error => {
    const isRefused = isSystemError(error) && (error.code === 'EACCES' || error.code === 'EPERM')
    if (isRefused) {
      const shown = shownPath(resultPath(context.files.resolve(path), context))
      throw new ToolError('failed', `The operating system refused access: ${shown}`, {
        hint: 'Check the owner and mode of it and of its folder.',
        cause: error,
      })
    }
    const isBelowFile = error instanceof ToolError && error.code === 'not_found'
    throw (isBelowFile ? belowFile(path, context) : undefined) ?? error
  }
}

/** The error for a path that goes on below a file; undefined when it does not. */
export function belowFile(path: string, context: ToolContext): ToolError | undefined {
  const absolute = context.files.resolve(path)
  for (let above = dirname(absolute); above !== dirname(above); above = dirname(above)) {
    const stat = lookAt(above)
    if (stat === undefined) continue
    if (!stat.isFile() || !context.permit.mayRead(realPathOf(above))) return undefined
    const shown = shownPath(resultPath(above, context))
    return new ToolError('not_found', `Not a folder: ${shown}`, {
      hint: `${shown} is a file, so there is nothing below it. Choose another path, or move the file first.`,
    })
  }
  return undefined
}
