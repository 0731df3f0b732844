/**
 * Mermaid measures its labels in the page, as HTML, before it makes a picture of them; settings in the text change how. What somebody
 * else wrote therefore has no HTML but line breaks, no settings, and loads nothing. Undefined: it is better shown as text.
 */
export function diagramSource(text: string): string | undefined {
  const plain = withoutFence(text).replace(FRONT_MATTER, '')
  const isSequence = plain.includes('sequenceDiagram')
  const source = isSequence ? plain.replaceAll(MENU_LINES, '') : plain
  if (source.length > MOST_CHARACTERS || LOADS.test(source) || SECOND_FRONT_MATTER.test(source))
    return undefined
  if (isSequence && MENU.test(source)) return undefined
  // Read as YAML, where a word can be written with escapes.
  if (source.includes('@{') && IMAGE_OR_ESCAPE.test(source)) return undefined
  return (
    source
      // A comment instead of settings.
      .replaceAll('%%{', '%% {')
      .replaceAll(/<(?=[a-z!/?\\])/gi, (mark, at: number) =>
        HARMLESS.test(source.slice(at, at + 100)) ? mark : '#lt;',
      )
      .replaceAll(/&(?=#|\w+;|[lg]t|amp|quot)/gi, '#amp;')
  )
}

const MOST_CHARACTERS = 20_000
const FRONT_MATTER = /^\s*---[^\S\n]*\n[\s\S]*?\n[^\S\n]*---[^\S\n]*\n/
/** No diagram begins like this: it is another one, or one that only Mermaid understands. */
const SECOND_FRONT_MATTER = /^\s*---/
/** In styles, also written with CSS escapes. */
const LOADS = /url\s*\(|image-set|@import|\\[0-9a-f]/i
const IMAGE_OR_ESCAPE = /\bimg\b|\\/i
/** Menus and icons of a participant, which work by scripts and load; nothing in a picture can be chosen. */
const MENU_LINES = /^[^\S\n]*(?:links?|properties|details)\b[^\n]*$/gim
/** Behind something else on its line, where only Mermaid knows whether it is one or what somebody says. */
const MENU = /\b(?:links?|properties|details)\b[^\n]*:/i
/** A line break; a stereotype such as `<<interface>>`, which has no attributes. */
const HARMLESS = /^<(br\s*\/?>|\w+>>)/i

/** Models put diagrams between fences. */
function withoutFence(text: string): string {
  return /```(?:mermaid)?\n([\s\S]*?)```/.exec(text)?.[1] ?? text
}
