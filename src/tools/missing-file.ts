import { basename, dirname } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'
import { closest } from '../core/suggest.ts'
import type { ToolContext } from '../core/tool.ts'
import { resultPath, shownPath } from './result-path.ts'

/** The error for a path that does not exist, with the name in the same folder that was probably meant. */
export async function missingFile(path: string, context: ToolContext): Promise<ToolError> {
  const absolute = context.files.resolve(path)
  const folder = dirname(absolute)
  const message = `No such file or folder: ${shownPath(resultPath(absolute, context))}`
  // `list` leaves out what the call may not read, so no name is given away here.
  const entries = await context.files.list(folder).catch(() => [])
  if (entries.length === 0) {
    return new ToolError('not_found', message, {
      hint: `Find it with glob_search, for example {"pattern": "**/${shownPath(basename(absolute))}"}.`,
    })
  }
  const near = nearestName(
    basename(absolute),
    entries.map(entry => entry.name),
  )
  return new ToolError('not_found', message, {
    hint:
      near === undefined
        ? 'List the folder with list_directory, or find it with glob_search.'
        : `Did you mean '${shownPath(near)}' in the same folder?`,
  })
}

/** For `.catch`: says more about a path that does not exist, and passes every other failure on. */
export function explainMissing(
  path: string,
  context: ToolContext,
  explain = missingFile,
): (error: unknown) => Promise<never> {
  return async error => {
    const isMissing =
      (error instanceof ToolError && error.code === 'not_found') ||
      (isSystemError(error) && error.code === 'ENOENT')
    throw isMissing ? await explain(path, context) : error
  }
}

function nearestName(name: string, names: readonly string[]): string | undefined {
  const folded = name.toLowerCase()
  const stem = folded.replace(/\.[^.]*$/, '')
  return (
    names.find(other => other.toLowerCase() === folded) ??
    closest(name, names) ??
    names.find(other => stem.length > 2 && other.toLowerCase().replace(/\.[^.]*$/, '') === stem)
  )
}
