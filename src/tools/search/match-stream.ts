import { cutAround } from '../text/cut.ts'

// Reads ripgrep's JSON lines. They are parsed only when they are shown: most of a large result is only counted.

export interface FileMatches {
  /** As ripgrep gives it, without the leading './'. */
  readonly path: string
  /** Matching lines in the whole file. */
  matches: number
  /** The first of them, with the context lines between them, unparsed. */
  kept: Uint8Array[]
  keptMatches: number
}

export interface MatchStreamOptions {
  /** Whether a file may appear at all. */
  accepts(path: string): boolean
  /** Matching lines that are kept of one file. */
  readonly perFile: number
  /** Matching lines that can be shown, in the order of the paths; what comes later is only counted. */
  readonly needed: number
}

export interface MatchStream {
  push(chunk: Uint8Array): void
  /** Files in the order of their paths. */
  files(): FileMatches[]
}

const LONGEST = 1024 * 1024
const NEWLINE = 10

export function createMatchStream({ accepts, perFile, needed }: MatchStreamOptions): MatchStream {
  const files: FileMatches[] = []
  let current: FileMatches | undefined
  let carry: Uint8Array[] = []
  let carried = 0
  let keptInAll = 0
  const begin = (line: Uint8Array): void => {
    current = undefined
    const path = pathOf(parse(line))
    if (path === undefined || !accepts(path)) return
    current = { path, matches: 0, kept: [], keptMatches: 0 }
  }
  const end = (): void => {
    if (current === undefined || current.matches === 0) return
    files.push(current)
    keptInAll += current.keptMatches
    current = undefined
    if (keptInAll < 4 * needed + 1000) return
    keptInAll = forget(files, needed)
  }
  const take = (line: Uint8Array): void => {
    // {"type":"match",… {"type":"context",… {"type":"begin",… {"type":"end",…
    const kind = line[9]
    if (kind === 0x62) begin(line)
    else if (kind === 0x65) end()
    else if (current !== undefined && (kind === 0x6d || kind === 0x63)) {
      const isMatch = kind === 0x6d
      if (isMatch) current.matches += 1
      if (current.matches > perFile) return
      if (isMatch) current.keptMatches += 1
      current.kept.push(line.slice())
    }
  }
  return {
    push(chunk) {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        const piece = chunk.subarray(from, at)
        take(carried === 0 ? piece : Buffer.concat([...carry, piece]))
        carry = []
        carried = 0
        from = at + 1
      }
      if (from >= chunk.length) return
      carried += chunk.length - from
      // The middle of a monstrous line is let go; its end tells its number. NUL makes certain that the rest is no JSON.
      if (carried > LONGEST && carry.length > 17) carry.splice(8, carry.length - 16, Uint8Array.of(0))
      carry.push(chunk.slice(from))
    },
    files() {
      return files.sort(byPath)
    },
  }
}

/** Lets go of the text of files that come after the last line that can be shown. */
function forget(files: FileMatches[], needed: number): number {
  let kept = 0
  for (const file of files.sort(byPath)) {
    if (kept >= needed) {
      file.kept = []
      file.keptMatches = 0
    }
    kept += file.keptMatches
  }
  return kept
}

function byPath(a: FileMatches, b: FileMatches): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}

export interface ShownLine {
  readonly line: number
  readonly text: string
  readonly isMatch: boolean
}

const LINE_CHARACTERS = 500

/** Parses the kept lines of one file and cuts long ones around what matched. */
export function shownLines(file: FileMatches): ShownLine[] {
  return file.kept.map(toShownLine)
}

function toShownLine(raw: Uint8Array): ShownLine {
  const isMatch = raw[9] === 0x6d
  const event = parse(raw)
  if (event === undefined) {
    const tail = Buffer.from(raw.subarray(-65_536)).toString('latin1')
    const line = Number(/"line_number":(\d+)/.exec(tail)?.[1] ?? 0)
    return {
      line,
      text: '[a line of more than 1 MB, too long to show]',
      isMatch,
    }
  }
  const { data } = event
  const bytes = bytesOf(data?.lines)
  const text = bytes.toString('utf8').replace(/\r?\n$/, '')
  const start = data?.submatches?.[0]?.start ?? 0
  // Offsets count bytes.
  const at = text.length > LINE_CHARACTERS ? bytes.toString('utf8', 0, start).length : 0
  const shown = text
    .split('\n')
    .slice(0, 20)
    .map((line, index) => cutAround(line.replace(/\r$/, ''), index === 0 ? at : 0, LINE_CHARACTERS))
  return { line: data?.line_number ?? 0, text: shown.join('\n'), isMatch }
}

interface Text {
  text?: string
  bytes?: string
}

interface Event {
  data?: { path?: Text; lines?: Text; line_number?: number | null; submatches?: { start: number }[] }
}

function parse(line: Uint8Array): Event | undefined {
  try {
    // ripgrep's own output: the shape is documented and stable.
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8')) as Event
  } catch {
    // Cut because it was too long.
    return undefined
  }
}

function pathOf(event: Event | undefined): string | undefined {
  const path = event?.data?.path
  return path === undefined ? undefined : bytesOf(path).toString('utf8').replace(/^\.\//, '')
}

/** What is not UTF-8 comes in base64. */
function bytesOf(value: Text | undefined): Buffer {
  return value?.bytes === undefined ? Buffer.from(value?.text ?? '') : Buffer.from(value.bytes, 'base64')
}
