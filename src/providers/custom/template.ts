import { type Command, type ParsedScript, parse, type Word } from 'unbash'
import { commandsOf, refuseCodeInLine } from './code-in-line.ts'
import { runsNothing } from './free-values.ts'
import { TemplateError } from './template-error.ts'

// A template is parsed once, when its tool is registered. Values never become part of a shell's syntax: in a simple
// command they are arguments of a program that is started without a shell, and elsewhere whole quoted words.

export interface Template {
  /** Program and arguments, when the template is one simple command; otherwise bash has to read the line. */
  readonly words: readonly TemplateWord[] | null
  readonly source: string
  /** Words of `source` that hold placeholders, in order. */
  readonly slots: readonly Slot[]
  readonly placeholders: ReadonlySet<string>
}

interface TemplateWord {
  readonly pos: number
  /** Literal text and parameter names, alternating as they stand. */
  readonly pieces: readonly Piece[]
}

type Piece = { readonly text: string } | { readonly parameter: string }

interface Slot {
  readonly pos: number
  readonly end: number
  readonly pieces: readonly Piece[]
  /** The flag before the word: it goes when an optional value is left out. */
  readonly flag: { readonly name: string; readonly pos: number } | null
  /** A `--` stands before the word, so a value that begins with a dash cannot be an option. */
  readonly afterDashes: boolean
}

const PLACEHOLDER = /\{([A-Za-z_]\w*)\}/g

/** `isFree`: a parameter that can be any text; numbers and values of a list cannot. */
export function parseTemplate(
  source: string,
  parameters: ReadonlySet<string>,
  isFree: (parameter: string) => boolean = () => true,
): Template {
  const script = parse(source)
  const error = script.errors?.[0]
  if (error !== undefined)
    throw new TemplateError(`The command is not valid shell syntax: ${error.message}.`, error.pos)
  const slots = new Map<number, Slot>()
  for (const command of commandsOf(script))
    for (const slot of slotsOf(command, parameters, isFree)) slots.set(slot.pos, slot)
  refuseStrayPlaceholders(source, parameters, [...slots.values()])
  const ordered = [...slots.values()].sort((a, b) => a.pos - b.pos)
  refuseCodeInLine(
    script,
    ordered.flatMap(({ pos, pieces }) => {
      const name = parameterNames(pieces).find(isFree)
      return name === undefined ? [] : [{ pos, name }]
    }),
  )
  return {
    source,
    slots: ordered,
    words: simpleWords(script, parameters),
    placeholders: new Set(ordered.flatMap(({ pieces }) => parameterNames(pieces))),
  }
}

function slotsOf(
  command: Command,
  parameters: ReadonlySet<string>,
  isFree: (parameter: string) => boolean,
): Slot[] {
  const words = command.suffix.filter((node): node is Word => node.type === 'Word')
  const program = (command.name?.value ?? '').replace(/^\/(?:usr\/)?(?:local\/)?bin\//, '')
  return words.flatMap((word, index) => {
    const pieces = toPieces(word.text, parameters)
    if (parameterNames(pieces).length === 0) return []
    const [name = ''] = parameterNames(pieces)
    if (word.parts !== undefined || /['"\\`$]/.test(word.text)) {
      throw new TemplateError(
        `{${name}} is inside quotes or an expansion. Write it without them: a value is always passed as one argument.`,
        word.pos,
      )
    }
    if (/^--?[\w-]*$/.test(textBefore(pieces)) && !/^-\w+$/.test(textBefore(pieces))) {
      throw new TemplateError(
        `{${name}} would decide which option it is. Write the option, and the value behind it or behind =.`,
        word.pos,
      )
    }
    const before = words[index - 1]
    const flag =
      before !== undefined && /^-./.test(before.value) && before.value !== '--' ? before : undefined
    const option = attachedOption(pieces) ?? flag?.value ?? ''
    const free = parameterNames(pieces).find(isFree)
    if (free !== undefined && !runsNothing(program, words, index, option))
      throw new TemplateError(
        `{${free}} can be any text, and '${program}' is not on the list of programs that never run an argument. ` +
          `Give {${free}} a list of values ("enum"), send it on standard input (printf %s {${free}} | …), or write a script.`,
        word.pos,
      )
    return {
      pos: word.pos,
      end: word.end,
      pieces,
      flag: flag === undefined ? null : { name: flag.value, pos: flag.pos },
      afterDashes: words.slice(0, index).some(other => other.value === '--'),
    }
  })
}

/** What stands in the word before its first placeholder. */
function textBefore([first]: readonly Piece[]): string {
  return first !== undefined && 'text' in first ? first.text : ''
}

/** `--eval={code}` and `-e{code}` are the option with its value. */
function attachedOption([first]: readonly Piece[]): string | undefined {
  if (first === undefined || !('text' in first)) return undefined
  return /^(--[\w-]+)=|^(-\w+)$/.exec(first.text)?.slice(1).find(Boolean)
}

function toPieces(text: string, parameters: ReadonlySet<string>): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [whole, parameter = ''] = match
    if (!parameters.has(parameter)) continue
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) })
    pieces.push({ parameter })
    from = match.index + whole.length
  }
  if (from < text.length) pieces.push({ text: text.slice(from) })
  return pieces
}

