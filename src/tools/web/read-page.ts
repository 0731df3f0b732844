import { ToolError } from '../../core/errors.ts'
import { withoutInvisible } from '../../core/fence.ts'
import { detectFormat } from '../text/format.ts'
import { convertHtml } from './convert-html.ts'
import { decodePage } from './page-charset.ts'
import type { PageLink } from './page-writer.ts'
import type { WebResponse } from './web-client.ts'

export type ShownFormat = 'text' | 'markdown' | 'html'

export interface ReadPage {
  readonly title: string
  readonly text: string
  readonly contentType: string
  readonly charset: string | null
  readonly links: readonly PageLink[]
  /** What was left out because people do not see it. */
  readonly removed: { readonly hiddenElements: number; readonly invisibleCharacters: number }
  /** The page would have become larger than what is kept. */
  readonly cut: boolean
}

/** What a response says, by its type. Content that is not text is refused with its type and size. */
export function readPage(response: WebResponse, format: ShownFormat): ReadPage {
  const { body, headers } = response
  const header = headers['content-type'] ?? ''
  const contentType = plainType(header)
  if (body.length === 0) return plainPage('', contentType, null)
  if (!isText(contentType) || detectFormat(body.subarray(0, 65_536)) === null) {
    const type = contentType === '' ? 'of an unknown type' : contentType
    throw new ToolError(
      'failed',
      `The response is not text: ${type}, ${body.length.toLocaleString('en')} bytes.`,
    )
  }
  const { text, charset } = decodePage(body, header)
  if (!isHtml(contentType, text) || format === 'html') return plainPage(text, contentType, charset)
  const page = convertHtml(text, response.url, format)
  const content = withoutInvisible(page.text)
  return {
    title: withoutInvisible(page.title).text,
    text: content.text,
    contentType,
    charset,
    links: page.links,
    removed: { hiddenElements: page.hidden, invisibleCharacters: content.removed },
    cut: page.cut,
  }
}

/** Shown outside the fence, so that it may be nothing but a type. */
function plainType(header: string): string {
  const type = (header.split(';')[0] ?? '').trim().toLowerCase()
  return /^[a-z]{1,20}\/[\w.+-]{1,60}$/.test(type) ? type : ''
}

export function plainPage(text: string, contentType: string, charset: string | null): ReadPage {
  const content = withoutInvisible(text.replaceAll(/\r\n?/g, '\n'))
  return {
    title: '',
    text: content.text,
    contentType,
    charset,
    links: [],
    removed: { hiddenElements: 0, invisibleCharacters: content.removed },
    cut: false,
  }
}

/** By its name; servers that do not know better say octet-stream, or nothing. */
function isText(contentType: string): boolean {
  return (
    /^text\//.test(contentType) ||
    /[/+](json|xml|yaml|toml|x-yaml|javascript|ecmascript|x-javascript|typescript|ld\+json|x-ndjson|ndjson|csv|markdown|x-sh|sql|graphql|xhtml\+xml|x-www-form-urlencoded)$/.test(
      contentType,
    ) ||
    /^(application|binary)\/octet-stream$/.test(contentType) ||
    contentType === ''
  )
}

function isHtml(contentType: string, text: string): boolean {
  if (contentType === 'text/html' || contentType === 'application/xhtml+xml') return true
  return contentType === '' && /^\s*(<!doctype html|<html[\s>])/i.test(text.slice(0, 1000))
}

export function isPdf({ body, headers }: WebResponse): boolean {
  const isNamed = /^\s*(application\/(x-)?pdf|(application|binary)\/octet-stream|$)/i.test(
    headers['content-type'] ?? '',
  )
  return isNamed && Buffer.from(body.subarray(0, 1024)).toString('latin1').includes('%PDF-')
}
