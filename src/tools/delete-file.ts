import { lstatSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import * as z from 'zod'
import { counted } from '../core/counted.ts'
import { ToolError } from '../core/errors.ts'
import { defineTool, type ToolContext } from '../core/tool.ts'
import { toolPath } from './file-path.ts'
import { explainMissing } from './missing-file.ts'
import { removingAccess, undoNote } from './not-undoable.ts'
import { namePath } from './path-failure.ts'
import { resultPath, shownPath } from './result-path.ts'

const input = () =>
  z.object({
    path: z
      .string()
      .min(1)
      .describe('File, link or folder to delete. For a link, only the link itself is deleted.'),
    recursive: z
      .boolean()
      .default(false)
      .describe('Also delete a folder that is not empty, with everything in it.'),
  })

export const deleteFile = defineTool({
  name: 'delete_file',
  aliases: ['Delete', 'delete', 'rm', 'remove_file'],
  parameterAliases: { file_path: 'path', file: 'path', directory: 'path' },
  title: 'Delete',
  description:
    'Delete a file, or a folder with recursive: true. What is deleted is kept for undo, unless it is too large.',
  category: 'FileSystem',
  risk: 'high',
  input,
  output: {
    path: { type: 'string' },
    entries: { type: 'integer' },
    files: { type: 'integer' },
  },
  access: async ({ path }, context) => [
    { kind: 'file_delete', path: toolPath(path, context.cwd) },
    ...(await removingAccess(path, context)),
  ],
  async run({ path, recursive }, context) {
    const shown = shownPath(resultPath(context.files.resolve(path), context))
    if (!recursive && (await hasContent(path, context))) {
      throw new ToolError('conflict', `${shown} is a folder that is not empty.`, {
        hint: 'Pass recursive: true to delete it with everything in it.',
      })
    }
    const effects = await context.files
      .remove(path)
      .catch(explainMissing(path, context))
      .catch(namePath(path, context))
      .catch(error => {
        throw withAdvice(error, context.files.resolve(path), shown)
      })
    const files = effects.filter(effect => effect.entry !== 'directory').length
    const count = effects.length > 1 ? ` (${counted(files, 'file')})` : ''
    return {
      text: `Deleted ${shown}${count}${undoNote(effects)}`,
      data: { path: context.files.resolve(path), entries: effects.length, files },
    }
  },
})

async function hasContent(path: string, { files }: ToolContext): Promise<boolean> {
  const absolute = files.resolve(path)
  // Not a folder, or not there: the removal itself says what is wrong.
  const entries = await files.list(absolute).catch(() => [])
  if (entries.length === 0) return false
  // A link to a folder goes without what it points to.
  const beside = await files.list(dirname(absolute)).catch(() => [])
  return beside.find(entry => entry.name === basename(absolute))?.kind !== 'link'
}

/** A pipe, socket or device has no content that undo could keep: no tool deletes it, nor does a command on its layer. */
function withAdvice(error: unknown, absolute: string, shown: string): unknown {
  if (!(error instanceof ToolError) || error.code !== 'invalid_input') return error
  const stat = lstatSync(absolute, { throwIfNoEntry: false })
  if (stat === undefined || stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()) return error
  const quoted = `'${absolute.replaceAll("'", "'\\''")}'`
  return new ToolError(
    'invalid_input',
    `${shown} is a pipe, socket or device: undo could not bring it back.`,
    { hint: `A person can delete it: rm ${quoted}`, cause: error },
  )
}
