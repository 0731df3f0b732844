import { counted } from '../../core/counted.ts'
import { ToolError } from '../../core/errors.ts'
import { fenceUntrusted } from '../../core/fence.ts'
import type { ToolContext, ToolOutput } from '../../core/tool.ts'
import { findInPage } from './find-in-page.ts'
import { isPdf, plainPage, type ReadPage, readPage } from './read-page.ts'
import { USER_AGENT, type WebResponse } from './web-client.ts'
import type { FetchInput, WebParts } from './web-fetch.ts'

const MOST_LENGTH = 100_000

/** One page, or a part of it. */
export async function fetchPage(
  wanted: FetchInput,
  context: ToolContext,
  parts: WebParts,
): Promise<ToolOutput> {
  const url = new URL(wanted.url)
  url.hash = ''
  const { response, isCached } = await obtain(url.href, context, parts)
  if (response.held !== undefined) return heldRedirect(url.href, response)
  if (response.status < 200 || response.status > 299) {
    const code = response.status === 404 || response.status === 410 ? 'not_found' : 'failed'
    throw new ToolError(code, `HTTP ${response.status} for ${url.href}`)
  }
  const page = await readAny(response, wanted, context, parts)
  const shown = wanted.find === undefined ? part(page.text, wanted) : passages(page.text, wanted.find)
  return toOutput(url.href, response, page, shown, isCached)
}

const MOST_PDF_PAGES = 200

async function readAny(
  response: WebResponse,
  { format }: FetchInput,
  { signal }: ToolContext,
  { readPdf }: WebParts,
): Promise<ReadPage> {
  if (readPdf === undefined || !isPdf(response)) return readPage(response, format)
  const { total, pages } = await readPdf(response.body, { first: 1, last: MOST_PDF_PAGES }, signal)
  const text = pages
    .map(({ page, text: words }) => `[Page ${page} of ${total}]\n${words.trim()}`)
    .join('\n\n')
  return plainPage(text, 'application/pdf', null)
}

async function obtain(
  url: string,
  { permit, signal }: ToolContext,
  parts: WebParts,
): Promise<{ response: WebResponse; isCached: boolean }> {
  const judge = permit.judgeUrl
  if (judge === undefined)
    throw new ToolError('forbidden', 'The address was never authorized, so it is not contacted.')
  const cache = await parts.cache()
  const known = cache.get(url)
  // What led there for another call has to be allowed for this one.
  if (known?.redirects.every(hop => judge(hop, []) === null)) return { response: known, isCached: true }
  const headers = {
    'user-agent': USER_AGENT,
    accept: 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5',
  }
  const response = await (await parts.client()).get({ url, headers, judge, signal })
  const mayKeep = response.status === 200 && response.held === undefined
  if (mayKeep && !/no-store/i.test(response.headers['cache-control'] ?? '')) cache.set(url, response)
  return { response, isCached: false }
}

/** Not an error: the page is elsewhere, and going there is a call of its own. */
function heldRedirect(url: string, { status, held }: WebResponse): ToolOutput {
  return {
    text: `${url} redirects to another address, which was not contacted. To go there, call web_fetch with it.\n${fenceUntrusted(`${held?.location}\n${held?.reason}`, new URL(url).host)}`,
    data: { url, status, content: '', content_length: 0, redirect: held?.location },
    label: { origin: 'web', trusted: false },
  }
}

interface Shown {
  readonly content: string
  readonly start: number
  readonly nextStart: number | null
  readonly note: string
  readonly matches?: number
}

function part(text: string, { start, max_length }: FetchInput): Shown {
  if (start > 0 && start >= text.length) {
    throw new ToolError(
      'invalid_input',
      `start ${start} is past the end: the page has ${counted(text.length, 'character')}.`,
    )
  }
  const length = Math.min(max_length, MOST_LENGTH)
  const end = endOf(text, start + length)
  const isCut = end < text.length
  const content = text.slice(start, end).toWellFormed()
  return {
    content: isCut ? `${content}...\n\n[Truncated: ${text.length} total chars]` : content,
    start,
    nextStart: isCut ? end : null,
    note: isCut ? `Continue with start: ${end}.` : '',
  }
}

/** Not in the middle of a character. */
function endOf(text: string, wanted: number): number {
  if (wanted >= text.length) return text.length
  const code = text.charCodeAt(wanted - 1)
  return code >= 0xd800 && code <= 0xdbff ? wanted + 1 : wanted
}

function passages(text: string, find: string): Shown {
  const found = findInPage(text, find)
  const content = found.passages.map(({ start, text: words }) => `[start ${start}] …${words}…`).join('\n\n')
  const more = found.total > found.passages.length ? ', some of them close together or left out' : ''
  return {
    content,
    start: 0,
    nextStart: null,
    note: `${counted(found.total, 'match', 'matches')} for '${find}'${more}.`,
    matches: found.total,
  }
}

function toOutput(
  url: string,
  response: WebResponse,
  page: ReadPage,
  shown: Shown,
  isCached: boolean,
): ToolOutput {
  const host = new URL(response.url).host
  const { hiddenElements, invisibleCharacters } = page.removed
  const notes = [
    shown.note,
    hiddenElements > 0 ? `Left out: ${counted(hiddenElements, 'hidden element')}.` : '',
    invisibleCharacters > 0 ? `Removed: ${counted(invisibleCharacters, 'invisible character')}.` : '',
    page.cut ? 'The page is too large to be shown to its end.' : '',
  ].filter(note => note !== '')
  // Where a page leads, what it is called and what it says are its own words: all of that is inside.
  const about = [
    ...(response.redirects.length === 0 ? [] : [`Redirected to: ${response.url}`]),
    ...(page.title === '' ? [] : [`Title: ${page.title}`]),
  ].map(line => `${line}\n`)
  const head = `${url}: HTTP ${response.status}, ${page.contentType || 'unknown type'}`
  const body = fenceUntrusted(`${about.join('')}${about.length === 0 ? '' : '\n'}${shown.content}`, host)
  return {
    text: `${head}\n${body}${notes.length === 0 ? '' : `\n[${notes.join(' ')}]`}`,
    data: {
      url,
      status: response.status,
      content: shown.content,
      content_length: shown.content.length,
      title: page.title,
      final_url: response.url,
      redirects: response.redirects,
      content_type: page.contentType,
      charset: page.charset,
      links: page.links,
      total_length: page.text.length,
      start: shown.start,
      next_start: shown.nextStart,
      ...(shown.matches === undefined ? {} : { matches: shown.matches }),
      hidden_elements: hiddenElements,
      invisible_characters: invisibleCharacters,
      cached: isCached,
    },
    label: { origin: 'web', trusted: false },
  }
}