function parameterNames(pieces: readonly Piece[]): string[] {
  return pieces.flatMap(piece => ('parameter' in piece ? [piece.parameter] : []))
}

/** Every placeholder has to stand in a plain argument; one in a comment, here-document or redirect is refused. */
function refuseStrayPlaceholders(
  source: string,
  parameters: ReadonlySet<string>,
  slots: readonly Slot[],
): void {
  for (const match of source.matchAll(PLACEHOLDER)) {
    const name = match[1] ?? ''
    if (!parameters.has(name)) {
      // `awk '{print}'` is no placeholder; a bare {titel} is a typing error.
      if (isInsideQuotes(source, match.index)) continue
      throw new TemplateError(`{${name}} is not a parameter of this tool.`, match.index)
    }
    if (slots.some(({ pos, end }) => match.index >= pos && match.index < end)) continue
    throw new TemplateError(
      `{${name}} can only stand for an argument: not for the program, and not inside quotes, comments, substitutions, ` +
        'assignments, here-documents or redirects.',
      match.index,
    )
  }
}

function isInsideQuotes(source: string, offset: number): boolean {
  let quote = ''
  for (let i = 0; i < offset; i++) {
    const char = source[i] ?? ''
    if (quote === '' && char === '\\') i++
    else if (quote === '' && (char === "'" || char === '"')) quote = char
    else if (char === quote) quote = ''
  }
  return quote !== ''
}

/** The words of a template that is one command without anything for a shell to do. */
function simpleWords(script: ParsedScript, parameters: ReadonlySet<string>): TemplateWord[] | null {
  const [statement, ...more] = script.commands
  if (statement === undefined || more.length > 0 || statement.background === true) return null
  const { command } = statement
  if (command.type !== 'Command' || command.name === undefined || command.prefix.length > 0) return null
  const nodes = [command.name, ...command.suffix]
  const words = nodes.filter((node): node is Word => node.type === 'Word')
  if (words.length !== nodes.length || !words.every(isLiteral)) return null
  return words.map(word => ({
    pos: word.pos,
    pieces:
      word.parts === undefined && !word.text.includes('\\')
        ? toPieces(word.text, parameters)
        : [{ text: word.value }],
  }))
}

/** Bash passes it on as it stands, quotes removed. */
function isLiteral(word: Word): boolean {
  const quotedOnly = (word.parts ?? []).every(
    part =>
      part.type === 'Literal' ||
      part.type === 'SingleQuoted' ||
      (part.type === 'DoubleQuoted' && part.parts.every(inner => inner.type === 'Literal')),
  )
  const bare = (word.parts ?? []).length === 0 ? word.text : literalText(word)
  return quotedOnly && !/[*?[\]~]|\{[^{}]*(?:,|\.\.)[^{}]*\}/.test(bare)
}

function literalText(word: Word): string {
  return (word.parts ?? []).map(part => (part.type === 'Literal' ? part.text : '')).join('')
}
