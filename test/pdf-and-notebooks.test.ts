import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

let box: TestRuntime
beforeAll(async () => {
  box = await openTestRuntime()
})
afterAll(() => box.close())

const read = (input: Record<string, unknown>) => box.runtime.call({ tool: 'read_file', input })

/** A document of plain pages, written by hand. */
function pdf(pages: readonly string[]): string {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, index) => {
      const stream = `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ]
    }),
  ]
  let body = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = body.length
    body += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  return `${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`
}

describe('PDF documents', () => {
  test('are read page by page', async () => {
    box.write('a.pdf', pdf(['First page', 'Second page', 'Third page']))
    const all = await read({ path: 'a.pdf' })
    expect(all.text, all.error?.message).toBe(
      '[Page 1]\nFirst page\n\n[Page 2]\nSecond page\n\n[Page 3]\nThird page',
    )
    expect(all.data).toMatchObject({ kind: 'pdf', total_pages: 3 })
    const some = await read({ path: 'a.pdf', pages: '2' })
    expect(some.text).toContain('Second page')
    expect(some.text).not.toContain('First')
    expect(some.text).toContain('Continue with pages: "3-3"')
    expect((await read({ path: 'a.pdf', pages: '9' })).error?.message).toContain('3 pages')
    expect((await read({ path: 'a.pdf', pages: '--version' })).error?.code).toBe('invalid_input')
  })

  test('that are damaged or hostile are an error', async () => {
    box.write('broken.pdf', '%PDF-1.4\nnothing')
    expect((await read({ path: 'broken.pdf' })).error?.message).toContain('cannot be read')
    const loop = pdf(['x']).replace('/Kids [4 0 R]', '/Kids [2 0 R]')
    box.write('loop.pdf', loop)
    expect((await read({ path: 'loop.pdf' })).ok).toBe(false)
  })
})

describe('notebooks', () => {
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [
      { cell_type: 'markdown', source: ['# Title\n', 'text'], metadata: {} },
      {
        cell_type: 'code',
        source: 'print(1)',
        execution_count: 1,
        metadata: {},
        outputs: [
          { output_type: 'stream', name: 'stdout', text: ['1\n'] },
          {
            output_type: 'display_data',
            data: { 'image/png': 'AAAA', 'text/plain': ['<Figure>'] },
            metadata: {},
          },
          { output_type: 'error', ename: 'ValueError', evalue: 'bad', traceback: [] },
        ],
      },
    ],
  }

  test('are shown cell by cell, and raw for editing', async () => {
    box.write('n.ipynb', JSON.stringify(notebook, null, 1))
    const { text, data } = await read({ path: 'n.ipynb' })
    expect(text).toBe(
      '[Cell 1: markdown]\n# Title\ntext\n\n[Cell 2: code]\nprint(1)\n[Output]\n1\n[Output]\n<Figure>\n(image/png)\n[Output]\nValueError: bad',
    )
    expect(data).toMatchObject({ kind: 'notebook', total_cells: 2 })
    expect((await read({ path: 'n.ipynb', offset: 1 })).text).not.toContain('Title')
    expect((await read({ path: 'n.ipynb', raw: true })).text).toContain('"cell_type": "markdown"')
  })

  test('that are none are text', async () => {
    box.write('x.ipynb', 'hello\n')
    expect((await read({ path: 'x.ipynb' })).text).toContain('hello')
  })
})
