/** Sets one key of a table in a TOML text, or of its top when `table` is empty; everything else, comments too, stays as it is. */
export function setTomlKey(
  text: string,
  table: string,
  key: string,
  value: string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>,
): string {
  const line = `${key} = ${toTomlValue(value)}`
  const lines = text.split('\n')
  const head = table === '' ? -1 : lines.findIndex(each => isHeaderOf(each, table))
  if (head === -1 && table !== '') return appendToml(text, `[${table}]\n${line}\n`)
  const next = lines.findIndex((each, index) => index > head && HEADER.test(each))
  const end = next === -1 ? lines.length : next
  const pattern = new RegExp(`^\\s*${quote(key)}\\s*=[ \\t]*`)
  const known = lines.findIndex((each, index) => index > head && index < end && pattern.test(each))
  if (known === -1) return lines.toSpliced(head + 1, 0, line).join('\n')
  const above = lines.slice(0, known).map(each => `${each}\n`)
  const [opening = ''] = pattern.exec(lines[known] ?? '') ?? []
  const rest = lines.slice(known).join('\n').slice(opening.length)
  return `${above.join('')}${opening}${toTomlValue(value)}${rest.slice(valueLength(rest))}`
}

/** Strings, comments, brackets and line breaks: what decides where a value ends. */
const TOKENS =
  /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[ \t]*#.*|[[{]|[\]}]|\s*\n/g

/** Of the value that a text begins with, over all of its lines and without the comment behind it. */
function valueLength(text: string): number {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '[' || token === '{') depth += 1
    else if (token === ']' || token === '}') depth -= 1
    else if (depth === 0 && /^\s*(?:#|\n|$)/.test(token)) return index
  }
  return text.trimEnd().length
}

function isHeaderOf(line: string, table: string): boolean {
  const header = `[${table}]`
  return (
    line.trimStart().startsWith(header) &&
    HEADER.test(line) &&
    /^\s*(?:#|$)/.test(line.trim().slice(header.length))
  )
}

/** Turns tools of a server off by name, wherever the file has its other ones. */
export function setToolsOff(text: string, server: string, names: readonly string[]): string {
  const table = `mcp.${server}.tools`
  return text.split('\n').some(line => isHeaderOf(line, table))
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
  // Comments at its end are about what follows.
  const [about = ''] = /(?<![^\n])(?:[ \t]*#.*\n(?:[ \t]*\n)*)*$/.exec(parts[end - 1] ?? '') ?? []
  const gap = rule !== '' && end < parts.length ? '\n' : ''
  return parts.toSpliced(first, end - first, `${rule}${gap}${end < parts.length ? about : ''}`).join('')
}

function isRule(part: string, id: string): boolean {
  return (
    /^\s*\[\[permissions\.rules\]\]/.test(part) &&
    new RegExp(`^\\s*id\\s*=\\s*["']${quote(id)}["']`, 'm').test(part)
  )
}

/** A line that begins a table, and not a list inside of a value. */
const KEY = String.raw`[ \t]*(?:[\w-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')[ \t]*`
const HEADER = new RegExp(String.raw`^[ \t]*\[{1,2}${KEY}(?:\.${KEY})*\]{1,2}[ \t]*(?:#.*)?$`, 'm')

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
