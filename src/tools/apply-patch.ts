import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { partsOf, withoutParts } from '../core/diff-parts.ts'
import { ToolError } from '../core/errors.ts'
import { lookAt, resolvePath as resolveNow } from '../core/real-path.ts'
import { type AccessContext, defineTool, type ToolContext } from '../core/tool.ts'
import { summarizeDiff } from '../core/unified-diff.ts'
import { smallestEdit } from './edit/smallest-edit.ts'
import { hardLinkAccess, presentBytes } from './existing-file.ts'
import { toolPath } from './file-path.ts'
import { explainMissing } from './missing-file.ts'
import { removingFileAccess } from './not-undoable.ts'
import { applyChunks } from './patch/apply-chunks.ts'
import { type FilePatch, parsePatch } from './patch/parse-patch.ts'
import { writePatch } from './patch/write-patch.ts'
import { namePath } from './path-failure.ts'
import { resultPath, shownPath } from './result-path.ts'
import { decodeDocument, encodeText } from './text/codec.ts'
import { detectFormat } from './text/format.ts'

const input = () =>
  z.object({
    input: z
      .string()
      .min(1)
      .describe(
        'The patch, from "*** Begin Patch" to "*** End Patch". Paths are relative to the working folder.',
      ),
  })

export const applyPatch = defineTool({
  name: 'apply_patch',
  aliases: ['ApplyPatch'],
  parameterAliases: { patch: 'input', patchText: 'input' },
  title: 'Apply a patch',
  description:
    'Apply a patch in the format of Codex: "*** Add File: path" with lines that begin with "+", "*** Update File: path" ' +
    '(optionally "*** Move to: path") with "@@" and lines that begin with " ", "-" or "+", "*** Delete File: path". ' +
    'All parts are checked before the first one is written.',
  category: 'FileSystem',
  risk: 'high',
  input,
  output: {
    files: { type: 'integer' },
    done: { type: 'array', items: { type: 'string' } },
  },
  access({ input: patch }, context) {
    return parsePatch(patch).flatMap(file => {
      const path = toolPath(file.path, context.cwd)
      if (file.kind === 'add') return [{ kind: 'file_write', path } as const]
      if (file.kind === 'delete')
        return [{ kind: 'file_delete', path } as const, ...removingFileAccess(file.path, context)]
      return [
        { kind: 'file_read', path } as const,
        { kind: 'file_write', path } as const,
        ...hardLinkAccess(file.path, context),
        ...(file.moveTo === undefined
          ? []
          : [
              { kind: 'file_delete', path } as const,
              { kind: 'file_write', path: toolPath(file.moveTo, context.cwd) } as const,
            ]),
      ]
    })
  },
  preview({ input: patch }, context) {
    const files = parsePatch(patch)
    // Each is compared with what is there now, which is not what the second change of a file would find.
    const places = files.flatMap(file => placesOf(file, context))
    if (new Set(places).size < places.length) return undefined
    const said = files.flatMap(file => {
      if (file.kind === 'delete') return [`delete ${file.path}\n`]
      return file.kind === 'update' && file.moveTo !== undefined
        ? [`move ${file.path} to ${file.moveTo}\n`]
        : []
    })
    const diffs = files.flatMap(file => (file.kind === 'delete' ? [] : [changeOf(file, context).diff]))
    return [said.join(''), ...diffs].filter(text => text !== '').join('\n')
  },
  leaveOut({ input: patch }, parts, context) {
    let first = 0
    const files: FilePatch[] = []
    for (const file of parsePatch(patch)) {
      const change = file.kind === 'delete' ? undefined : changeOf(file, context)
      const count = partsOf(change?.diff ?? '').length
      const own = new Set([...parts].map(part => part - first).filter(part => part >= 0 && part < count))
      first += count
      const rest = change === undefined || own.size === 0 ? file : fileWithout(file, change, own)
      if (rest === undefined) return undefined
      if (rest !== 'nothing') files.push(rest)
    }
    if (files.length === 0) return undefined
    const rest = writePatch(files)
    // A line that ends with a carriage return would lose it.
    return isDeepStrictEqual(parsePatch(rest), files) ? { input: rest } : undefined
  },
  async run({ input: patch }, context) {
    const files = parsePatch(patch)
    for (const file of files) await check(file, context)
    const done: string[] = []
    for (const file of files) {
      try {
        done.push(await apply(file, context))
      } catch (error) {
        throw done.length === 0 ? error : halfWay(error, done)
      }
    }
    return { text: done.join('\n'), data: { files: files.length, done } }
  },
})

type Update = Extract<FilePatch, { kind: 'update' }>

/** The real paths that it changes, so that no file counts as two. */
function placesOf(file: FilePatch, { cwd, resolvePath = resolveNow }: AccessContext): string[] {
  const moveTo = file.kind === 'update' ? file.moveTo : undefined
  const paths = moveTo === undefined ? [file.path] : [file.path, moveTo]
  return paths.map(path => resolvePath(toolPath(path, cwd)).real)
}

