// A process of its own, behind walls: parsers of PDF are large, and documents come from anywhere. The document comes on
// standard input, the pages that are wanted as arguments; the answer is one JSON object.
import { getDocumentProxy } from 'unpdf'

const LONGEST_PAGE = 200_000

const [, , first = '1', last = '1'] = process.argv
process.stdout.write(JSON.stringify(await readPages(Number(first), Number(last))))

async function readPages(
  from: number,
  to: number,
): Promise<{ total: number; pages: { page: number; text: string }[] }> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  const document = await getDocumentProxy(new Uint8Array(Buffer.concat(chunks)))
  const pages: { page: number; text: string }[] = []
  for (let page = from; page <= Math.min(to, document.numPages); page += 1) {
    const { items } = await (await document.getPage(page)).getTextContent()
    const words = items.map(item => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
    pages.push({ page, text: words.join('').slice(0, LONGEST_PAGE) })
  }
  return { total: document.numPages, pages }
}
