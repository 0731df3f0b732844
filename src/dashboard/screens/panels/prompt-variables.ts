const VARIABLE = /\{\{\s*([\w-]+)\s*\}\}/g

/** Names in `{{…}}` that a text wants values for, each once. */
export function variablesOf(text: string): string[] {
  return [...new Set([...text.matchAll(VARIABLE)].map(match => match[1] ?? ''))]
}

/** What looks like a variable and is none: it would be handed over as it stands. */
export function unknownMarks(text: string): string[] {
  const all = [...text.matchAll(/\{\{([^{}]*)\}\}/g)]
  return all.filter(match => !/^\s*[\w-]+\s*$/.test(match[1] ?? '')).map(match => match[0])
}

const MOST_CHARACTERS = 1_000_000

/** The text with the values that are there; the rest stays as it is written. The server is the one that insists. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  let room = MOST_CHARACTERS
  return text.replaceAll(VARIABLE, (mark, name: string) => {
    const value = Object.hasOwn(values, name) ? (values[name] ?? '') : ''
    room -= value.length
    return value === '' || room < 0 ? mark : value
  })
}
