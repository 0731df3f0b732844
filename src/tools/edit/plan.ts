import { type Decoded, decodeDocument, encodeText } from '../text/codec.ts'
import { detectFormat, type TextFormat } from '../text/format.ts'
import { climb, type Haystack, haystack, MOST_MATCHES } from './ladder.ts'
import type { Edit, Match, Refusal, Splice } from './types.ts'

export interface Plan {
  readonly ok: true
  readonly format: TextFormat
  readonly before: string
  /** In the order of the file; `edit` is the index of the edit that asked for it. */
  readonly matches: readonly (Match & { edit: number })[]
  /** In the order of the file. No byte outside them changes. */
  readonly splices: readonly Splice[]
}

export type Refused = { readonly ok: false; readonly before: string; readonly refusal: Refusal }

export interface PlanOptions {
  /** Whether the run has read the file, so that other whitespace than in the file may be taken for a slip. */
  readonly isKnown: boolean
}

/** Finds what to replace. All edits are matched against the original, and either all of them apply or none. Pure. */
export function planEdits(
  original: Uint8Array,
  edits: readonly Edit[],
  options: PlanOptions,
): Plan | Refused {
  const format = detectFormat(original)
  const document = format === null ? null : decodeDocument(original, format)
  if (format === null || document === null) return { ok: false, before: '', refusal: { reason: 'not_text' } }
  const before = document.text
  const refuse = (refusal: Refusal): Refused => ({ ok: false, before, refusal })
  const hay = haystack(before)
  const matches: (Match & { edit: number })[] = []
  for (const [index, edit] of edits.entries()) {
    const found = findOne(hay, edits, index, options)
    if ('reason' in found) return refuse(found)
    for (const match of found) {
      const region = before.slice(match.start, match.end)
      if (format.damaged && region.includes('\uFFFD'))
        return refuse({ reason: 'damaged', edit: index, region: match })
      matches.push({ ...match, edit: index })
    }
    if (found.every(match => before.slice(match.start, match.end) === match.replacement)) {
      return refuse({ reason: 'no_change', edit: index })
    }
    const problem = unencodable(edit, index, format)
    if (problem !== undefined) return refuse(problem)
  }
  matches.sort((a, b) => a.start - b.start || a.end - b.end)
  const overlap = findOverlap(matches)
  if (overlap !== undefined) return refuse(overlap)
  const splices = toSplices(document, format, matches)
  return splices === null ? refuse({ reason: 'not_text' }) : { ok: true, format, before, matches, splices }
}

/** The bytes after the splices. */
export function applySplices(original: Uint8Array, splices: readonly Splice[]): Uint8Array {
  const pieces: Uint8Array[] = []
  let at = 0
  for (const splice of splices) {
    pieces.push(original.subarray(at, splice.start), splice.bytes)
    at = splice.end
  }
  pieces.push(original.subarray(at))
  return Buffer.concat(pieces)
}

/** The text after the matches, for showing. */
export function applyMatches(before: string, matches: readonly Match[]): string {
  const pieces: string[] = []
  let at = 0
  for (const match of matches) {
    pieces.push(before.slice(at, match.start), match.replacement)
    at = match.end
  }
  pieces.push(before.slice(at))
  return pieces.join('')
}

function findOne(
  hay: Haystack,
  edits: readonly Edit[],
  index: number,
  { isKnown }: PlanOptions,
): readonly Match[] | Refusal {
  const edit = edits[index]
  if (edit === undefined || edit.oldText === '') return { reason: 'empty', edit: index }
  if (edit.oldText === edit.newText) return { reason: 'identical', edit: index }
  const all = edit.replaceAll || edit.expected !== undefined
  const matches = climb(hay, { ...edit, replaceAll: all })
  const [first] = matches
  if (first === undefined) {
    const other = edits.findIndex((each, at) => at < index && each.newText.includes(edit.oldText))
    return { reason: 'not_found', edit: index, inOtherEdit: other === -1 ? undefined : other }
  }
  if (matches.length > MOST_MATCHES) return { reason: 'too_many', edit: index }
  if (edit.expected !== undefined && matches.length !== edit.expected) {
    return { reason: 'count', edit: index, expected: edit.expected, regions: matches }
  }
  if (!all && matches.length > 1) return { reason: 'ambiguous', edit: index, regions: matches }
  if (first.rung === 'whitespace' && !isKnown) return { reason: 'unread', edit: index, region: first }
  return matches
}

function findOverlap(matches: readonly (Match & { edit: number })[]): Refusal | undefined {
  for (const [index, match] of matches.entries()) {
    const next = matches[index + 1]
    if (next === undefined) return undefined
    const samePlace = next.start === match.start && next.end === match.end
    if (next.start < match.end || samePlace) {
      return { reason: 'overlap', edit: next.edit, other: match.edit, region: next }
    }
  }
  return undefined
}

/** A guessed encoding is good enough to show a text, not to write letters in it. */
function unencodable(edit: Edit, index: number, format: TextFormat): Refusal | undefined {
  const { encoding, certain } = format
  if (certain && encoding.startsWith('utf')) return undefined
  for (const character of edit.newText) {
    const known = edit.oldText.includes(character) || (character.codePointAt(0) ?? 0) < 0x80
    if (known) continue
    if (!certain || encodeText(character, encoding) === null) {
      return { reason: 'unencodable', edit: index, encoding, certain, character }
    }
  }
  return undefined
}

function toSplices(document: Decoded, format: TextFormat, matches: readonly Match[]): Splice[] | null {
  const offsets = document.byteOffsets(matches.flatMap(match => [match.start, match.end]))
  if (offsets === null) return null
  const splices: Splice[] = []
  for (const [index, match] of matches.entries()) {
    const start = offsets[2 * index]
    const end = offsets[2 * index + 1]
    const bytes = encodeText(match.replacement, format.encoding)
    if (start === undefined || end === undefined || bytes === null) return null
    splices.push({ start, end, bytes })
  }
  return splices
}
