import { type Command, forEachChild, type ParsedScript, parse, type SyntaxNode, type Word } from 'unbash'

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

/** Why a template cannot be used, with the place in it. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const PLACEHOLDER = /\{([A-Za-z_]\w*)\}/g

/** Programs that run their arguments, or read code from them: a value there would be a command. */
const RUNS_ITS_ARGUMENTS = new Set(
  (
    'eval exec source . command builtin xargs ssh su sudo doas env nice nohup setsid timeout time ' +
    'watch parallel trap busybox stdbuf ionice taskset unshare nsenter bwrap chroot flock script setpriv runuser pkexec strace'
  ).split(' '),
)
/** The same of their first operand only; what follows are arguments of what it names. */
const RUNS_ITS_FIRST = new Set('npx bunx pnpx uvx pipx'.split(' '))
const SHELL = /^(?:.*\/)?(?:ba|rba|da|a|z|k|mk|fi|c|tc|pw)?sh$/
/** Interpreters whose next argument is code after one of these flags. */
const INTERPRETERS =
  /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|awk|gawk|mawk|sed|jq|osascript)$/
/** Those that read a program from their input when they are given no file. */
const INPUT_INTERPRETER = /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua)$/
/** Those for which every line of their input is a command. */
const LINES_ARE_COMMANDS = new Set(['ssh', 'parallel', 'at', 'batch'])
const CODE_FLAG = /^-[A-Za-z]*[cepr]$|^--(?:eval|print|expression|execute)$/
/** Options whose value is a program, or settings that name one. */
const RUNNING_OPTIONS: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|ok)(?:dir)?$/,
  fd: /^(?:-x|-X|--exec|--exec-batch)$/,
  gdb: /^-{1,2}(?:i?ex|eval-command)$/,
  git: /^(?:--exec-path|--config-env|--upload-pack|--receive-pack)$/,
  rg: /^--pre$/,
  rsync: /^(?:-\w*e|--rsh|--rsync-path)$/,
  tar: /^(?:-I|-F|--use-compress-program|--to-command|--checkpoint-action|--info-script|--rsh-command)$/,
  vi: /^(?:-c|--cmd)$/,
  vim: /^(?:-c|--cmd)$/,
}

export function parseTemplate(source: string, parameters: ReadonlySet<string>): Template {
  const script = parse(source)
  const error = script.errors?.[0]
  if (error !== undefined)
    throw new TemplateError(`The command is not valid shell syntax: ${error.message}.`, error.pos)
  const slots = new Map<number, Slot>()
  for (const command of commandsOf(script))
    for (const slot of slotsOf(command, parameters)) slots.set(slot.pos, slot)
  refuseStrayPlaceholders(source, parameters, [...slots.values()])
  const ordered = [...slots.values()].sort((a, b) => a.pos - b.pos)
  refuseCodeOnInput(script, ordered)
  return {
    source,
    slots: ordered,
    words: simpleWords(script, parameters),
    placeholders: new Set(ordered.flatMap(({ pieces }) => parameterNames(pieces))),
  }
}

/** Commands of the script itself; those inside `$(…)` are left out, so that placeholders in them count as stray. */
function commandsOf(root: ParsedScript | SyntaxNode): Command[] {
  return nodesOf(root).filter(node => node.type === 'Command')
}

function nodesOf(root: ParsedScript | SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = []
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Word' || node.type === 'Assignment' || node.type === 'HereDoc') return
    found.push(node)
    forEachChild(node, visit)
  }
  visit(root)
  return found
}

/** `echo {x} | sh`: quoted or not, what comes out of the pipe is a program for whoever reads it as one. */
function refuseCodeOnInput(script: ParsedScript, slots: readonly Slot[]): void {
  for (const pipeline of nodesOf(script)) {
    if (pipeline.type !== 'Pipeline') continue
    const last = pipeline.commands.findLastIndex(part => commandsOf(part).some(readsCode))
    const end = pipeline.commands[last]?.pos ?? pipeline.pos
    const slot = slots.find(({ pos }) => pos >= pipeline.pos && pos < end)
    if (slot === undefined) continue
    const [name = ''] = parameterNames(slot.pieces)
    throw new TemplateError(
      `{${name}} becomes input of a command that runs its input as a program.`,
      slot.pos,
    )
  }
}

