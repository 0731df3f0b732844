import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { defineTool, type ToolContext } from '../core/tool.ts'
import { toolPath } from './file-path.ts'
import { explainMissing } from './missing-file.ts'
import { removingAccess, undoNote } from './not-undoable.ts'
import { namePath } from './path-failure.ts'
import { resultPath, shownPath } from './result-path.ts'

const input = () =>
  z.object({
    from: z.string().min(1).describe('File or folder to move.'),
    to: z.string().min(1).describe('Its new path, with its name; not the folder to put it in.'),
    overwrite: z.boolean().default(false).describe('Replace what is at the new path.'),
  })

export const moveFile = defineTool({
  name: 'move_file',
  aliases: ['Move', 'move', 'mv', 'rename', 'rename_file'],
  parameterAliases: {
    path: 'from',
    source: 'from',
    src: 'from',
    old_path: 'from',
    destination: 'to',
    dest: 'to',
    dst: 'to',
    new_path: 'to',
    force: 'overwrite',
  },
  title: 'Move or rename',
  description:
    'Move or rename a file or a whole folder. Missing parent folders are created; an existing target is kept unless overwrite is true. Can be undone.',
  category: 'FileSystem',
  risk: 'high',
  input,
  output: {
    from: { type: 'string' },
    to: { type: 'string' },
    entries: { type: 'integer' },
  },
  async access({ from, to, overwrite }, context) {
    const source = toolPath(from, context.cwd)
    const target = toolPath(to, context.cwd)
    return [
      // Without this, a file that may not be read could be moved to where it may.
      { kind: 'file_read', path: source },
      { kind: 'file_delete', path: source },
      { kind: 'file_write', path: target },
      ...(overwrite
        ? [{ kind: 'file_delete' as const, path: target }, ...(await removingAccess(to, context))]
        : []),
    ]
  },
  async run({ from, to, overwrite }, context) {
    const shown = (path: string): string => shownPath(resultPath(context.files.resolve(path), context))
    const effects = await context.files
      .move(from, to, { overwrite })
      .catch(explainMissing(from, context))
      .catch(namePath(from, context))
      .catch(error => {
        throw withHint(error, { from, to, overwrite }, context)
      })
    return {
      text: `Moved ${shown(from)} to ${shown(to)}${undoNote(effects)}`,
      data: { from: context.files.resolve(from), to: context.files.resolve(to), entries: effects.length },
    }
  },
})

/** The workspace says what is in the way; what to pass instead is this tool's to say. */
function withHint(
  error: unknown,
  { from, to, overwrite }: { from: string; to: string; overwrite: boolean },
  context: ToolContext,
): unknown {
  if (!(error instanceof ToolError) || error.code !== 'conflict') return error
  const target = context.files.resolve(to)
  const stat = statSync(target, { throwIfNoEntry: false })
  if (stat?.isDirectory() === true) {
    const inside = join(target, basename(context.files.resolve(from)))
    const hint = `To move it into that folder, pass to: "${shownPath(resultPath(inside, context))}".`
    return new ToolError('conflict', `${to} is a folder that exists already.`, { hint, cause: error })
  }
  if (overwrite || stat?.isFile() !== true) return error
  return new ToolError('conflict', error.message, {
    hint: 'Choose another name, or pass overwrite: true to replace it.',
    cause: error,
  })
}
