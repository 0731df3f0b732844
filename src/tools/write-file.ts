import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import * as z from 'zod'
import { type Access, OVERWRITE_UNREAD } from '../core/access.ts'
import { counted } from '../core/counted.ts'
import { withoutParts } from '../core/diff-parts.ts'
import type { Effect } from '../core/effects.ts'
import { ToolError } from '../core/errors.ts'
import type { CurrentFile } from '../core/files.ts'
import { type AccessContext, defineTool, type ToolContext, type ToolOutput } from '../core/tool.ts'
import { countLines, summarizeDiff } from '../core/unified-diff.ts'
import { presentBytes, presentFile, presentSize, readOnlyNote, restoreReceipt } from './existing-file.ts'
import { filePath, toolPath } from './file-path.ts'
import { escapedName, sameLooking } from './missing-file.ts'
import { replacingAccess, undoNote } from './not-undoable.ts'
import { namePath } from './path-failure.ts'
import { resultPath, shownPath } from './result-path.ts'
import { type Knowledge, knowledgeOf, rememberContent } from './seen-files.ts'
import { decodeDocument, encodeText } from './text/codec.ts'
import { detectFormat, type TextFormat, UTF8 } from './text/format.ts'
import { keepLineEnds, withUsualLineEnds } from './text/keep-line-ends.ts'
import { findPlaceholders } from './text/placeholders.ts'

const input = () =>
  z.object({
    path: filePath().describe('File to write: absolute, or relative to the working folder.'),
    content: z.string().describe('The whole new content, or with mode append, what to add.'),
    mode: z
      .enum(['create', 'overwrite', 'append'])
      .default('overwrite')
      .describe(
        'create: fails when the file exists. overwrite: creates or replaces it. append: adds at its end.',
      ),
    create_dirs: z.boolean().default(true).describe('Create missing parent folders.'),
    expected_hash: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'must be a sha-256 in hex: 64 digits')
      .toLowerCase()
      .optional()
      .describe('sha-256 that the file must have now; otherwise nothing is written.'),
    allow_shrink: z
      .boolean()
      .default(false)
      .describe(
        'Confirms that most of an existing file may be removed, or that "…" lines are meant literally.',
      ),
  })

type Input = z.output<ReturnType<typeof input>>

export const writeFile = defineTool({
  name: 'write_file',
  aliases: ['Write', 'write', 'file_write', 'create_file'],
  parameterAliases: {
    file_path: 'path',
    filename: 'path',
    file: 'path',
    filePath: 'path',
    text: 'content',
    contents: 'content',
    create_directories: 'create_dirs',
  },
  title: 'Write file',
  description:
    'Create a file, replace it as a whole, or append to it. Read an existing file before replacing it; to change a part of it use edit_file. ' +
    'Write the complete content, never "rest unchanged". An existing file keeps its encoding, byte order mark and, when the content has only \\n, its line ends.',
  category: 'FileSystem',
  risk: 'high',
  input,
  output: {
    path: { type: 'string' },
    mode: { type: 'string' },
    created: { type: 'boolean' },
    bytes_written: { type: 'integer' },
  },
  access({ path, mode, expected_hash }, context) {
    const absolute = toolPath(path, context.cwd)
    const present = presentFile(path, context)
    const replaces = mode === 'overwrite' && present !== undefined
    const declared: Access[] = [
      { kind: 'file_write', path: absolute },
      ...(present?.access ?? []),
      ...(replaces ? replacingAccess(absolute, present.size, context) : []),
    ]
    if (!replaces || expected_hash !== undefined) return declared
    const withUnread = (isUnseen: boolean): Access[] =>
      isUnseen ? [...declared, { kind: 'custom', name: OVERWRITE_UNREAD, details: absolute }] : declared
    return typeof present.isUnseen === 'boolean'
      ? withUnread(present.isUnseen)
      : present.isUnseen.then(withUnread)
  },
  preview(wanted, context) {
    const { text, isText } = presentText(wanted.path, context)
    const old = isText || wanted.mode === 'append' ? text : null
    return summarizeDiff(text, newText(wanted, old), wanted.path).diff ?? undefined
  },
  leaveOut(wanted, parts, context) {
    if (wanted.mode === 'append') return undefined
    const before = new TextDecoder().decode(presentBytes(wanted.path, context))
    const after = newText(wanted, before)
    const content = withoutParts(after, summarizeDiff(before, after, wanted.path).diff ?? '', parts)
    // Of other encodings, and of bytes that are no text, not every part can be written back.
    if (content === undefined || content === before || before.includes('\uFFFD')) return undefined
    const rest = { ...wanted, content }
    return newText(rest, before) === content ? rest : undefined
  },
  async run(wanted, context) {
    if (wanted.mode === 'append') refuseLargeAppend(wanted.path, context)
    if (wanted.mode !== 'create') await refuseTwin(wanted.path, context)
    const { receipts } = context.files
    let written: Written | undefined
    let receipt: string | undefined
    const effect = await context.files
      .update(
        wanted.path,
        (before, current) => {
          receipt = receipts.get(current.path)
          written = prepare(wanted, before, current, context)
          return written.bytes
        },
        { createDirectories: wanted.create_dirs },
      )
      .catch(namePath(wanted.path, context))
    if (written === undefined) throw new Error('The file was written without being asked for.')
    if (written.isSeen) rememberContent(context.run, effect.path, written.bytes)
    else restoreReceipt(receipts, effect.path, receipt)
    return toOutput(wanted, written, effect, context)
  },
})

