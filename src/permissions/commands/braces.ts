/** The words of `{a,b}`, the innermost braces first: a guess for rules and hard limits. Null: too many. */
export const MAX_BRACE_WORDS = 1000

export function expandBraces(text: string): string[] | null {
  let words = [text]
  for (;;) {
    const next = words.flatMap(expandOne)
    if (next.length > MAX_BRACE_WORDS) return null
    if (next.length === words.length) return words
    words = next
  }
}

function expandOne(text: string): string[] {
  const braces = /\{([^{}]*,[^{}]*)\}/.exec(text)
  if (braces === null) return [text]
  const [before, after] = [text.slice(0, braces.index), text.slice(braces.index + braces[0].length)]
  return (braces[1] ?? '').split(',').map(option => before + option + after)
}
