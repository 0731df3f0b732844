import type { ToolContext } from '../../core/tool.ts'
import { cutAtGrapheme } from '../text/cut.ts'
import type { ShownLine } from './match-stream.ts'

// A line of more than a megabyte is not kept. ripgrep says behind its text where in the file the match is, and a window
// around that place is read when the line is shown.

/** Collects one line of ripgrep's JSON that is too long to keep. */
export interface LongLine {
  push(chunk: Uint8Array): void
  end(): ShownLine
}

/** Quotes inside of JSON strings have a backslash: this is nowhere in the text of a line. */
const MARKER = '},"line_number":'
/** Enough for the numbers behind the marker and a match of some length. */
const KEPT = 64 * 1024

export function createLongLine(start: Uint8Array): LongLine {
  // {"type":"match",… or {"type":"context",…
  const isMatch = start[9] === 0x6d
  let last = Buffer.alloc(0)
  let behind: Buffer | undefined
  const push = (chunk: Uint8Array): void => {
    last = Buffer.concat([last.subarray(-128), chunk])
    if (behind === undefined) {
      const at = last.indexOf(MARKER)
      if (at !== -1) behind = Buffer.from(last.subarray(at, at + KEPT))
    } else if (behind.length < KEPT) {
      behind = Buffer.concat([behind, chunk])
    }
  }
  push(start)
  return {
    push,
    end() {
      const text = behind?.toString('latin1', 0, KEPT) ?? ''
      const line = numberAfter('line_number', text) ?? 0
      // The match itself may be so long that only the end of the record tells where it is.
      const tail = last.subarray(-128).toString('latin1')
      const before = numberAfter('start', text) ?? numberAfter('start', tail) ?? 0
      const at = (numberAfter('absolute_offset', text) ?? 0) + before
      return { line, end: line, text: TOO_LONG, isMatch, place: { at, before } }
    },
  }
}

const TOO_LONG = '[a line of more than 1 MB, too long to show]'

function numberAfter(key: string, text: string): number | undefined {
  const digits = new RegExp(`"${key}":(\\d+)`).exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

const BYTES_BEFORE = 512
const BYTES_AFTER = 2048
const CHARACTERS = { before: 125, after: 375 }

/** The lines with a piece around the match where a line is too long. Places count bytes of UTF-8 files only. */
export async function withLongLines(
  lines: readonly ShownLine[],
  path: string,
  { files }: ToolContext,
): Promise<readonly ShownLine[]> {
  if (!lines.some(line => line.place !== undefined)) return lines
  // Gone since it was searched.
  const file = await files.open(path).catch(() => undefined)
  if (file === undefined) return lines
  try {
    const mark = Buffer.from(await file.read(0, 2)).toString('hex')
    if (mark === 'fffe' || mark === 'feff') return lines
    return await Promise.all(
      lines.map(async line => {
        if (line.place === undefined) return line
        const { at, before } = line.place
        const from = at - Math.min(before, BYTES_BEFORE)
        const bytes = await file.read(from, at - from + BYTES_AFTER)
        return { ...line, text: windowOf(Buffer.from(bytes), at - from, before) }
      }),
    )
  } finally {
    file.close()
  }
}

/** A piece of a line, with whole characters at both ends. `start` is the match in it, `before` what the line has in front. */
function windowOf(bytes: Buffer, start: number, before: number): string {
  const front = bytes.toString('utf8', 0, start).slice(-CHARACTERS.before)
  const isWhole = Buffer.byteLength(front) === before
  const left = isWhole ? front : withoutFirst(front)
  const [rest = ''] = bytes.toString('utf8', start).split(/\r?\n/, 1)
  const right = cutAtGrapheme(rest, CHARACTERS.after)
  const count = before - Buffer.byteLength(left)
  return `${isWhole ? '' : `[${count} bytes] …`}${left}${right}${right.length < rest.length ? '…' : ''}`
}

/** The first character may be half of one. */
function withoutFirst(text: string): string {
  const [first] = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)
  return text.slice(first?.segment.length ?? 0)
}
