import { ToolError } from '../../core/errors.ts'
import { countLines } from '../../core/unified-diff.ts'
import { findPlaceholders } from '../text/placeholders.ts'
import type { Edit } from './types.ts'

/** Stops an edit that puts a line such as "rest of the code unchanged" where there was text. */
export function refusePlaceholders(before: string, edits: readonly Edit[], shown: string): void {
  for (const [index, edit] of edits.entries()) {
    const found = placeholderOf(edit, before)
    if (found === undefined || !removesText(edit)) continue
    const which = edits.length > 1 ? ` (edit ${index + 1} of ${edits.length})` : ''
    throw new ToolError(
      'conflict',
      `Line ${found.line} of new_string${which} stands in for text that is not there ("${found.text.slice(0, 80)}"); the edit would remove that text from ${shown}.`,
      {
        hint: 'Write the text out, or quote less in old_string. If the line is meant literally, pass allow_shrink: true.',
      },
    )
  }
}

/** A remark on an edit that was made: such a line stands in for nothing, but hardly anybody wants it in a file. */
export function placeholderNote(edits: readonly Edit[], before: string): string {
  const found = edits.map(edit => placeholderOf(edit, before)).find(each => each !== undefined)
  return found === undefined ? '' : `new_string holds what looks like a placeholder: ${found.text}`
}

function placeholderOf(
  { oldText, newText }: Edit,
  before: string,
): { line: number; text: string } | undefined {
  return findPlaceholders(newText, before, countLines(newText) < countLines(oldText))[0]
}

/** Whether a line of the old text is not in the new one. */
function removesText({ oldText, newText }: Edit): boolean {
  const kept = new Set(linesOf(newText))
  return linesOf(oldText).some(line => line !== '' && !kept.has(line))
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/).map(line => line.trim())
}
