export interface Grid {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Also of those that are left out. */
  readonly total: number
}

const MOST_ROWS = 500
const MOST_COLUMNS = 30

/** Rows and columns of an output: a list of objects as data or as JSON, or lines of values as in a CSV file. */
export function toGrid(text: string, data: unknown): Grid | undefined {
  return ofObjects(data) ?? ofObjects(parseJson(text)) ?? ofLines(text)
}

function ofObjects(value: unknown): Grid | undefined {
  const list = Array.isArray(value)
    ? value
    : isRecord(value)
      ? Object.values(value).find(Array.isArray)
      : undefined
  const all = list?.filter(isRecord) ?? []
  if (all.length === 0) return undefined
  const rows = all.slice(0, MOST_ROWS)
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))].slice(0, MOST_COLUMNS)
  return {
    columns,
    rows: rows.map(row => columns.map(column => (Object.hasOwn(row, column) ? cell(row[column]) : ''))),
    total: all.length,
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The first line names the columns. Numbers that `read_file` puts before each line are no part of it. */
function ofLines(text: string): Grid | undefined {
  const isNumbered = text.split('\n').every(line => line.trim() === '' || NUMBERED.test(line))
  const plain = isNumbered ? text.replaceAll(new RegExp(NUMBERED, 'gm'), '') : text
  const lines = splitLines(plain).filter(line => line.trim() !== '' && !/^[\s|:-]+$/.test(line))
  const countOf = (each: string): number => (lines[0] ?? '').split(each).length
  const [between = ','] = [',', ';', '\t', '|'].sort((a, b) => countOf(b) - countOf(a))
  if (countOf(between) < 2 || lines.length < 2) return undefined
  const [columns = [], ...rows] = lines
    .slice(0, MOST_ROWS + 1)
    .map(line => splitLine(between === '|' ? line.trim().replace(/^\||\|$/g, '') : line, between))
  return { columns: alone(columns.slice(0, MOST_COLUMNS)), rows, total: lines.length - 1 }
}

const NUMBERED = /^ *\d+\t/

/** Two columns with one name would be drawn as the same one. */
function alone(names: readonly string[]): string[] {
  const used = new Set<string>()
  for (const name of names) {
    let own = name
    for (let count = 2; used.has(own); count += 1) own = `${name} (${count})`
    used.add(own)
  }
  return [...used]
}

/** A line end inside quotes belongs to its cell. Quotes that do not begin a cell, or never close, are no quotes. */
function splitLines(text: string): string[] {
  const lines: string[] = []
  let open: string | undefined
  for (const line of text.split(/\r?\n/)) {
    const isOdd = line.split('"').length % 2 === 0
    if (open === undefined && isOdd && /(?:^|[,;\t|]) *"/.test(line)) open = line
    else if (open === undefined) lines.push(line)
    else if (isOdd) {
      lines.push(`${open}\n${line}`)
      open = undefined
    } else open += `\n${line}`
  }
  return open === undefined ? lines : [...lines, ...open.split('\n')]
}

function splitLine(line: string, between: string): string[] {
  const cells = ['']
  let isQuoted = false
  for (let at = 0; at < line.length && cells.length <= MOST_COLUMNS; at += 1) {
    const character = line[at] ?? ''
    if (character === '"' && isQuoted && line[at + 1] === '"') {
      cells[cells.length - 1] += '"'
      at += 1
    } else if (character === '"' && (isQuoted || cells.at(-1)?.trim() === '')) isQuoted = !isQuoted
    else if (character === between && !isQuoted) cells.push('')
    else cells[cells.length - 1] += character
  }
  return cells.map(each => each.trim())
}
