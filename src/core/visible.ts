/**
 * Text from a model, a file, a tool or a server, made safe to show: what a terminal or a page would obey or hide becomes
 * a visible escape. `\n` and `\t` stay. Without this, a command could look like another one in an approval.
 */
export function toVisible(text: string): string {
  const spaced = text.replaceAll(/ {41,}/g, spaces => `⟨${spaces.length} spaces⟩`)
  // Controls, characters without a shape (zero width, bidi, tags, variation selectors), and spaces that are not a space.
  // In here and not above: building it takes 2 ms, and most starts show nothing of anybody's.
  const hidden =
    /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\uFFFC]/gu
  return spaced.replaceAll(hidden, character => {
    if (character === '\n' || character === '\t') return character
    const code = character.codePointAt(0) ?? 0
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
