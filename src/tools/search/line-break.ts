/**
 * A pattern across lines whose line breaks match CRLF too: who writes `foo\nbar` means two lines, whatever ends them.
 * Line breaks in sets of characters ([\n;]) stay as they are: a set stands for one character.
 */
export function withAnyLineBreak(pattern: string): string {
  // With the flag x, line breaks in the pattern are only layout.
  const isLayout = /\(\?[a-wyzA-Z]*x/.test(pattern)
  let result = ''
  let depth = 0
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? ''
    if (character === '\\') {
      const escaped = pattern.slice(at, at + 2)
      result += escaped === '\\n' && depth === 0 ? ANY_LINE_BREAK : escaped
      at += 1
    } else if (character === '[') {
      // A bracket right behind the opening one, or behind ^, is a character of the set.
      const [opening = '['] = /^\[\^?\]?/.exec(pattern.slice(at, at + 3)) ?? []
      result += depth === 0 ? opening : character
      at += depth === 0 ? opening.length - 1 : 0
      depth += 1
    } else {
      if (character === ']' && depth > 0) depth -= 1
      result += character === '\n' && depth === 0 && !isLayout ? ANY_LINE_BREAK : character
    }
  }
  return result
}

const ANY_LINE_BREAK = '(?:\\r?\\n)'

/** Plain text as a regular expression. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|#&~-]/g, '\\$&')
}
