import { ToolError } from '../../core/errors.ts'
import { quoteWord, toShellLine } from '../../core/shell-words.ts'
import type { Template } from './template.ts'

export type Values = Readonly<Record<string, string | number | boolean | undefined>>

/** What to start: a program with its arguments, or a line for bash in which every value is one quoted word. */
export type Rendered = { readonly argv: readonly string[] } | { readonly line: string }

/** Puts values into a template. A value stays one argument, whatever is in it. */
export function render(template: Template, values: Values): Rendered {
  const filled = template.slots.map(slot => fill(slot, values))
  const dropped = new Set(filled.flatMap(({ dropFlagAt }) => (dropFlagAt === null ? [] : [dropFlagAt])))
  if (template.words === null) return { line: renderLine(template, filled) }
  const byPosition = new Map(filled.map(slot => [slot.pos, slot]))
  const argv = template.words.flatMap(word => {
    const slot = byPosition.get(word.pos)
    if (slot !== undefined) return slot.text === null ? [] : [slot.text]
    return dropped.has(word.pos) ? [] : word.pieces.map(piece => ('text' in piece ? piece.text : ''))
  })
  return { argv }
}

/** The same as one line, for the person who is asked, rules and the record. */
export function toLine(rendered: Rendered): string {
  return 'line' in rendered ? rendered.line : toShellLine(rendered.argv)
}

interface Filled {
  readonly pos: number
  readonly end: number
  /** Null when an optional value is missing, and the word goes. */
  readonly text: string | null
  /** Start of the flag before it that goes, or became part of the word. */
  readonly dropFlagAt: number | null
}

function fill({ pos, end, pieces, flag, afterDashes }: Template['slots'][number], values: Values): Filled {
  const [only, ...more] = pieces
  const isWhole = more.length === 0
  let text = ''
  for (const piece of pieces) {
    const value = 'text' in piece ? piece.text : values[piece.parameter]
    if (value === undefined) return { pos, end, text: null, dropFlagAt: isWhole ? (flag?.pos ?? null) : null }
    text += String(value)
  }
  if (text.includes('\0')) throw new ToolError('invalid_input', 'A value cannot contain a NUL character.')
  const mayBeOption = text.startsWith('-') && text.length > 1 && !afterDashes
  if (!mayBeOption || only === undefined || 'text' in only) return { pos, end, text, dropFlagAt: null }
  // `--title=-x` cannot be taken for an option, `--title -x` can.
  if (isWhole && flag?.name.startsWith('--')) {
    return { pos, end, text: `${flag.name}=${text}`, dropFlagAt: flag.pos }
  }
  throw new ToolError(
    'invalid_input',
    `'${only.parameter}' cannot begin with a dash: the command would take it for an option.`,
    {
      hint: `Put -- before {${only.parameter}} in the tool's command if it takes such values.`,
    },
  )
}

function renderLine({ source }: Template, filled: readonly Filled[]): string {
  let line = ''
  let from = 0
  for (const { pos, end, text, dropFlagAt } of filled) {
    line += source.slice(from, dropFlagAt ?? pos) + (text === null ? '' : quoteWord(text))
    from = end
  }
  return line + source.slice(from)
}
