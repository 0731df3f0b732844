import { createHash } from 'node:crypto'
import { ToolError } from '../core/errors.ts'
import type { OpenFile } from '../core/files.ts'
import type { ToolOutput } from '../core/tool.ts'
import { parseImage } from './text/image.ts'

/** What model providers take. */
const IMAGE_BYTES = 5 * 1024 * 1024
const IMAGE_SIDE = 8000
const ROW = 16
const MOST_ROWS = 256

/** The image, a description of one that is too large to show, or undefined when it only pretends to be one. */
export async function showImage(file: OpenFile): Promise<ToolOutput | undefined> {
  if (file.size > 8 * IMAGE_BYTES) return undefined
  const bytes = await file.read(0, file.size)
  const image = parseImage(bytes)
  if (image === null) return undefined
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const kind = image.mimeType.slice('image/'.length).toUpperCase()
  const text = `${kind} image, ${image.width} × ${image.height} pixels, ${file.size.toLocaleString('en')} bytes.`
  const data = {
    path: file.path,
    kind: 'image',
    mime_type: image.mimeType,
    width: image.width,
    height: image.height,
    size: file.size,
    sha256,
  }
  const tooLarge = file.size > IMAGE_BYTES || image.width > IMAGE_SIDE || image.height > IMAGE_SIDE
  if (tooLarge)
    return { text: `${text} It is too large to be shown (5 MB, ${IMAGE_SIDE} pixels a side).`, data }
  return { text, data, images: [{ mimeType: image.mimeType, base64: Buffer.from(bytes).toString('base64') }] }
}

/** A result, not an error: the file is there, and this is all there is to say about it. */
export function describeBinary(file: OpenFile, head: Uint8Array): ToolOutput {
  const kind = MAGIC.find(([magic]) =>
    Buffer.from(head.subarray(0, 16)).toString('latin1').startsWith(magic),
  )?.[1]
  return {
    text: `(binary file: ${kind ?? 'unknown type'}, ${file.size.toLocaleString('en')} bytes; pass hex: true to see its bytes)`,
    data: { path: file.path, kind: 'binary', type: kind ?? null, size: file.size },
  }
}

const MAGIC: readonly (readonly [string, string])[] = [
  ['%PDF-', 'PDF document'],
  ['PK\x03\x04', 'ZIP archive or office document'],
  ['\x1f\x8b', 'gzip data'],
  ['\x7fELF', 'ELF program'],
  ['MZ', 'Windows program'],
  ['\x89PNG', 'damaged PNG image'],
  ['\xff\xd8\xff', 'damaged JPEG image'],
  ['GIF8', 'damaged GIF image'],
  ['RIFF', 'RIFF media'],
  ['SQLite format 3', 'SQLite database'],
  ['\0asm', 'WebAssembly module'],
  ['\xff\xfe\0\0', 'UTF-32 text'],
  ['\0\0\xfe\xff', 'UTF-32 text'],
]

/** Rows like those of `hexdump -C`. */
export async function showBytes(file: OpenFile, offset: number, limit: number): Promise<ToolOutput> {
  const total = Math.ceil(file.size / ROW)
  const first = offset < 0 ? Math.max(0, total + offset) : offset
  const rows = Math.min(limit, MOST_ROWS)
  if (first > 0 && first >= total) {
    throw new ToolError(
      'invalid_input',
      `offset ${offset} is past the end of the file, which has ${total} rows of 16 bytes.`,
    )
  }
  const bytes = await file.read(first * ROW, rows * ROW)
  const shown: string[] = []
  for (let at = 0; at < bytes.length; at += ROW)
    shown.push(hexRow(first * ROW + at, bytes.subarray(at, at + ROW)))
  const next = first + shown.length
  const truncated = next < total
  const note = truncated
    ? `\n\n[Rows ${first} to ${next - 1} of ${total}. Continue with offset: ${next}.]`
    : ''
  return {
    text: file.size === 0 ? '(empty file)' : shown.join('\n') + note,
    data: {
      path: file.path,
      kind: 'bytes',
      size: file.size,
      offset: first,
      rows: shown.length,
      truncated,
      next_offset: truncated ? next : null,
    },
  }
}

function hexRow(position: number, bytes: Uint8Array): string {
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0'))
  const characters = Array.from(bytes, byte =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
  )
  const columns = `${hex.slice(0, 8).join(' ').padEnd(23)}  ${hex.slice(8).join(' ').padEnd(23)}`
  return `${position.toString(16).padStart(8, '0')}  ${columns}  |${characters.join('')}|`
}
