/** Of one message. The SDK gives up for good at a line of 10 MiB, and then nobody reads what the client says next. */
export const LONGEST_LINE = 10_000_000

const LINE_FEED = 10
/** Where the id of a request stands, as clients write it. */
const ENDS = 200

interface LongLines {
  /** Whether the piece belongs to a line that comes in pieces. */
  take(piece: Buffer): boolean
  /** The input has ended, perhaps within a line. */
  end(): void
}

/** Lines that come in pieces: passed on when they are whole, and answered when they are too long. */
export function longLines(
  pass: (piece: Buffer) => void,
  refuse: (id: string | number | null) => void,
): LongLines {
  let pieces: Buffer[] = []
  let length = 0
  let beginning = ''
  const passAll = (): void => {
    for (const piece of pieces) pass(piece)
  }
  const forget = (): void => {
    pieces = []
    length = 0
  }
  return {
    take(piece) {
      const isEnd = piece.at(-1) === LINE_FEED
      if (length === 0 && isEnd && piece.length <= LONGEST_LINE) return false
      if (length === 0) beginning = piece.toString('utf8', 0, ENDS)
      length += piece.length
      pieces.push(piece)
      // Only the last pieces are of use: an id may end the line.
      if (length > LONGEST_LINE) pieces = pieces.slice(-2)
      if (!isEnd) return true
      if (length <= LONGEST_LINE) passAll()
      else refuse(idOf(beginning, Buffer.concat(pieces).subarray(-ENDS).toString('utf8')))
      forget()
      return true
    },
    end() {
      if (length <= LONGEST_LINE) passAll()
      forget()
    },
  }
}

/** Without reading the message. Null when its id cannot be told. */
function idOf(beginning: string, ending: string): string | number | null {
  const ID = String.raw`"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")`
  const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`
  const found =
    new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}`).exec(beginning) ??
    new RegExp(String.raw`\}\s*,\s*(?:${VERSION}\s*,\s*)?${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`).exec(ending)
  return found?.[1] === undefined ? null : JSON.parse(found[1])
}
