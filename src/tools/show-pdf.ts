import { ToolError } from '../core/errors.ts'
import { withoutInvisible } from '../core/fence.ts'
import type { OpenFile } from '../core/files.ts'
import type { ToolOutput } from '../core/tool.ts'
import type { ReadPdf } from '../sandbox/pdf/read-pdf.ts'

const MOST_BYTES = 50 * 1024 * 1024
const MOST_PAGES = 20
const MOST_CHARACTERS = 50 * 1024

/** Text of the pages that are wanted, `3` or `2-5`; the first twenty unless said. */
export async function showPdf(
  file: OpenFile,
  wanted: string | undefined,
  readPdf: ReadPdf,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (file.size > MOST_BYTES) throw new ToolError('failed', 'The PDF is larger than 50 MB.')
  const range = parsePages(wanted)
  const { total, pages } = await readPdf(await file.read(0, file.size), range, signal)
  if (pages.length === 0) throw new ToolError('invalid_input', `The document has ${total} pages.`)
  const shown: (typeof pages)[number][] = []
  let length = 0
  for (const page of pages) {
    if (shown.length > 0 && length + page.text.length > MOST_CHARACTERS) break
    const text = withoutInvisible(page.text).text.slice(0, MOST_CHARACTERS).toWellFormed()
    shown.push({ page: page.page, text })
    length += text.length
  }
  const last = shown.at(-1)?.page ?? 0
  const note =
    last < total
      ? `\n\n[Pages ${range.first} to ${last} of ${total}. Continue with pages: "${last + 1}-${Math.min(total, last + MOST_PAGES)}".]`
      : ''
  return {
    text: `${shown.map(({ page, text }) => `[Page ${page}]\n${text.trim()}`).join('\n\n')}${note}`,
    data: { path: file.path, kind: 'pdf', size: file.size, total_pages: total, pages: shown },
  }
}

function parsePages(wanted = `1-${MOST_PAGES}`): { first: number; last: number } {
  const found = /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/.exec(wanted)
  const first = Number(found?.[1] ?? 0)
  const last = Number(found?.[2] ?? first)
  if (first < 1 || last < first) {
    throw new ToolError(
      'invalid_input',
      `pages '${wanted}' is not a page or a range of pages, such as "3" or "2-5".`,
    )
  }
  return { first, last: Math.min(last, first + MOST_PAGES - 1) }
}