interface Change {
  readonly before: Uint8Array
  readonly after: Uint8Array
  readonly diff: string
}

/** Throws where it cannot be shown: then the patch itself is. */
function changeOf(file: Exclude<FilePatch, { kind: 'delete' }>, context: AccessContext): Change {
  const before = file.kind === 'add' ? new Uint8Array() : presentBytes(file.path, context)
  if (before === undefined) throw new ToolError('not_found', `No such file: ${file.path}`)
  const after = file.kind === 'add' ? Buffer.from(file.content) : patched(before, file, file.path)
  const { diff } = summarizeDiff(textOf(before), textOf(after), file.path)
  if (diff === null) throw new ToolError('failed', `${file.path} is too different to be compared.`)
  return { before, after, diff }
}

/** The same file without these parts of its change; undefined where no patch says just that. */
function fileWithout(
  file: FilePatch,
  { before, after, diff }: Change,
  parts: ReadonlySet<number>,
): FilePatch | 'nothing' | undefined {
  if (file.kind !== 'update') return 'nothing'
  const text = withoutParts(textOf(after), diff, parts)
  if (text === undefined) return undefined
  const isSame = text === textOf(before)
  if (isSame && file.moveTo === undefined) return 'nothing'
  const { old_string, new_string } = smallestEdit(textOf(before), text)
  const chunk = { anchors: [], old: linesOf(old_string), next: linesOf(new_string), atEnd: false }
  const rest: Update = { ...file, chunks: isSame ? [] : [chunk] }
  // Line ends and encodings that a patch cannot tell apart.
  return Buffer.from(text).equals(patched(before, rest, file.path)) ? rest : undefined
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map(line => line.replace(/\r$/, ''))
  return text.endsWith('\n') ? lines.slice(0, -1) : lines
}

function patched(before: Uint8Array, { chunks }: Update, shown: string): Uint8Array {
  const format = detectFormat(before)
  const document = format === null ? null : decodeDocument(before, format)
  if (format === null || document === null) throw new ToolError('failed', `${shown} is not a text file.`)
  if (format.damaged) {
    throw new ToolError('failed', `${shown} holds bytes that are not ${format.encoding}.`, {
      hint: 'Change it with edit_file, which leaves them as they are.',
    })
  }
  const encoded = encodeText(applyChunks(document.text, chunks, shown), format.encoding)
  if (encoded === null)
    throw new ToolError('failed', `${shown} (${format.encoding}) cannot hold the new text.`)
  return Buffer.concat([before.subarray(0, format.bomLength), encoded])
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function shownIn(path: string, context: ToolContext): string {
  return shownPath(resultPath(context.files.resolve(path), context))
}

/** Reads what will be changed: a patch of which one part does not fit changes nothing. */
async function check(file: FilePatch, context: ToolContext): Promise<void> {
  const shown = shownIn(file.path, context)
  if (file.kind !== 'update') {
    const exists = lookAt(context.files.resolve(file.path)) !== undefined
    if (file.kind === 'add' && exists) {
      throw new ToolError('conflict', `${shown} exists already.`, {
        hint: 'Change it with "*** Update File: ", or delete it first.',
      })
    }
    return
  }
  const opened = await context.files
    .open(file.path)
    .catch(explainMissing(file.path, context))
    .catch(namePath(file.path, context))
  try {
    patched(await opened.read(0, opened.size), file, shown)
  } finally {
    opened.close()
  }
}

async function apply(file: FilePatch, context: ToolContext): Promise<string> {
  const { files } = context
  const shown = shownIn(file.path, context)
  if (file.kind === 'delete') {
    await files
      .remove(file.path)
      .catch(explainMissing(file.path, context))
      .catch(namePath(file.path, context))
    return `Deleted ${shown}`
  }
  if (file.kind === 'add') {
    const content = Buffer.from(file.content)
    const create = (before: Uint8Array | null): Uint8Array => {
      if (before !== null) throw new ToolError('conflict', `${shown} exists already.`)
      return content
    }
    await files.update(file.path, create, { createDirectories: true }).catch(namePath(file.path, context))
    return `Created ${shown}`
  }
  if (file.chunks.length > 0) {
    const change = (before: Uint8Array | null): Uint8Array => {
      if (before === null) throw new ToolError('not_found', `No such file: ${shown}`)
      return patched(before, file, shown)
    }
    await files.update(file.path, change).catch(namePath(file.path, context))
  }
  if (file.moveTo === undefined) return `Changed ${shown}`
  await files.move(file.path, file.moveTo).catch(namePath(file.path, context))
  return `Changed ${shown} and moved it to ${shownIn(file.moveTo, context)}`
}

/** Somebody else changed a file between the check and the write. */
function halfWay(error: unknown, done: readonly string[]): unknown {
  if (!(error instanceof ToolError)) return error
  return new ToolError(error.code, `${error.message} Done before that: ${done.join('; ')}.`, {
    hint: 'Undo the call, or write a patch for the rest.',
    cause: error,
  })
}
