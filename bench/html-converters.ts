import { createRequire } from 'node:module'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { convertHtml } from '../src/tools/web/convert-html.ts'

export const PEERS = ['turndown', 'html-to-text'] as const
export type Converter = 'kogu' | (typeof PEERS)[number]

/** Neither has types; this much of them is used. */
interface Turndown {
  new (options: { codeBlockStyle: 'fenced'; headingStyle: 'atx' }): { turndown(html: string): string }
}
interface HtmlToText {
  convert(html: string, options: { limits: { maxInputLength: number }; wordwrap: false }): string
}

export function convertWith(converter: Converter, html: string): string {
  const require = createRequire(import.meta.url)
  switch (converter) {
    case 'kogu':
      return convertHtml(html, 'https://site.test/', 'markdown').text
    case 'turndown': {
      const Service: Turndown = require('turndown')
      return new Service({ codeBlockStyle: 'fenced', headingStyle: 'atx' }).turndown(html)
    }
    case 'html-to-text': {
      const { convert }: HtmlToText = require('html-to-text')
      return convert(html, { limits: { maxInputLength: html.length }, wordwrap: false })
    }
  }
}

// As a worker: the median of some rounds after one to warm up.
if (!isMainThread) {
  const { converter, html, rounds } = workerData as { converter: Converter; html: string; rounds: number }
  const times: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const started = performance.now()
    convertWith(converter, html)
    times.push(performance.now() - started)
    // One is enough of what takes long.
    if ((times[0] ?? 0) > 5000) break
  }
  const measured = times.length === 1 ? times : times.slice(1)
  parentPort?.postMessage(measured.sort((a, b) => a - b)[Math.floor(measured.length / 2)])
}
