/** Sets one key of a table in a TOML text, or of its top when `table` is empty; everything else, comments too, stays as it is. */
export function setTomlKey(
  text: string,
  table: string,
  key: string,
  value: string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>,
): string {
  // A mark of the byte order stays the first character.
  if (text.startsWith('\uFEFF')) return `\uFEFF${setTomlKey(text.slice(1), table, key, value)}`
  const lines = text.split('\n')
  const tableKeys = keysOf(table)
  const beginnings = withoutInsides(text).split('\n')
  const assigned = assignmentsOf(beginnings)
  const known = assigned.find(({ path }) => isSame(path, [...tableKeys, ...keysOf(key)]))
  if (known !== undefined) return replaceValue(lines, known.at, toTomlValue(value))
  const line = `${key} = ${toTomlValue(value)}`
  const head = beginnings.findIndex(each => isSame(headerOf(each), tableKeys))
  if (table === '' || head !== -1) return lines.toSpliced(head + 1, 0, line).join('\n')
  // A table that is written as `table.key = …` cannot have a header as well.
  const beside = assigned.find(
    ({ path, header }) =>
      header.length < tableKeys.length && isSame(path.slice(0, tableKeys.length), tableKeys),
  )
  if (beside === undefined) return appendToml(text, `[${table}]\n${line}\n`)
  const rest = tableKeys.slice(beside.header.length).map(toTomlKey)
  return lines.toSpliced(beside.below + 1, 0, `${rest.join('.')}.${line}`).join('\n')
}

function replaceValue(lines: readonly string[], at: number, value: string): string {
  const above = lines.slice(0, at).map(each => `${each}\n`)
  const [opening = ''] = ASSIGNED.exec(lines[at] ?? '') ?? []
  const rest = lines.slice(at).join('\n').slice(opening.length)
  return `${above.join('')}${opening}${value}${rest.slice(valueLength(rest))}`
}

interface Assignment {
  readonly at: number
  readonly path: readonly string[]
  readonly header: readonly string[]
  /** The line of that header; -1: the top of the file. */
  readonly below: number
}

/** Keys with the tables that they are in. Those in a list of tables are left out: which one is meant cannot be said. */
function assignmentsOf(lines: readonly string[]): Assignment[] {
  let below = -1
  let header: string[] | undefined = []
  return lines.flatMap((line, at) => {
    if (HEADER.test(line)) {
      below = at
      header = headerOf(line)
    }
    const own = ASSIGNED.exec(line)?.[1]
    if (own === undefined || header === undefined) return []
    return [{ at, header, below, path: [...header, ...keysOf(own)] }]
  })
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

/**
 * The text with blanks for what only looks like a table or a key: lines of a string, and of a list that began above. As many
 * lines, each as long as it was.
 */
function withoutInsides(text: string): string {
  let depth = 0
  let depthBefore = 0
  return text.replaceAll(TOKENS, token => {
    if (token === '[' || token === '{') depth += 1
    if (token === ']' || token === '}') depth -= 1
    const isInside = depthBefore > 0 || token.startsWith('"""') || token.startsWith("'''")
    if (token.includes('\n')) depthBefore = depth
    return isInside ? token.replaceAll(/[^\n]/g, ' ') : token
  })
}

/** Undefined for what is no header, and for that of a list of tables. */
function headerOf(line: string): string[] | undefined {
  const [, path] = /^[ \t]*\[([^[].*?)\][ \t]*(?:#.*)?$/m.exec(line) ?? []
  return path === undefined || !HEADER.test(line) ? undefined : keysOf(path)
}

/** `a."b c"` and `"a" . 'b c'` name the same. */
function keysOf(path: string): string[] {
  return [...path.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|([\w-]+)/g)].map(
    ([, quoted, literal, bare]) => quoted ?? literal ?? bare ?? '',
  )
}

function isSame(path: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return JSON.stringify(path) === JSON.stringify(wanted)
}

/** Turns tools of a server off by name, wherever the file has its other ones. */
export function setToolsOff(text: string, server: string, names: readonly string[]): string {
  const table = `mcp.${server}.tools`
  return withoutInsides(text)
    .split('\n')
    .some(line => isSame(headerOf(line), keysOf(table)))
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
  const parts = splitTables(text)
  const first = parts.findIndex(part => isRule(part, id))
  if (first === -1) return rule === '' ? text : appendToml(text, rule)
  const isBelow = (part: string): boolean =>
    tableOf(part).length > RULES.length && isSame(tableOf(part).slice(0, 2), RULES)
  const behind = parts.findIndex((part, index) => index > first && !isBelow(part))
  const end = behind === -1 ? parts.length : behind
  // Comments at its end are about what follows.
  const [about = ''] = /(?<![^\n])(?:[ \t]*#.*\n(?:[ \t]*\n)*)*$/.exec(parts[end - 1] ?? '') ?? []
  const gap = rule !== '' && end < parts.length ? '\n' : ''
  return parts.toSpliced(first, end - first, `${rule}${gap}${end < parts.length ? about : ''}`).join('')
}

/** Each part but the first begins with the header of a table. */
function splitTables(text: string): string[] {
  const plain = withoutInsides(text)
  const starts = [...plain.matchAll(new RegExp(HEADER, 'gm'))].map(({ index }) => index)
  return [0, ...starts.filter(at => at > 0)].map((at, index, all) => text.slice(at, all[index + 1]))
}

const RULES = ['permissions', 'rules']

/** Of the header that a part begins with. */
function tableOf(part: string): string[] {
  return keysOf(HEADER.exec(withoutInsides(part))?.[1] ?? '')
}

function isRule(part: string, id: string): boolean {
  return (
    isSame(tableOf(part), RULES) &&
    new RegExp(`^\\s*id\\s*=\\s*["']${quote(id)}["']`, 'm').test(withoutInsides(part))
  )
}

/** A line that begins a table, and not a list inside of a value. */
const KEY = String.raw`[ \t]*(?:[\w-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')[ \t]*`
const ASSIGNED = new RegExp(String.raw`^(${KEY}(?:\.${KEY})*)=[ \t]*`)
const HEADER = new RegExp(String.raw`^\uFEFF?[ \t]*\[{1,2}(${KEY}(?:\.${KEY})*)\]{1,2}[ \t]*(?:#.*)?$`, 'm')

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
