import { ToolError } from '../../core/errors.ts'

// The patch format that Codex's models write: `*** Begin Patch`, sections for files, `*** End Patch`.

export type FilePatch =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update'
      readonly path: string
      readonly moveTo?: string
      readonly chunks: readonly Chunk[]
    }

/** Lines that are replaced by others. */
export interface Chunk {
  /** A line somewhere above, from `@@ line`; the place is looked for behind it. */
  readonly anchors: readonly string[]
  readonly old: readonly string[]
  readonly next: readonly string[]
  /** The old lines are the last ones of the file. */
  readonly atEnd: boolean
}

const SECTION = /^\*\*\* (Add|Delete|Update) File: (.+)$/

/** Throws `invalid_input` with the number of the line that does not belong. */
export function parsePatch(text: string): FilePatch[] {
  const lines = unwrap(text)
  const files: FilePatch[] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const [, verb, path] = SECTION.exec(line.trimEnd()) ?? []
    if (verb === undefined || path === undefined) {
      if (line.trim() === '') {
        at += 1
        continue
      }
      throw problem(
        at,
        `expected "*** Add File: ", "*** Update File: " or "*** Delete File: ", got "${line}"`,
      )
    }
    const body = bodyAt(lines, at + 1)
    files.push(toFilePatch(verb, path.trim(), body, at + 1))
    at += 1 + body.length
  }
  if (files.length === 0) throw new ToolError('invalid_input', 'The patch changes no file.')
  return files
}

/** Models wrap patches into here-documents and code fences; what is between the two markers is the patch. */
function unwrap(text: string): string[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const first = lines.findIndex(line => line.trim() === '*** Begin Patch')
  const last = lines.findLastIndex(line => line.trim() === '*** End Patch')
  if (first === -1 || last < first) {
    throw new ToolError(
      'invalid_input',
      'A patch begins with "*** Begin Patch" and ends with "*** End Patch".',
    )
  }
  return lines.slice(first + 1, last)
}

function bodyAt(lines: readonly string[], from: number): readonly string[] {
  const end = lines.findIndex((line, index) => index >= from && SECTION.test(line.trimEnd()))
  return lines.slice(from, end === -1 ? lines.length : end)
}

function toFilePatch(verb: string, path: string, body: readonly string[], from: number): FilePatch {
  if (verb === 'Delete') {
    const extra = body.findIndex(line => line.trim() !== '')
    if (extra !== -1) throw problem(from + extra, 'nothing follows "*** Delete File: "')
    return { kind: 'delete', path }
  }
  if (verb === 'Add') return { kind: 'add', path, content: addedContent(body, from) }
  const [, moveTo] = /^\*\*\* Move to: (.+)$/.exec(body[0]?.trimEnd() ?? '') ?? []
  const rest = moveTo === undefined ? body : body.slice(1)
  const chunks = toChunks(rest, from + body.length - rest.length)
  if (chunks.length === 0 && moveTo === undefined) throw problem(from, `no change is given for ${path}`)
  return { kind: 'update', path, chunks, ...(moveTo === undefined ? {} : { moveTo: moveTo.trim() }) }
}

function addedContent(body: readonly string[], from: number): string {
  const lines = body.at(-1) === '' ? body.slice(0, -1) : body
  return lines
    .map((line, index) => {
      if (!line.startsWith('+'))
        throw problem(from + index, `lines of a new file begin with "+", got "${line}"`)
      return `${line.slice(1)}\n`
    })
    .join('')
}

interface Draft {
  anchors: string[]
  old: string[]
  next: string[]
  atEnd: boolean
}

function toChunks(body: readonly string[], from: number): Chunk[] {
  const chunks: Draft[] = []
  let current: Draft | undefined
  for (const [index, line] of body.entries()) {
    const hasLines = current !== undefined && current.old.length + current.next.length > 0
    if (line.startsWith('@@')) {
      if (current === undefined || hasLines) {
        current = { anchors: [], old: [], next: [], atEnd: false }
        chunks.push(current)
      }
      const anchor = line.slice(2).trim()
      if (anchor !== '') current.anchors.push(anchor)
      continue
    }
    if (line.trimEnd() === '*** End of File') {
      if (current !== undefined) current.atEnd = true
      continue
    }
    // The empty line before the next section.
    if (line === '' && index === body.length - 1) continue
    if (current === undefined) {
      current = { anchors: [], old: [], next: [], atEnd: false }
      chunks.push(current)
    }
    addLine(current, line, from + index)
  }
  return chunks.filter(({ old, next }) => old.length + next.length > 0)
}

function addLine(chunk: Draft, line: string, at: number): void {
  const text = line.slice(1)
  // An empty line of context often loses its space.
  if (line === '' || line.startsWith(' ')) {
    chunk.old.push(text)
    chunk.next.push(text)
  } else if (line.startsWith('-')) chunk.old.push(text)
  else if (line.startsWith('+')) chunk.next.push(text)
  else throw problem(at, `lines of a change begin with " ", "-" or "+", got "${line}"`)
}

function problem(line: number, message: string): ToolError {
  // The first line is the marker.
  return new ToolError('invalid_input', `Line ${line + 2} of the patch: ${message.slice(0, 200)}.`)
}
