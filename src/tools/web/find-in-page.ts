const AROUND = 200
const MOST = 20

export interface Passage {
  /** Where the match begins, in characters of the page. */
  readonly start: number
  readonly text: string
}

/** Where a page says something, without regard to case, with what stands around it. */
export function findInPage(text: string, wanted: string): { passages: Passage[]; total: number } {
  const passages: Passage[] = []
  let total = 0
  let shownTo = -1
  // Not lower case of the whole: some letters change their length.
  const pattern = new RegExp(toPattern(wanted), 'giu')
  for (const { index, 0: match } of text.matchAll(pattern)) {
    total += 1
    if (index < shownTo || passages.length === MOST) continue
    const from = Math.max(0, index - AROUND)
    shownTo = Math.min(text.length, index + match.length + AROUND)
    passages.push({ start: index, text: text.slice(from, shownTo).toWellFormed() })
  }
  return { passages, total }
}

/** Spaces and line ends are the same to whoever looks for words. */
function toPattern(words: string): string {
  return words
    .trim()
    .split(/\s+/)
    .map(word => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('\\s{1,20}')
}