/** A shell or an interpreter without a file, also behind a wrapper (`sudo sh`, `docker exec -i web sh`). */
function readsCode({ name, suffix }: Command): boolean {
  const words = [name, ...suffix].filter(node => node?.type === 'Word').map(({ value }) => value)
  const at = words.findIndex(word => SHELL.test(word) || INPUT_INTERPRETER.test(word.split('/').at(-1) ?? ''))
  const first = words[0]?.split('/').at(-1) ?? ''
  if (LINES_ARE_COMMANDS.has(first) || (first === 'xargs' && at !== -1)) return true
  if (at === -1) return false
  // `-o pipefail` is no file either; and `-s`, `-` and `/dev/stdin` read the input whatever follows.
  const after = words.slice(at + 1).filter((_, index, all) => !/^[-+][oO]$/.test(all[index - 1] ?? ''))
  const input = SHELL.test(words[at] ?? '')
    ? /^-(?:\w*s)?$|^\/dev\/(?:stdin|fd\/0)$/
    : /^-$|^\/dev\/(?:stdin|fd\/0)$/
  return after.every(word => /^[-+]/.test(word)) || after.some(word => input.test(word))
}

function slotsOf(command: Command, parameters: ReadonlySet<string>): Slot[] {
  const words = command.suffix.filter((node): node is Word => node.type === 'Word')
  const program = command.name?.value.split('/').at(-1) ?? ''
  return words.flatMap((word, index) => {
    const pieces = toPieces(word.text, parameters)
    if (parameterNames(pieces).length === 0) return []
    const [name = ''] = parameterNames(pieces)
    if (word.parts !== undefined || /['"\\`$]/.test(word.text)) {
      throw new TemplateError(
        `{${name}} stands inside quotes or an expansion. Write it bare: a value is always passed as one argument.`,
        word.pos,
      )
    }
    const before = words[index - 1]
    const flag =
      before !== undefined && /^-./.test(before.value) && before.value !== '--' ? before : undefined
    const option = attachedOption(pieces) ?? flag?.value ?? ''
    if (isRun(program, words, index, option))
      throw new TemplateError(
        `{${name}} is an argument of '${program}', which would run it as a command.`,
        word.pos,
      )
    if (INTERPRETERS.test(program) && (isCode(program, words, index) || CODE_FLAG.test(option)))
      throw new TemplateError(`{${name}} is read as code by '${program}'.`, word.pos)
    return {
      pos: word.pos,
      end: word.end,
      pieces,
      flag: flag === undefined ? null : { name: flag.value, pos: flag.pos },
      afterDashes: words.slice(0, index).some(other => other.value === '--'),
    }
  })
}

/** `--eval={code}` and `-e{code}` are the option with its value. */
function attachedOption([first]: readonly Piece[]): string | undefined {
  if (first === undefined || !('text' in first)) return undefined
  return /^(--[\w-]+)=|^(-\w+)$/.exec(first.text)?.slice(1).find(Boolean)
}

/** Whether the word is a command, or goes to a shell: of `docker run image sh -c {x}` too. */
function isRun(program: string, words: readonly Word[], index: number, option: string): boolean {
  if (RUNS_ITS_ARGUMENTS.has(program) || SHELL.test(program)) return true
  if (RUNS_ITS_FIRST.has(program)) return words.findIndex(({ value }) => !value.startsWith('-')) === index
  const options = Object.hasOwn(RUNNING_OPTIONS, program) ? RUNNING_OPTIONS[program] : undefined
  if (options?.test(option) === true || (program === 'git' && isGitSetting(words, index, option))) return true
  const shell = words.slice(0, index).findLastIndex(({ value }) => SHELL.test(value))
  return shell !== -1 && (shell === index - 1 || /^-\w*c$/.test(option))
}

/** `git -c core.pager={x} log`, but not `git switch -c {x}`. */
function isGitSetting(words: readonly Word[], index: number, option: string): boolean {
  const isValue = (at: number): boolean => /^-[cC]$/.test(words[at - 1]?.value ?? '')
  return (
    option === '-c' && words.slice(0, index).every(({ value }, at) => value.startsWith('-') || isValue(at))
  )
}

/** The first operand of awk, sed and jq is a program, as is what follows `deno eval`. */
function isCode(program: string, words: readonly Word[], index: number): boolean {
  if (/^(?:deno|bun)$/.test(program)) return words.slice(0, index).some(({ value }) => value === 'eval')
  if (!/^(?:[gm]?awk|sed|jq)$/.test(program)) return false
  return words.findIndex(word => !word.value.startsWith('-')) === index
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