/** In its own encoding, which a write keeps. What is no text shows as such. */
function presentText(path: string, context: AccessContext): { text: string; isText: boolean } {
  const bytes = presentBytes(path, context)
  const format = bytes === undefined ? null : detectFormat(bytes)
  const decoded = bytes === undefined || format === null ? null : decodeDocument(bytes, format)
  return { text: decoded?.text ?? new TextDecoder().decode(bytes), isText: decoded !== null }
}

/** What the file holds afterwards: with the line ends that it has. `old` is null where there is no text. */
function newText({ content, mode }: Input, old: string | null): string {
  const given = content.replace(/^\uFEFF/, '')
  if (mode === 'append') return old === null ? given : old + withUsualLineEnds(given, old)
  return old === null ? given : keepLineEnds(given, old)
}

/** A write replaces the file as a whole so that it is atomic and can be undone, so all of it has to be read. */
const MOST_APPENDED_TO = 64 * 1024 * 1024

function refuseLargeAppend(path: string, context: ToolContext): void {
  if (presentSize(path, context) <= MOST_APPENDED_TO) return
  const shown = shownPath(resultPath(context.files.resolve(path), context))
  throw new ToolError('failed', `${shown} is larger than 64 MB, which is too large to append to.`, {
    hint: "Append with run_command: printf '%s\\n' 'text' >> file. Or write to a new file.",
  })
}

/** A second file that nobody can tell from the first is hardly ever wanted. */
async function refuseTwin(path: string, { files }: ToolContext): Promise<void> {
  const absolute = files.resolve(path)
  const name = basename(absolute)
  // Nearly all names are ASCII, and cannot have a twin.
  if (!/[^\x20-\x7e]/.test(name) || existsSync(absolute)) return
  const entries = await files.list(dirname(absolute)).catch(() => [])
  const twin = sameLooking(
    name,
    entries.map(entry => entry.name),
  )
  if (twin === undefined) return
  throw new ToolError(
    'conflict',
    `There is a file whose name looks the same as ${shownPath(name)} and is made of other characters.`,
    {
      hint: `In JSON its name is written ${escapedName(twin)}. For a second file pass mode: create.`,
    },
  )
}

