/** Sets one key of a table in a TOML text, or of its top when `table` is empty; everything else, comments too, stays as it is. */
export function setTomlKey(
  text: string,
  table: string,
  key: string,
  value: string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>,
): string {
  const line = `${key} = ${toTomlValue(value)}`
  const lines = text.split('\n')
  const head = table === '' ? -1 : lines.findIndex(each => each.trim() === `[${table}]`)
  if (head === -1 && table !== '') return appendToml(text, `[${table}]\n${line}\n`)
  const next = lines.findIndex((each, index) => index > head && HEADER.test(each))
  const end = next === -1 ? lines.length : next
  const known = lines.findIndex(
    (each, index) => index > head && index < end && new RegExp(`^\\s*${quote(key)}\\s*=`).test(each),
  )
  if (known === -1) lines.splice(head + 1, 0, line)
  else lines[known] = line
  return lines.join('\n')
}

/** Turns tools of a server off by name, wherever the file has its other ones. */
export function setToolsOff(text: string, server: string, names: readonly string[]): string {
  const table = `mcp.${server}.tools`
  return text.split('\n').some(line => line.trim() === `[${table}]`)
    ? setTomlKey(text, table, 'off', names)
    : setTomlKey(text, `mcp.${server}`, 'tools.off', names)
}

export function appendToml(text: string, part: string): string {
  if (text.trim() === '') return part
  return `${text.replace(/\n*$/, '\n')}\n${part}`
}

/** The text without the rule of this id: its `[[permissions.rules]]` and the tables below it. */
export function removeTomlRule(text: string, id: string): string {
  return replaceTomlRule(text, id, '')
}

/** The text with other lines in the place of a rule. Where there is no such rule, they are appended. */
export function replaceTomlRule(text: string, id: string, rule: string): string {
  const parts = text.split(new RegExp(`^(?=${HEADER.source.slice(1)})`, 'm'))
  const first = parts.findIndex(part => isRule(part, id))
  if (first === -1) return rule === '' ? text : appendToml(text, rule)
  const behind = parts.findIndex((part, index) => index > first && !/^\s*\[permissions\.rules\./.test(part))
  const end = behind === -1 ? parts.length : behind
  const gap = rule !== '' && end < parts.length ? '\n' : ''
  return parts.toSpliced(first, end - first, `${rule}${gap}`).join('')
}

function isRule(part: string, id: string): boolean {
  return (
    /^\s*\[\[permissions\.rules\]\]/.test(part) &&
    new RegExp(`^\\s*id\\s*=\\s*["']${quote(id)}["']`, 'm').test(part)
  )
}

/** A line that begins a table, and not a list inside of a value. */
const HEADER = /^[ \t]*\[{1,2}[\w"'. -]+\]{1,2}[ \t]*(?:#.*)?$/m

/** What JSON has, on one line. */
export function toTomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toTomlValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, each]) => each !== undefined && each !== null)
  return `{ ${entries.map(([key, each]) => `${toTomlKey(key)} = ${toTomlValue(each)}`).join(', ')} }`
}

export function toTomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key)
}

function quote(text: string): string {
  return text.replaceAll(/[^\w]/g, '\\$&')
}
