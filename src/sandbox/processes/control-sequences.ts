/**
 * Text as a terminal would have shown it, for readers that are not terminals. Escape sequences could hide or repaint
 * what a person approves, and cost a model tokens; of a line that was drawn over (a progress bar) the last state stays.
 */
export function stripControlSequences(text: string): string {
  if (!CONTROL.test(text)) return text
  return text
    .replace(STRINGS, '')
    .replace(SEQUENCES, '')
    .split('\n')
    .map(lastDrawn)
    .join('\n')
    .replace(/[^\n\b]\x08/g, '')
    .replace(LEFT_OVER, '')
}

function lastDrawn(line: string): string {
  const drawn = line.endsWith('\r') ? line.slice(0, -1) : line
  return drawn.slice(drawn.lastIndexOf('\r') + 1)
}

const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/
/** Commands with a text in them (titles, links, images), ended by BEL or ST; an unended one reaches to the next line. */
const STRINGS = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?/g
/** Colours, movements of the cursor, and the short ones. */
const SEQUENCES = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g
const LEFT_OVER = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
