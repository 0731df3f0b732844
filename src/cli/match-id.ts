import { UsageError } from './command.ts'

const MOST_SHOWN = 10

/** The one id that begins as given; the given text itself when none does, so that whoever asked says what is missing. */
export function matchId(
  given: string,
  kind: 'call' | 'run' | 'question' | 'agent',
  ids: Iterable<string>,
): string {
  // As help and documents shorten them.
  const start = given.replace(/…$/, '')
  const found = new Set<string>()
  for (const id of ids) {
    if (id === start) return id
    if (start !== '' && id.startsWith(start)) found.add(id)
  }
  const [first, ...others] = found
  if (first === undefined) return given
  if (others.length === 0) return first
  const shown = [first, ...others].slice(0, MOST_SHOWN)
  const more = found.size > MOST_SHOWN ? `\n  and ${found.size - MOST_SHOWN} more` : ''
  throw new UsageError(
    `'${given}' is the start of ${found.size} ${kind} ids:\n${shown.map(id => `  ${id}`).join('\n')}${more}`,
    'Type more of it.',
  )
}

/** Nothing has to be looked up for it. */
export function isWholeCallId(id: string): boolean {
  return /^(call|undo)_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
}
