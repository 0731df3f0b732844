import * as z from 'zod'
import { counted } from '../core/counted.ts'
import { ToolError } from '../core/errors.ts'
import type { OpenFile } from '../core/files.ts'
import type { LineRange } from '../core/run.ts'
import { defineTool, type ToolContext, type ToolOutput } from '../core/tool.ts'
import type { ReadPdf } from '../sandbox/pdf/read-pdf.ts'
import { toolPath } from './file-path.ts'
import { explainMissing } from './missing-file.ts'
import { namePath } from './path-failure.ts'
import { labelOf, resultPath, shownPath } from './result-path.ts'
import { recordView, rememberContent } from './seen-files.ts'
import { describeBinary, showBytes, showImage } from './show-binary.ts'
import { decodePiece } from './text/codec.ts'
import { describeEncoding, detectFormat, type TextFormat } from './text/format.ts'
import { looksLikeImage } from './text/image.ts'
import { indentStyle } from './text/indent-style.ts'
import {
  type Blocks,
  blocksOf,
  readWindow,
  type Scan,
  scanFile,
  startOfLine,
  tailPosition,
  type Window,
} from './text/line-reader.ts'

const LIMITS = { lines: 2000, bytes: 50 * 1024, lineCharacters: 2000 }
/** Above this, the whole file is not read: no number of lines, no hash, no receipt. */
const SCANNED = 64 * 1024 * 1024

const input = () =>
  z.object({
    path: z.string().min(1).describe('File to read: absolute, or relative to the working folder.'),
    offset: z
      .int()
      .default(0)
      .describe(
        'First line to show, counted from 0. Negative: counted from the end; -20 shows the last 20 lines.',
      ),
    limit: z.int().min(1).default(LIMITS.lines).describe('Maximum number of lines to show, up to 2000.'),
    hex: z
      .boolean()
      .default(false)
      .describe('Show bytes instead of text; offset and limit then count rows of 16 bytes.'),
    pages: z.string().optional().describe('For a PDF: a page or a range, such as "3" or "2-5".'),
    raw: z.boolean().default(false).describe('Show a notebook as raw JSON, for editing.'),
  })

type Input = z.output<ReturnType<typeof input>>

/** Without a reader of PDF documents, those are binary files. */
export const readFileTool = (readPdf?: ReadPdf) =>
  defineTool({
    name: 'read_file',
    aliases: ['Read', 'read'],
    parameterAliases: {
      file_path: 'path',
      filename: 'path',
      file: 'path',
      filePath: 'path',
      max_lines: 'limit',
    },
    // Claude Code counts lines from 1.
    inputAs: {
      Read: input => {
        const offset = Number(input.offset)
        return input.hex !== true && offset > 0 ? { ...input, offset: offset - 1 } : { ...input }
      },
    },
    title: 'Read file',
    description:
      'Read a text file (any encoding), an image, a PDF document or a notebook. Lines come with line numbers from 1, like cat -n; the number and the tab are not part of the file. ' +
      'Shows at most 2000 lines or 50 KB, and says which offset continues. Use offset -N for the end of a file, grep_search to find something in a large one, list_directory for folders.',
    category: 'ReadOnly',
    risk: 'low',
    parallel: true,
    input,
    access: ({ path }, { cwd }) => [{ kind: 'file_read', path: toolPath(path, cwd) }],
    async run(wanted, context) {
      const file = await openFile(wanted.path, context)
      try {
        return { ...(await show(file, wanted, context, readPdf)), ...labelOf(file.path, context) }
      } finally {
        file.close()
      }
    },
  })

export const readFile = readFileTool()

async function openFile(path: string, context: ToolContext): Promise<OpenFile> {
  try {
    return await context.files.open(path).catch(explainMissing(path, context)).catch(namePath(path, context))
  } catch (error) {
    const isFolder = await context.files.list(path).then(
      () => true,
      () => false,
    )
    if (!isFolder) throw error
    const shown = shownPath(resultPath(context.files.resolve(path), context))
    throw new ToolError('invalid_input', `${shown} is a folder`, {
      hint: 'Use list_directory to see what is in it, or glob_search to find files below it.',
    })
  }
}

