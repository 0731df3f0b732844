/** Names in `{{…}}` that a prompt wants values for, each once. */
export function variablesOf(prompt: string): string[] {
  const found = [...prompt.matchAll(/\{\{\s*([\w-]+)\s*\}\}/g)].map(match => match[1] ?? '')
  return [...new Set(found)]
}

/** What looks like a variable and is none: it would reach the model as it stands. */
export function unknownMarks(prompt: string): string[] {
  const all = [...prompt.matchAll(/\{\{([^{}]*)\}\}/g)]
  return all.filter(match => !/^\s*[\w-]+\s*$/.test(match[1] ?? '')).map(match => match[0])
}
