/** JSON that PostgreSQL takes. It keeps neither NUL nor half of a surrogate pair, and a model may send both. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value)
  if (!text.includes('\\u')) return text
  // Escapes are read from their first character on: a doubled backslash before `u0000` is text, and stays.
  return text.replaceAll(/\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g, found =>
    found.length === 6 ? '\\ufffd' : found,
  )
}
