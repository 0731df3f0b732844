/** A word as a shell reads it back unchanged. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** Words as one command line that a shell splits into the same words. */
export function toShellLine(words: readonly string[]): string {
  return words.map(word => (/^[\w./-]+$/.test(word) ? word : quoteWord(word))).join(' ')
}