interface Written {
  readonly bytes: Uint8Array
  /** How many of the bytes are new. */
  readonly added: number
  readonly format: TextFormat
  readonly before: string | null
  readonly after: string
  readonly created: boolean
  /** Whether this run knows all of the file as it is after the write. */
  readonly isSeen: boolean
}

function prepare(
  wanted: Input,
  before: Uint8Array | null,
  current: CurrentFile,
  context: ToolContext,
): Written {
  const shown = shownPath(resultPath(current.path, context))
  requireExpected(wanted, before, current, shown, context)
  const detected = before === null || before.length === 0 ? UTF8 : detectFormat(before)
  const format = detected ?? UTF8
  const old = before === null || detected === null ? null : (decodeDocument(before, format)?.text ?? null)
  const after = newText(wanted, old)
  if (wanted.mode === 'append' && before !== null) {
    const encoded = encode(after.slice(old?.length ?? 0), format, shown)
    return {
      bytes: Buffer.concat([before, encoded]),
      added: encoded.length,
      format,
      before: old,
      after,
      created: false,
      isSeen: context.files.receipts.get(current.path) === current.sha256,
    }
  }
  const encoded = encode(after, format, shown)
  if (old !== null && !wanted.allow_shrink)
    guard(after, old, shown, () => context.permit.mayRead(current.path))
  const hasMark = format.bomLength > 0 || wanted.content.startsWith('\uFEFF')
  const mark = hasMark ? encodeText('\uFEFF', format.encoding) : null
  const bytes = mark === null ? encoded : Buffer.concat([mark, encoded])
  return { bytes, added: bytes.length, format, before: old, after, created: before === null, isSeen: true }
}

function requireExpected(
  { mode, expected_hash }: Input,
  before: Uint8Array | null,
  current: CurrentFile,
  shown: string,
  context: ToolContext,
): void {
  if (expected_hash !== undefined) requireHash(expected_hash, current, shown, context)
  if (before === null) return
  if (mode === 'create') {
    throw new ToolError('conflict', `File already exists: ${shown}. Use 'overwrite' mode to replace.`)
  }
  const isSafe = mode === 'append' || before.length === 0 || expected_hash !== undefined
  const receipt = context.files.receipts.get(current.path)
  if (isSafe || receipt === current.sha256 || isConfirmed(current.path, context)) return
  const knowledge = knowledgeOf(current.path, current.sha256, context)
  throw new ToolError(
    'conflict',
    `${shown} exists and ${UNSEEN[knowledge]}; overwriting could destroy work that nobody looked at.`,
    {
      hint: `Read ${knowledge === 'partial' ? 'all of it' : 'it'} with read_file first, or pass expected_hash; edit_file changes a part of it.`,
    },
  )
}

/** Never says which hash the file has: that would pass as having read it, and a short secret can be guessed from it. */
function requireHash(
  expected: string,
  { path, sha256 }: CurrentFile,
  shown: string,
  context: ToolContext,
): void {
  if (sha256 === null) {
    throw new ToolError('conflict', `${shown} does not match expected_hash: the file does not exist.`, {
      hint: 'Leave expected_hash out to create it.',
    })
  }
  // Else one guess after the other could be tried.
  if (context.files.receipts.get(path) !== expected && !context.permit.mayRead(path)) {
    throw new ToolError(
      'conflict',
      `expected_hash cannot be checked for ${shown}: this call may not read the file.`,
      {
        hint: 'Leave expected_hash out; the write then needs approval.',
      },
    )
  }
  if (expected === sha256) return
  throw new ToolError('conflict', `${shown} does not match expected_hash: its content is different.`, {
    hint: 'Read the file again before writing it.',
  })
}

const UNSEEN: Readonly<Record<Knowledge, string>> = {
  none: 'was not read in this run',
  partial: 'was read in this run only in part',
  stale: 'was changed since it was read',
  current: 'was read',
}

function isConfirmed(real: string, { permit }: ToolContext): boolean {
  return permit.access.some(
    access =>
      access.kind === 'custom' && access.name === OVERWRITE_UNREAD && permit.judged(access.details) === real,
  )
}

