import type { FileMatches, MatchStream } from './match-stream.ts'

const NUL = 0
const NEWLINE = 10

/**
 * Reads ripgrep's lists of paths, each ended by NUL and, with `counts`, followed by a number and a line feed. No name,
 * whatever it holds, can pass for two.
 */
export function createPathStream(options: { accepts(path: string): boolean; counts: boolean }): MatchStream {
  const files: FileMatches[] = []
  let rest: Uint8Array = new Uint8Array()
  const end = options.counts ? NEWLINE : NUL
  const add = (record: Uint8Array): void => {
    const text = Buffer.from(record.buffer, record.byteOffset, record.length)
    const cut = options.counts ? text.indexOf(NUL) : text.length
    const path = text.toString('utf8', 0, cut).replace(/^\.\//, '')
    if (cut === -1 || !options.accepts(path)) return
    const matches = options.counts ? Number(text.toString('latin1', cut + 1)) : 1
    files.push({ path, matches, kept: [], keptMatches: 0, reachable: 0 })
  }
  return {
    push(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let from = 0
      for (;;) {
        // A name may hold line feeds: the one that ends a record comes after its NUL.
        const nul = options.counts ? bytes.indexOf(NUL, from) : from
        const at = nul === -1 ? -1 : bytes.indexOf(end, nul)
        if (at === -1) break
        add(bytes.subarray(from, at))
        from = at + 1
      }
      rest = bytes.slice(from)
    },
    summary() {
      const matches = files.reduce((sum, file) => sum + file.matches, 0)
      return { files, fileCount: files.length, matches, matchedLines: matches, reachable: matches }
    },
  }
}
