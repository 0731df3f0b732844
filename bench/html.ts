import { Worker } from 'node:worker_threads'
import { type Converter, convertWith, PEERS } from './html-converters.ts'
import { type Row, showTime, toPlainRow, verdict } from './table.ts'

const KB = 1024
const LONGEST_MS = 30_000

/** Pages as Markdown, beside the converters that others use, and what each of them keeps of a page. */
export async function measureHtml(): Promise<Row[]> {
  const pages = [
    { name: '20 KB', html: samplePage(20 * KB), rounds: 300 },
    { name: '500 KB', html: samplePage(500 * KB), rounds: 20 },
    { name: '5 MB', html: samplePage(5 * KB * KB), rounds: 3 },
    { name: '5 MB, hostile (nested)', html: '<div><b><ul><li>x'.repeat((5 * KB * KB) / 17), rounds: 3 },
  ]
  const rows: Row[] = []
  for (const { name, html, rounds } of pages) {
    const own = await timed('kogu', html, rounds)
    for (const peer of PEERS) {
      const other = await timed(peer, html, rounds)
      const ratio = own.ms / other.ms
      rows.push(
        toPlainRow({
          name: `HTML to Markdown, ${name}`,
          kogu: own.problem ?? showTime(own.ms),
          peer: `${peer} ${other.problem ?? showTime(other.ms)}`,
          ratio: other.problem === undefined ? `${ratio.toFixed(2)}×` : '',
          target: 'faster',
          verdict: verdict(own.problem === undefined && (other.problem !== undefined || ratio < 1)),
        }),
      )
    }
  }
  return [...rows, ...features()]
}

interface Timed {
  readonly ms: number
  /** Set when it did not get to the end. */
  readonly problem?: string
}

/** In a thread of its own, which can be ended: some never come back, some end the process. */
async function timed(converter: Converter, html: string, rounds: number): Promise<Timed> {
  const worker = new Worker(new URL('./html-converters.ts', import.meta.url), {
    workerData: { converter, html, rounds },
    resourceLimits: { maxOldGenerationSizeMb: 2048 },
  })
  const { promise, resolve } = Promise.withResolvers<Timed>()
  const timer = setTimeout(
    () => resolve({ ms: LONGEST_MS, problem: `did not end in ${LONGEST_MS / 1000} s` }),
    LONGEST_MS,
  )
  worker.on('message', ms => resolve({ ms: Number(ms) }))
  worker.on('error', error => {
    const message = error instanceof Error ? error.message : String(error)
    resolve({ ms: Number.POSITIVE_INFINITY, problem: `failed: ${message.slice(0, 40)}` })
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

const FEATURES: readonly (readonly [string, string, RegExp | ((text: string) => boolean)])[] = [
  ['headings', '<h2>Title</h2>', /^## Title|^-{3,}$/m],
  ['absolute links', '<a href="/x">y</a>', /\[y\]\(https:\/\/site\.test\/x\)/],
  ['numbered lists', '<ol start="3"><li>a<li>b</ol>', /3\.\s+a[\s\S]*4\.\s+b/],
  ['nested lists', '<ul><li>a<ul><li>b</ul></ul>', /a\n+\s{2,}[-*] +b/],
  ['tables', '<table><tr><th>A<th>B<tr><td>1<td>2</table>', /\|\s*A\s*\|\s*B\s*\|/],
  ['code with its language', '<pre><code class="language-js">a</code></pre>', /```js\na\n```/],
  ['no scripts and styles', '<script>evil</script><style>evil</style>ok', text => !text.includes('evil')],
  ['no hidden text', '<p hidden>evil</p><p style="display:none">evil</p>ok', text => !text.includes('evil')],
  [
    'no drawings and templates',
    '<svg><text>evil</text></svg><template>evil</template>ok',
    text => !text.includes('evil'),
  ],
]

function features(): Row[] {
  return FEATURES.map(([name, html, test]) => {
    const keeps = (converter: Converter): string => {
      const text = convertWith(converter, html)
      return (typeof test === 'function' ? test(text) : test.test(text)) ? 'yes' : 'no'
    }
    return toPlainRow({
      name: `keeps: ${name}`,
      kogu: keeps('kogu'),
      peer: PEERS.map(peer => `${peer} ${keeps(peer)}`).join(', '),
      verdict: verdict(keeps('kogu') === 'yes'),
    })
  })
}

function samplePage(bytes: number): string {
  const part = (index: number): string =>
    `<section class="part" id="p${index}"><h2>Part ${index} of <em>many</em></h2><p>Some words with a <a href="/page/${index}?a=1&amp;b=2">link to page ${index}</a>, ` +
    `<strong>bold</strong> &amp; <code>code()</code>, and then some more of them, so that the page reads like one.</p><ul><li>One</li><li>Two<ul><li>Nested</li></ul></li></ul>` +
    `<table><tr><th>Name</th><th>Price</th></tr><tr><td>Tea</td><td>${index}</td></tr></table><pre><code class="language-js">const a = ${index}\nlet b</code></pre><script>var x = ${index};</script></section>\n`
  let page = '<!doctype html><html><head><title>Sample</title><style>p { color: red }</style></head><body>'
  for (let index = 0; page.length < bytes; index += 1) page += part(index)
  return `${page}</body></html>`
}