function encode(content: string, format: TextFormat, shown: string): Uint8Array {
  // Of a guessed encoding only what every one of them shares is written.
  const isKnown = format.certain || !/[^\0-\x7f]/.test(content)
  const bytes = isKnown ? encodeText(content, format.encoding) : null
  if (bytes !== null) return bytes
  const reason = format.certain ? 'cannot hold all characters of the content' : 'is only a guess'
  throw new ToolError(
    'conflict',
    `${shown} is in ${format.encoding}, which ${reason}; no file is rewritten in another encoding.`,
    {
      hint: 'Use characters of that encoding, or delete the file first and write it again as UTF-8.',
    },
  )
}

/** Stops the two ways in which a whole-file write loses work: too little text, and a stand-in for text. */
function guard(content: string, old: string, shown: string, mayTell: () => boolean): void {
  const [newLines, oldLines] = [countLines(content), countLines(old)]
  const placeholders = findPlaceholders(content, old, newLines < oldLines)
  const [first] = placeholders
  if (first !== undefined) {
    throw new ToolError(
      'conflict',
      `Line ${first.line} of the content stands in for text that is not there ("${first.text.slice(0, 80)}"); writing it would remove that text from ${shown}.`,
      {
        hint: 'Write the whole content or use edit_file. If the line is meant literally, pass allow_shrink: true.',
      },
    )
  }
  if (oldLines > 40 && newLines * 2 < oldLines) {
    throw new ToolError(
      'conflict',
      mayTell()
        ? `${shown} would shrink from ${oldLines} to ${counted(newLines, 'line')}.`
        : `${shown} would lose more than half of its lines.`,
      {
        hint: 'Use edit_file to change a part of it. If this is intended, pass allow_shrink: true.',
      },
    )
  }
}

function toOutput(wanted: Input, written: Written, effect: Effect, context: ToolContext): ToolOutput {
  const shown = shownPath(resultPath(effect.path, context))
  const verb = written.created ? 'Created' : wanted.mode === 'append' ? 'Appended to' : 'Overwrote'
  const done = { path: effect.path, mode: wanted.mode, success: true, created: written.created }
  // What the file held, how much, and even which line ends it had, is told only to who may read it.
  if (!written.created && !context.permit.mayRead(effect.path)) {
    const given = Buffer.byteLength(wanted.content)
    return {
      text: `${verb} ${shown} (${counted(given, 'byte')} given)${undoNote([effect])}`,
      data: { ...done, bytes_written: given },
    }
  }
  const lines = countLines(written.after)
  const summary = written.before === null ? undefined : summarizeDiff(written.before, written.after, shown)
  const change = summary === undefined ? '' : `, +${summary.added} -${summary.removed} lines`
  const [placeholder] = written.created ? findPlaceholders(written.after, '', false) : []
  const notes = [
    placeholder === undefined ? '' : `Line ${placeholder.line} looks like a placeholder: ${placeholder.text}`,
    wanted.mode === 'append' && gluesLines(written.before ?? '', wanted.content) ? GLUED : '',
    readOnlyNote(effect),
  ].filter(note => note !== '')
  return {
    text: `${verb} ${shown} (${counted(written.bytes.length, 'byte')}, ${counted(lines, 'line')}${change})${undoNote([effect])}${notes.map(note => `\n${note}`).join('')}`,
    data: {
      ...done,
      bytes_written: written.added,
      size: written.bytes.length,
      lines,
      encoding: written.format.encoding,
      sha256: effect.after?.sha256 ?? null,
      ...(summary === undefined ? {} : summary),
    },
  }
}

const GLUED = 'The file did not end with a line break, so the new text goes on in its last line.'

function gluesLines(before: string, added: string): boolean {
  return before !== '' && added !== '' && !/[\r\n]$/.test(before) && !/^[\r\n]/.test(added)
}
