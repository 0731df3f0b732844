import { summarizeDiff } from '../../core/unified-diff.ts'
import { decodeDocument } from '../text/codec.ts'
import { detectFormat } from '../text/format.ts'

const MOST_CHARACTERS = 4000

/** What somebody else changed since the run saw a file: the difference, or that it is not known any more. */
export function describeChange(seen: Uint8Array | undefined, now: string, shown: string): string {
  const then = seen === undefined ? null : textOf(seen)
  const diff = then === null ? null : summarizeDiff(then, now, shown).diff
  if (diff === null || diff === '') {
    return 'The file was changed since it was read; its earlier content is no longer known.'
  }
  return `The file was changed since it was read:\n${shortened(diff)}`
}

function textOf(bytes: Uint8Array): string | null {
  const format = detectFormat(bytes)
  return format === null ? null : (decodeDocument(bytes, format)?.text ?? null)
}

function shortened(diff: string): string {
  if (diff.length <= MOST_CHARACTERS) return diff
  const end = diff.lastIndexOf('\n', MOST_CHARACTERS)
  const cut = end === -1 ? MOST_CHARACTERS : end
  return `${diff.slice(0, cut)}\n[diff cut: ${diff.length - cut} characters more]\n`
}