async function show(
  file: OpenFile,
  wanted: Input,
  context: ToolContext,
  readPdf: ReadPdf | undefined,
): Promise<ToolOutput> {
  const blocks = blocksOf(file, context.signal)
  const head = await blocks.at(0)
  if (wanted.hex) return showBytes(file, wanted.offset, wanted.limit)
  if (looksLikeImage(head)) {
    const image = await showImage(file)
    if (image !== undefined) return image
  }
  if (readPdf !== undefined && startOf(head, 1024).includes('%PDF-')) {
    const { showPdf } = await import('./show-pdf.ts')
    return showPdf(file, wanted.pages, readPdf, context.signal)
  }
  if (file.path.endsWith('.ipynb') && !wanted.raw && wanted.offset >= 0) {
    const notebook = await (await import('./show-notebook.ts')).showNotebook(file, wanted.offset)
    if (notebook !== undefined) return notebook
  }
  const format = detectFormat(head)
  if (format === null) return describeBinary(file, head)
  const scan = file.size <= SCANNED ? await scanFile(blocks, format) : null
  const source = { file, blocks, format: await formatOfAll(blocks, format, scan), scan }
  const lines = await readLines(source, wanted, context.signal)
  if (scan !== null) {
    recordView(file.path, scan, shownRanges(lines), context)
    rememberContent(context.run, file.path, file.size === head.length ? head : null)
  }
  return toOutput(source, head, lines)
}

function startOf({ buffer, byteOffset, length }: Uint8Array, most: number): Buffer {
  return Buffer.from(buffer, byteOffset, Math.min(length, most))
}

/** The lines that were shown to their end. */
function shownRanges({ first, lines, cut, reachedEnd }: Lines): LineRange[] {
  const ranges: LineRange[] = []
  let start = first
  for (const index of cut) {
    ranges.push([start, first + index])
    start = first + index + 1
  }
  const isLastCut = cut.at(-1) === lines.length - 1
  ranges.push([start, reachedEnd && !isLastCut ? Number.MAX_SAFE_INTEGER : first + lines.length])
  return ranges.filter(([from, end]) => from < end)
}

/** A file may begin with pages of ASCII before its first letter says which encoding it is in. */
async function formatOfAll(blocks: Blocks, format: TextFormat, scan: Scan | null): Promise<TextFormat> {
  const foreign = scan?.foreignBlock ?? 0
  if (foreign === 0 || format.encoding !== 'utf-8' || format.bomLength > 0) return format
  const later = detectFormat(await blocks.at(foreign))
  return later === null || later.encoding.startsWith('utf-16') ? format : later
}

interface Source {
  readonly file: OpenFile
  readonly blocks: Blocks
  readonly format: TextFormat
  readonly scan: Scan | null
}

/** Lines with the number of the first: counted from 0, or negative when only the end is known. */
interface Lines extends Window {
  readonly first: number
}

async function readLines(
  { file, blocks, format, scan }: Source,
  { offset, limit }: Input,
  signal: AbortSignal,
): Promise<Lines> {
  const limits = { ...LIMITS, lines: Math.min(limit, LIMITS.lines) }
  if (scan === null && offset < 0) {
    const tail = await tailPosition(file, format, -offset, signal)
    const start = { position: tail.position, skip: 0, carriageReturns: false }
    return { ...(await readWindow(blocks, format, start, limits)), first: -tail.lines }
  }
  const first = offset < 0 ? Math.max(0, (scan?.totalLines ?? 0) + offset) : offset
  const window = await readWindow(blocks, format, startOfLine(scan, format, first), limits)
  if (first > 0 && window.lines.length === 0) {
    const total = scan === null ? 'fewer lines than that' : counted(scan.totalLines, 'line')
    // The number of the line, because callers count offsets from 0 or from 1.
    throw new ToolError(
      'invalid_input',
      `Line ${first + 1} is past the end of the file, which has ${total}.`,
      { hint: 'A negative offset counts from the end: -20 shows the last 20 lines.' },
    )
  }
  return { ...window, first }
}

