/**
 * Text from a model, a file, a tool or a server, made safe to show: what a terminal or a page would obey or hide becomes
 * a visible escape. `\n` and `\t` stay. Without this, a command could look like another one in an approval.
 */
export function toVisible(text: string): string {
  const spaced = text.replaceAll(/ {41,}/g, spaces => `⟨${spaces.length} spaces⟩`)
  // Plain text needs no look at Unicode. Its tables take 4 ms to build, as soon as a function that names them is compiled.
  if (!/[^\n\t -~]/.test(spaced)) return spaced
  return spaced.includes('\u200D') ? escapeAroundEmoji(spaced) : escapeHidden(spaced)
}

/** Signs that are joined to one that everybody knows stay. Anywhere else nobody sees whether there is a joiner. */
function escapeAroundEmoji(text: string): string {
  const parts = text.split(/(\p{RGI_Emoji_ZWJ_Sequence})/v)
  return parts.map((part, index) => (index % 2 === 1 ? part : escapeHidden(part))).join('')
}

function escapeHidden(text: string): string {
  // Controls, characters without a shape (zero width, bidi, tags, variation selectors), spaces that are not a space, and half
  // characters, which could swallow what follows. What makes a sign an emoji or a digit a keycap is seen as that and stays.
  const hidden =
    /(?!(?<=\p{Extended_Pictographic})\uFE0F|(?<=[\d#*])\uFE0F\u20E3)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\uFFFC\p{Surrogate}]/gu
  return text.replaceAll(hidden, character => {
    if (character === '\n' || character === '\t') return character
    return escapeCharacter(character)
  })
}

/** Of a line, unless the caller says otherwise. */
const LONGEST_LINE = 1000

/** Foreign text as a part of one of our lines: it can neither begin a line of its own nor push ours away. */
export function toLine(text: string, most = LONGEST_LINE): string {
  const line = toVisible(cut(text, most)).replaceAll('\n', '⟨U+000A⟩').replaceAll('\t', '⟨U+0009⟩')
  return text.length > most ? `${line}… (${text.length - most} more characters)` : line
}

export interface BlockOptions {
  /** What every line begins with, so that none can pass for one of ours. */
  readonly margin?: string
  readonly mostCharacters?: number
  readonly mostLines?: number
}

/** Foreign text of several lines, each under our own margin. What is left out is said. */
export function toBlock(
  text: string,
  { margin = '  ', mostCharacters = 65_536, mostLines = 2000 }: BlockOptions = {},
): string {
  const lines = toVisible(cut(text, mostCharacters)).split('\n')
  const shown = lines.slice(0, mostLines).map(line => margin + line)
  const left = Math.max(0, text.length - mostCharacters)
  if (left > 0) shown.push(`${margin}… ${left} more characters`)
  else if (lines.length > mostLines) shown.push(`${margin}… ${lines.length - mostLines} more lines`)
  return shown.join('\n')
}

/** A message that begins on one of our lines: the lines after its first are indented, so that none can pass for ours. */
export function underMargin(text: string, margin = '  '): string {
  return toBlock(text, { margin }).slice(margin.length)
}

/** Never through the middle of a character. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}

/**
 * What a terminal would obey, or what hides or reorders text: controls, bidi marks, tags, zero-width spaces. Joiners and
 * variation selectors stay, because emoji and whole scripts need them, and so does the layout.
 */
export function escapeControls(text: string): string {
  // One look that ordinary text does not pass, in a sixth of the time.
  if (!/[^\t\n -~]/.test(text)) return text
  const plain = text.replaceAll('\r\n', '\n')
  return plain.replaceAll(
    /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u2028\u2029\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu,
    escapeCharacter,
  )
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}
