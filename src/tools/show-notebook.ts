import * as z from 'zod'
import type { OpenFile } from '../core/files.ts'
import type { ToolOutput } from '../core/tool.ts'

const MOST_BYTES = 20 * 1024 * 1024
const MOST_CHARACTERS = 50 * 1024
const MOST_OF_OUTPUT = 2000

const lines = z.union([z.string(), z.array(z.string()).transform(all => all.join(''))]).catch('')
const OUTPUT = z.object({
  output_type: z.string(),
  text: lines.optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
})
const NOTEBOOK = z.object({
  nbformat: z.number(),
  cells: z.array(
    z.object({
      cell_type: z.string(),
      source: lines,
      execution_count: z.number().nullish(),
      outputs: z.array(OUTPUT).optional(),
    }),
  ),
})

/** Cell by cell, with what each printed; undefined when the file only has the name of a notebook. */
export async function showNotebook(file: OpenFile, firstCell: number): Promise<ToolOutput | undefined> {
  if (file.size > MOST_BYTES) return undefined
  const notebook = parse(Buffer.from(await file.read(0, file.size)).toString())
  if (notebook === undefined) return undefined
  const { cells } = notebook
  const shown: string[] = []
  let length = 0
  for (const [index, cell] of cells.entries()) {
    if (index < firstCell) continue
    const text = [
      `[Cell ${index + 1}: ${cell.cell_type}]`,
      cell.source,
      ...(cell.outputs ?? []).map(showOutput),
    ]
      .filter(Boolean)
      .join('\n')
    if (shown.length > 0 && length + text.length > MOST_CHARACTERS) break
    shown.push(text.slice(0, MOST_CHARACTERS).toWellFormed())
    length += text.length
  }
  const next = firstCell + shown.length
  const note =
    next < cells.length
      ? `\n\n[Cells ${firstCell + 1} to ${next} of ${cells.length}. Continue with offset: ${next}.]`
      : ''
  return {
    text: (shown.join('\n\n') || '(empty notebook)') + note,
    data: {
      path: file.path,
      kind: 'notebook',
      size: file.size,
      total_cells: cells.length,
      offset: firstCell,
      cells_returned: shown.length,
      next_offset: next < cells.length ? next : null,
    },
  }
}

function parse(text: string): z.output<typeof NOTEBOOK> | undefined {
  try {
    const parsed = NOTEBOOK.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    // Not JSON: shown as the text that it is.
    return undefined
  }
}

function showOutput({ text, ename, evalue, data }: z.output<typeof OUTPUT>): string {
  const plain = lines.parse(data?.['text/plain'] ?? '')
  const images = Object.keys(data ?? {}).filter(type => type.startsWith('image/'))
  const words = [
    text ?? '',
    ename === undefined ? '' : `${ename}: ${evalue ?? ''}`,
    plain,
    ...images.map(type => `(${type})`),
  ]
  const all = words.filter(Boolean).join('\n').trimEnd()
  if (all === '') return ''
  return `[Output]\n${all.length > MOST_OF_OUTPUT ? `${all.slice(0, MOST_OF_OUTPUT).toWellFormed()}…` : all}`
}
