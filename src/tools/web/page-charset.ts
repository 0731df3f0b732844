import { detectFormat } from '../text/format.ts'

/** The text of a response: by its byte order mark, what its header says, what it says itself, or what it looks like. */
export function decodePage(bytes: Uint8Array, contentType: string): { text: string; charset: string } {
  const marked = byteOrderMark(bytes)
  const labels = [
    marked,
    headerCharset(contentType),
    ownCharset(bytes),
    detectFormat(bytes)?.encoding,
    'utf-8',
  ]
  for (const label of labels) {
    const decoder = label === undefined ? undefined : decoderFor(label)
    if (decoder !== undefined) return { text: decoder.decode(bytes), charset: decoder.encoding }
  }
  throw new Error('UTF-8 is always known.')
}

/** Undefined when the label is none that browsers know. */
function decoderFor(label: string): { decode(bytes: Uint8Array): string; encoding: string } | undefined {
  try {
    return new TextDecoder(label)
  } catch {
    // Some other word.
    return undefined
  }
}

function byteOrderMark([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0xff && b === 0xfe ? 'utf-16le' : undefined
}

function headerCharset(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType.slice(0, 500))?.[1]
}

/** How far browsers look. */
const LOOKED_AT = 4096

function ownCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, LOOKED_AT)).toString('latin1')
  const label =
    /<meta\s[^>]{0,300}?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1] ??
    /^<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1]
  // A page that could be read so far is not in UTF-16, whatever it says.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label
}
