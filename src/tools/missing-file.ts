import { basename, dirname } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'
import { realPathOf } from '../core/real-path.ts'
import { closest } from '../core/suggest.ts'
import type { ToolContext } from '../core/tool.ts'
import { findElsewhere } from './find-elsewhere.ts'
import { belowFile } from './path-failure.ts'
import { resultPath, shownPath } from './result-path.ts'

/** The error for a path that does not exist, with the file that was probably meant. */
export async function missingFile(path: string, context: ToolContext): Promise<ToolError> {
  const absolute = context.files.resolve(path)
  const below = belowFile(path, context)
  if (below !== undefined) return below
  const name = basename(absolute)
  const shown = shownPath(resultPath(absolute, context))
  // `list` leaves out what the call may not read, so no name is given away here.
  const entries = await context.files.list(dirname(absolute)).catch(() => [])
  if (entries.some(entry => entry.name === name && entry.kind === 'link')) {
    const target = shownPath(resultPath(realPathOf(absolute), context))
    return new ToolError('not_found', `The symlink ${shown} points to ${target}, which does not exist.`, {
      hint: 'Fix the symlink, or create its target with write_file.',
    })
  }
  const names = entries.map(entry => entry.name)
  return new ToolError('not_found', `No such file or folder: ${shown}`, {
    hint:
      sameLookingHint(name, names) ??
      nearHint(name, names) ??
      elsewhereHint(absolute, context) ??
      (names.length === 0
        ? `Find it with glob_search, for example {"pattern": "**/${shownPath(name)}"}.`
        : 'List the folder with list_directory, or find it with glob_search.'),
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

/**
 * The name that looks the same but is another: letters composed in another way, or characters that cannot be seen and
 * that listings show as ⟨U+000A⟩.
 */
export function sameLooking(name: string, names: readonly string[]): string | undefined {
  const looks = (each: string): string => shownPath(each).normalize('NFC')
  return names.find(other => other !== name && looks(other) === looks(name))
}

/** A name in a form that can be copied without a loss: all but ASCII escaped as JSON does it. */
export function escapedName(name: string): string {
  return JSON.stringify(name).replace(
    /[^\0-\x7e]/g,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function sameLookingHint(name: string, names: readonly string[]): string | undefined {
  const same = sameLooking(name, names)
  if (same === undefined) return undefined
  return `A file of this folder has a name that looks the same and is made of other characters; in JSON it is written ${escapedName(same)}.`
}

function nearHint(name: string, names: readonly string[]): string | undefined {
  const near = nearestName(name, names)
  return near === undefined ? undefined : `Did you mean '${shownPath(near)}' in the same folder?`
}

function elsewhereHint(absolute: string, context: ToolContext): string | undefined {
  const found = findElsewhere(absolute, context).map(path => `'${shownPath(resultPath(path, context))}'`)
  return found.length === 0 ? undefined : `Did you mean ${found.join(' or ')}?`
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
