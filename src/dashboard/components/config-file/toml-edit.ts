/** Sets one key of a table in a TOML text; everything else, comments too, stays as it is. */
export function setTomlKey(text: string, table: string, key: string, value: string): string {
  const line = `${key} = ${JSON.stringify(value)}`
  const lines = text.split('\n')
  const head = lines.findIndex(each => each.trim() === `[${table}]`)
  if (head === -1) return appendToml(text, `[${table}]\n${line}\n`)
  const next = lines.findIndex((each, index) => index > head && /^\s*\[/.test(each))
  const end = next === -1 ? lines.length : next
  const known = lines.findIndex(
    (each, index) => index > head && index < end && each.trim().startsWith(`${key} `) && each.includes('='),
  )
  if (known === -1) lines.splice(head + 1, 0, line)
  else lines[known] = line
  return lines.join('\n')
}

export function appendToml(text: string, part: string): string {
  if (text.trim() === '') return part
  return `${text.replace(/\n*$/, '\n')}\n${part}`
}

/** The text without the rule of this id: from its `[[permissions.rules]]` to the next table. */
export function removeTomlRule(text: string, id: string): string {
  const parts = text.split(/^(?=\s*\[)/m)
  const isRule = (part: string): boolean =>
    /^\s*\[\[permissions\.rules\]\]/.test(part) &&
    new RegExp(`^\\s*id\\s*=\\s*["']${quote(id)}["']`, 'm').test(part)
  return parts.filter(part => !isRule(part)).join('')
}

function quote(text: string): string {
  return text.replaceAll(/[^\w]/g, '\\$&')
}
