/**
 * Mermaid measures its labels in the page, as HTML, before it makes a picture of them; settings in the text change how. What somebody
 * else wrote therefore has no HTML but line breaks, no settings, and loads nothing. Undefined: it is better shown as text.
 */
export function diagramSource(text: string): string | undefined {
  const plain = withoutFence(text).replace(FRONT_MATTER, '')
  const source = /^\s*sequenceDiagram\b/m.test(plain) ? plain.replaceAll(MENUS, '') : plain
  if (source.length > MOST_CHARACTERS || LOADS.test(source)) return undefined
  return (
    source
      // A comment instead of settings.
      .replaceAll('%%{', '%% {')
      .replaceAll(/<(?=[a-z!/?])/gi, (mark, at: number) => (HARMLESS.test(source.slice(at)) ? mark : '#lt;'))
      .replaceAll(/&(?=#?\w+;)/g, '#amp;')
  )
}

const MOST_CHARACTERS = 20_000
const FRONT_MATTER = /^\s*---\r?\n[\s\S]*?\r?\n---[^\S\n]*\r?\n/
/** In styles and in shapes that are images, also written with CSS escapes. */
const LOADS = /url\s*\(|@import|\\[0-9a-f]{1,6}|@\{[^}]*\bimg\b/i
/** Menus of a participant, which work by scripts; nothing in a picture can be chosen. */
const MENUS = /^[^\S\n]*(?:links?|properties|details)\b[^\n]*$/gim
/** A line break; a stereotype such as `<<interface>>`, which has no attributes. */
const HARMLESS = /^<(br\s*\/?>|\w+>>)/i

/** Models put diagrams between fences. */
function withoutFence(text: string): string {
  return /```(?:mermaid)?\n([\s\S]*?)```/.exec(text)?.[1] ?? text
}
