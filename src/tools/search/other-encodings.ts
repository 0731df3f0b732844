import { join } from 'node:path'
import type { ToolContext } from '../../core/tool.ts'
import { detectFormat } from '../text/format.ts'
import { createPathStream } from './path-stream.ts'
import type { Ripgrep, RipgrepQuery } from './ripgrep.ts'

// ripgrep reads UTF-8, and UTF-16 with a byte order mark. Of other text it is told the encoding, when one file is
// searched; in a folder it passes over what holds a NUL, and finds only ASCII in the rest.

const HEAD = 256 * 1024

/** The encoding that ripgrep has to be told for a file, by any path that the call may read; undefined for UTF-8 and binary files. */
export async function encodingOf(path: string, { files }: ToolContext): Promise<string | undefined> {
  const file = await files.open(path)
  try {
    const format = detectFormat(await file.read(0, HEAD))
    return format === null || format.encoding === 'utf-8' || format.bomLength > 0
      ? undefined
      : format.encoding
  } finally {
    file.close()
  }
}

/** Encodings that are tried for a pattern with letters of a script. */
const LEGACY: readonly (readonly [RegExp, readonly string[]])[] = [
  [/[\u3040-\u30ff]/, ['shift_jis', 'euc-jp']],
  [/[\uac00-\ud7a3]/, ['euc-kr']],
  [/[\u3000-\u303f\u4e00-\u9fff]/, ['shift_jis', 'euc-jp', 'gbk', 'big5', 'euc-kr']],
  [/[\u0400-\u04ff]/, ['windows-1251', 'koi8-r']],
  [/[\u0370-\u03ff]/, ['windows-1253']],
  [/[\u0590-\u05ff]/, ['windows-1255']],
  [/[\u0600-\u06ff]/, ['windows-1256']],
  [/[\u0e00-\u0e7f]/, ['windows-874']],
  [/[\u00a0-\u024f]/, ['windows-1252', 'windows-1250', 'windows-1254']],
]
const MOST_FOUND = 20

/**
 * Files below a folder where the pattern is, although a search finds none: they hold a NUL or are in another encoding.
 * Up to 20 of them, within a second.
 */
export async function findUnsearched(
  ripgrep: Ripgrep,
  query: RipgrepQuery,
  accepts: (path: string) => boolean,
  context: ToolContext,
): Promise<string[]> {
  const script = LEGACY.flatMap(([letters, encodings]) => (letters.test(query.pattern) ? encodings : []))
  const found = await Promise.all([
    filesThatMatch(ripgrep, { ...query, output: ['--text'] }, accepts, context.signal),
    ...[...new Set(['utf-16le', ...script])].map(async encoding => {
      const files = await filesThatMatch(ripgrep, { ...query, encoding }, accepts, context.signal)
      // In the wrong encoding bytes may read as anything: only files that are in it count.
      const encodings = await Promise.all(
        files.map(path => encodingOf(join(query.folder, path), context).catch(() => undefined)),
      )
      return files.filter((_, index) => encodings[index] === encoding)
    }),
  ])
  return [...new Set(found.flat())].sort()
}

async function filesThatMatch(
  ripgrep: Ripgrep,
  query: RipgrepQuery,
  accepts: (path: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const stream = createPathStream({ accepts, counts: false })
  await ripgrep(
    { ...query, output: [...query.output, '--files-with-matches', '--null'] },
    {
      signal,
      timeoutMs: 1000,
      onOutput: chunk => {
        stream.push(chunk)
        return stream.summary().fileCount < MOST_FOUND
      },
    },
  )
  return stream
    .summary()
    .files.map(file => file.path)
    .slice(0, MOST_FOUND)
}
