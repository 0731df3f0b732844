/** Brace expansion of text without quotes or expansions: `{a,b}`, `{1..5}`, nested. Null: not plain, or too many. */
export const MAX_BRACE_WORDS = 1000

export function expandBraces(text: string): string[] | null {
  if (!/^[\w./@%+:=,{}*?~^-]*$/.test(text)) return null
  return expand(text, 0)
}

function expand(text: string, depth: number): string[] | null {
  if (depth > 8) return null
  const range = findBraces(text)
  if (range === null) return [text]
  const { start, end } = range
  const options = alternatives(text.slice(start + 1, end), depth)
  const rest = expand(text.slice(end + 1), depth)
  if (options === null || rest === null) return null
  if (options.length * rest.length > MAX_BRACE_WORDS) return null
  const before = text.slice(0, start)
  return options.flatMap(option => rest.map(tail => before + option + tail))
}

/** The first balanced pair that is a brace expansion; `{}` and `{a}` are plain text. */
function findBraces(text: string): { start: number; end: number } | null {
  for (let start = text.indexOf('{'); start !== -1; start = text.indexOf('{', start + 1)) {
    let depth = 0
    for (let i = start; i < text.length; i++) {
      if (text[i] === '{') depth += 1
      if (text[i] === '}') depth -= 1
      if (depth > 0) continue
      const inner = text.slice(start + 1, i)
      if (splitTop(inner).length > 1 || sequence(inner) !== null) return { start, end: i }
      break
    }
  }
  return null
}

function alternatives(inner: string, depth: number): string[] | null {
  const parts = splitTop(inner)
  if (parts.length === 1) return sequence(inner)
  const all: string[] = []
  for (const part of parts) {
    const words = expand(part, depth + 1)
    if (words === null) return null
    all.push(...words)
    if (all.length > MAX_BRACE_WORDS) return null
  }
  return all
}

function splitTop(inner: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let i = 0; i < inner.length; i++) {
    if (inner[i] === '{') depth += 1
    if (inner[i] === '}') depth -= 1
    if (inner[i] !== ',' || depth > 0) continue
    parts.push(inner.slice(from, i))
    from = i + 1
  }
  parts.push(inner.slice(from))
  return parts
}

function sequence(inner: string): string[] | null {
  const match = /^(-?\d{1,9}|[a-z]|[A-Z])\.\.(-?\d{1,9}|[a-z]|[A-Z])(?:\.\.(-?\d{1,4}))?$/.exec(inner)
  const [, first = '', last = '', stepText] = match ?? []
  if (match === null) return null
  const numeric = /\d/.test(first)
  if (numeric !== /\d/.test(last)) return null
  const from = numeric ? Number(first) : first.charCodeAt(0)
  const to = numeric ? Number(last) : last.charCodeAt(0)
  const step = Math.abs(Number(stepText ?? 1)) || 1
  if (Math.abs(to - from) / step > MAX_BRACE_WORDS) return null
  // A range such as {Z..a} passes through punctuation, which bash treats specially.
  if (!numeric && /[a-z]/.test(first) !== /[a-z]/.test(last)) return null
  const padded = /^-?0\d/.test(first) || /^-?0\d/.test(last)
  const width = padded ? Math.max(first.length, last.length) : 0
  const words: string[] = []
  for (let i = 0; i <= Math.floor(Math.abs(to - from) / step); i++) {
    const value = to >= from ? from + i * step : from - i * step
    words.push(numeric ? pad(value, width) : String.fromCharCode(value))
  }
  return words
}

function pad(value: number, width: number): string {
  const digits = String(Math.abs(value)).padStart(value < 0 ? width - 1 : width, '0')
  return value < 0 ? `-${digits}` : digits
}
