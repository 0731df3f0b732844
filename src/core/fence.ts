import { randomBytes } from 'node:crypto'

/**
 * Foreign text between two marks that it cannot write itself: they carry a number that is made after the text is known.
 * `source` says whose words these are.
 */
export function fenceUntrusted(text: string, source: string): string {
  let id = randomBytes(6).toString('hex')
  while (text.includes(id)) id = randomBytes(6).toString('hex')
  // A look-alike of the marks would not end the fence, but a reader might think so.
  const plain = text.replaceAll(/<(?=\s*\/?\s*untrusted-content)/gi, '‹')
  const name = source.replaceAll(/[^\w.:[\]-]/g, '_').slice(0, 200)
  return `<untrusted-content source="${name}" id="${id}">\n${plain}\n</untrusted-content id="${id}">`
}

/**
 * Text without characters that show nothing: zero width, direction marks, tags, controls. Text can be smuggled in them
 * that a model reads and a person does not see. Joiners and selectors stay where writing and emoji need them: one at a time.
 */
export function withoutInvisible(text: string): { text: string; removed: number } {
  let removed = 0
  const plain = text.replaceAll(INVISIBLE, found => {
    removed += found.length
    return ''
  })
  return { text: plain, removed }
}

const INVISIBLE =
  /(?!\t|\n|\u200C|\u200D|[\uFE00-\uFE0F])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|(?<=\u200C|\u200D)(?:\u200C|\u200D)|(?<=[\uFE00-\uFE0F])[\uFE00-\uFE0F]/gu