function toOutput({ file, format, scan }: Source, head: Uint8Array, lines: Lines): ToolOutput {
  const count = lines.lines.length
  const next = lines.first + count
  const truncated = !lines.reachedEnd
  const nextOffset = truncated && !lines.lost ? next : null
  const sample = decodePiece(head.subarray(format.bomLength), format.encoding)
  const numbered = lines.lines.map((line, index) => marginOf(lines.first + index) + line)
  const notes = [
    positionNote(lines, scan, nextOffset),
    cutNote(lines, scan),
    lines.lost ? 'The last line is too long to find its end.' : '',
    formatNote(format, scan),
  ].filter(note => note !== '')
  const body = count === 0 ? '(empty file)' : numbered.join('\n')
  return {
    text: notes.length === 0 ? body : `${body}\n\n[${notes.join(' ')}]`,
    data: {
      path: file.path,
      kind: 'text',
      encoding: format.encoding,
      encoding_certain: format.certain,
      bom: format.bomLength > 0,
      line_end: scan?.lineEnding ?? null,
      indent: indentStyle(sample),
      size: file.size,
      total_lines: scan?.totalLines ?? null,
      sha256: scan?.sha256 ?? null,
      offset: lines.first,
      lines_returned: count,
      lines_cut: lines.cut.length,
      truncated,
      next_offset: nextOffset,
    },
  }
}

/** A file with such a line is never seen wholly, so its hash is named: whoever passes it on knows what was not shown. */
function cutNote({ cut }: Lines, scan: Scan | null): string {
  if (cut.length === 0) return ''
  const rest =
    'A line that is cut goes on: find a part of it with grep_search, or see its bytes with hex: true.'
  return scan === null
    ? rest
    : `${rest} Change it with edit_file; replacing the whole file needs expected_hash: ${scan.sha256}.`
}

function numberOf(line: number): string {
  return String(line < 0 ? line : line + 1).padStart(6)
}

/** Each made once: for a file of a hundred lines, making them took as long as reading it. */
const MARGINS: string[] = []

function marginOf(line: number): string {
  const margin = MARGINS[line] ?? `${numberOf(line)}\t`
  if (line === MARGINS.length && line < LIMITS.lines) MARGINS.push(margin)
  return margin
}

function positionNote(lines: Lines, scan: Scan | null, nextOffset: number | null): string {
  const count = lines.lines.length
  const isWhole = lines.first === 0 && nextOffset === null
  if (count === 0 || isWhole) return ''
  const last = lines.first + count - 1
  const range = `${numberOf(lines.first).trim()} to ${numberOf(last).trim()}`
  const total = scan === null ? (lines.first < 0 ? ', counted from the end' : '') : ` of ${scan.totalLines}`
  const more = nextOffset === null ? '' : ` Continue with offset: ${nextOffset}.`
  return `Lines ${range}${total}.${more}`
}

/** Only what is not usual is worth a line: UTF-8 with line feeds goes without saying. */
function formatNote(format: TextFormat, scan: Scan | null): string {
  const unusual = format.encoding !== 'utf-8' || format.bomLength > 0 || format.damaged
  const ends =
    scan === null
      ? undefined
      : { crlf: 'CRLF', cr: 'CR', mixed: 'mixed', lf: undefined, none: undefined }[scan.lineEnding]
  const parts = [unusual ? describeEncoding(format) : '', ends === undefined ? '' : `${ends} line ends`]
  const said = parts.filter(part => part !== '')
  return said.length === 0 ? '' : `${said.join(', ')}; edit_file and write_file keep this.`
}
