import { counted } from '../../core/counted.ts'
import { ToolError } from '../../core/errors.ts'
import { closestRegion, nameOf } from './closest-region.ts'
import { MOST_MATCHES } from './ladder.ts'
import { lineNumbers } from './lines.ts'
import { findMisquote } from './misquote.ts'
import type { Refused } from './plan.ts'
import type { Edit, Refusal, Region } from './types.ts'

const SHOWN_PLACES = 5

/** The error of an edit that was refused: what is in the way, where, and what to do now. */
export function explainRefusal(
  { before, refusal }: Refused,
  edits: readonly Edit[],
  path: string,
): ToolError {
  const which = 'edit' in refusal && edits.length > 1 ? ` (edit ${refusal.edit + 1} of ${edits.length})` : ''
  switch (refusal.reason) {
    case 'empty':
      return new ToolError('invalid_input', `old_string must not be empty${which}.`, {
        hint: 'To create or replace a whole file use write_file; to insert text, quote the lines next to the place.',
      })
    case 'identical':
      return new ToolError('invalid_input', `old_string and new_string are identical${which}.`, {
        hint: 'Nothing needs to be done, or one of them is not what you meant.',
      })
    case 'no_change':
      return new ToolError(
        'conflict',
        `The edit${which} would not change ${path}: it already contains new_string.`,
      )
    case 'too_many':
      return new ToolError(
        'conflict',
        `old_string${which} is in ${path} more than ${MOST_MATCHES.toLocaleString('en')} times.`,
        {
          hint: 'Quote a longer piece, or use a program for this.',
        },
      )
    case 'not_text':
      return new ToolError('failed', `${path} is not text in one encoding, so it cannot be edited safely.`, {
        hint: 'Look at its bytes with read_file and hex: true, or replace it as a whole with write_file.',
      })
    case 'not_found':
      return notFound(before, edits, refusal, path, which)
    case 'unencodable':
      return new ToolError(
        'conflict',
        refusal.certain
          ? `${path} is in ${refusal.encoding}, which has no character ${nameOf(refusal.character)}${which}.`
          : `The encoding of ${path} is not certain (probably ${refusal.encoding}), so ${nameOf(refusal.character)} cannot be written into it${which}.`,
        { hint: 'Use ASCII in new_string, or convert the file to UTF-8 first.' },
      )
    default:
      return explainPlaces(before, refusal, path, which)
  }
}

type AboutPlaces = Extract<Refusal, { region: Region } | { regions: readonly Region[] }>

/** Refusals that name the places in question. */
function explainPlaces(before: string, refusal: AboutPlaces, path: string, which: string): ToolError {
  const where = places(before, 'regions' in refusal ? refusal.regions : [refusal.region])
  switch (refusal.reason) {
    case 'ambiguous':
      return new ToolError(
        'conflict',
        `old_string${which} is not unique in ${path}: ${countOf(refusal.regions)} matches, at ${where}.`,
        {
          hint: 'Quote more of the lines around the place that you mean, or pass replace_all: true to change all.',
        },
      )
    case 'count':
      return new ToolError(
        'conflict',
        `${counted(refusal.regions.length, 'match', 'matches')} instead of the expected ${refusal.expected} in ${path}${which}: ${where}.`,
        { hint: 'Check expected_replacements, or quote more of the lines around the place that you mean.' },
      )
    case 'unread':
      return new ToolError(
        'conflict',
        `old_string${which} is not in ${path} exactly; only text with other whitespace matches (${where}), and this run has not read the file.`,
        { hint: 'Read the file, then edit with the text as it stands there.' },
      )
    case 'overlap':
      return new ToolError(
        'conflict',
        `Edits ${refusal.other + 1} and ${refusal.edit + 1} change the same place of ${path} (${where}).`,
        {
          hint: 'Merge them into one edit. All edits are matched against the file as it was before the call.',
        },
      )
    case 'damaged':
      return new ToolError(
        'conflict',
        `The place to edit in ${path} (${where}) holds bytes that are not valid UTF-8.`,
        {
          hint: 'Quote a shorter piece without them.',
        },
      )
  }
}

function countOf(regions: readonly Region[]): string {
  return regions.length > 1000 ? 'more than 1,000' : String(regions.length)
}

function places(before: string, regions: readonly Region[]): string {
  const shown = regions.slice(0, SHOWN_PLACES).map(region => {
    const { first, last } = lineNumbers(before, region)
    return first === last ? `line ${first}` : `lines ${first}-${last}`
  })
  return shown.join(', ') + (regions.length > shown.length ? ' and more' : '')
}

function notFound(
  before: string,
  edits: readonly Edit[],
  refusal: { edit: number; inOtherEdit: number | undefined },
  path: string,
  which: string,
): ToolError {
  const message = `old_string was not found in ${path}${which}.`
  const edit = edits[refusal.edit]
  if (refusal.inOtherEdit !== undefined) {
    return new ToolError('not_found', `${message} It is in new_string of edit ${refusal.inOtherEdit + 1}.`, {
      hint: 'All edits are matched against the file as it was before the call: merge the two edits.',
    })
  }
  if (edit === undefined) return new ToolError('not_found', message)
  const present = edit.newText.trim().length > 3 ? before.indexOf(edit.newText) : -1
  if (present !== -1) {
    const { first } = lineNumbers(before, { start: present, end: present + edit.newText.length })
    return new ToolError('not_found', `${message} new_string is there already, at line ${first}.`, {
      hint: 'The edit may have been made before: read the file.',
    })
  }
  const misquote = findMisquote(before, edit.oldText)
  const closest = misquote?.isThere ? undefined : closestRegion(before, misquote?.meant ?? edit.oldText)
  const said = [message, misquote?.problem, closest].filter(part => part !== undefined)
  return new ToolError('not_found', said.join(' '), {
    hint: misquote?.hint ?? 'Copy old_string from the file as it is now: read it again.',
  })
}
