/**
 * A view is a text in which differences that do not matter are gone, with the way back to the original. What is found
 * in the view is a region of the original, so nothing but that region is ever replaced.
 */
export interface View {
  readonly text: string
  /** Original index where the character at a view index begins. */
  start(index: number): number
  /** Original index where the character before a view index ends. */
  end(index: number): number
}

/** Line ends as '\n'. */
export function lineEndView(text: string): View {
  if (!text.includes('\r')) return { text, start: index => index, end: index => index }
  if (!text.includes('\n'))
    return { text: text.replaceAll('\r', '\n'), start: index => index, end: index => index }
  // View indexes of the line ends that are one character shorter here.
  const shortened: number[] = []
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    shortened.push(at - shortened.length)
  }
  const original = (index: number): number => index + countBelow(shortened, index)
  return { text: text.replaceAll('\r\n', '\n'), start: original, end: original }
}

/** Line ends as '\n', typographic punctuation as ASCII, letters composed (NFC), invisible characters gone. */
export function punctuationView(text: string): View {
  if (!/[^\0-\x7f]/.test(text)) return lineEndView(text)
  const starts: number[] = []
  const ends: number[] = []
  const pieces: string[] = []
  for (const { 0: cluster, 1: run, index } of text.matchAll(CLUSTER)) {
    const piece = run ?? plain(cluster)
    pieces.push(piece)
    for (let unit = 0; unit < piece.length; unit += 1) {
      // A run stands for itself, character by character; a cluster is one place, however long.
      starts.push(run === undefined ? index : index + unit)
      ends.push(run === undefined ? index + cluster.length : index + unit + 1)
    }
  }
  return {
    text: pieces.join(''),
    start: index => starts[index] ?? text.length,
    end: index => (index === 0 ? 0 : (ends[index - 1] ?? text.length)),
  }
}

/** A run of ASCII, a line break, or a character with the marks that combine with it. */
const CLUSTER = /([\0-\x0c\x0e-\x7f]+(?!\p{M}))|\r\n|[\s\S]\p{M}*/gu

function plain(cluster: string): string {
  if (cluster === '\r\n') return '\n'
  const code = cluster.codePointAt(0) ?? 0
  if (code < 0x80 && cluster.length === 1) return cluster
  return PUNCTUATION.get(cluster) ?? cluster.normalize('NFC')
}

const PUNCTUATION: ReadonlyMap<string, string> = new Map([
  ...Array.from('‘’‚‛′‵＇', quote => [quote, "'"] as const),
  ...Array.from('“”„‟″‶＂', quote => [quote, '"'] as const),
  ...Array.from('‐‑‒–—―−﹣－', dash => [dash, '-'] as const),
  ...Array.from(
    '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
    space => [space, ' '] as const,
  ),
  // Soft hyphen, zero width characters, byte order mark: nobody sees them, so nobody can copy them.
  ...Array.from('\u00ad\u200b\u200c\u200d\u2060\ufeff', invisible => [invisible, ''] as const),
  ['…', '...'],
])

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}
