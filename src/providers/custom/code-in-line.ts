import { type Command, forEachChild, type ParsedScript, type SyntaxNode, type Word } from 'unbash'
import {
  baseName,
  isShell,
  isWrapper,
  readsFileOption,
  readsProgram,
  runsArguments,
} from './code-arguments.ts'
import { TemplateError } from './template-error.ts'

/** A word of the line that holds placeholders. */
interface Place {
  readonly pos: number
  /** The first of them. */
  readonly name: string
}

/** Refuses a line for bash in which a value can come to run, by whatever way the shell offers. */
export function refuseCodeInLine(script: ParsedScript, places: readonly Place[]): void {
  const [first] = places
  if (first === undefined) return
  refuseParts(script, first)
  refuseCodeOnInput(script, places)
  refuseSteps(script, first)
}

/** Commands of the script itself; those inside `$(…)` are left out, so that placeholders in them count as stray. */
export function commandsOf(root: ParsedScript | SyntaxNode): Command[] {
  return nodesOf(root).filter(node => node.type === 'Command')
}

function nodesOf(root: ParsedScript | SyntaxNode, isDeep = false): SyntaxNode[] {
  const found: SyntaxNode[] = []
  const visit = (node: SyntaxNode): void => {
    if (!isDeep && (node.type === 'Word' || node.type === 'Assignment' || node.type === 'HereDoc')) return
    found.push(node)
    forEachChild(node, visit)
  }
  visit(root)
  return found
}

/**
 * What the shell itself may run later, from a variable that a value got into (`read`, `$(…)`): arithmetic runs what stands
 * in an index, and a program or an argument of a shell that is no plain word may be anything.
 */
function refuseParts(script: ParsedScript, { name }: Place): void {
  for (const node of nodesOf(script, true)) {
    const part = partThatRuns(node)
    if (part === undefined) continue
    throw new TemplateError(
      `A command with {${name}} cannot have ${part}: a value could be run there. Write a script instead.`,
      node.pos,
    )
  }
}

function partThatRuns(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'Function':
      return 'functions'
    case 'Coproc':
      return 'coprocesses'
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
    case 'ArithmeticFor':
    case 'TestCommand':
    case 'Slice':
      return 'arithmetic or [[ … ]]'
    case 'ParameterExpansion':
      return node.index === undefined ? undefined : 'arithmetic in an index'
    case 'ProcessSubstitution':
      return node.operator === '>' ? '>(…)' : undefined
    case 'Command':
      return runsText(node) ? 'a program or code that is not spelled out' : undefined
    default:
      return undefined
  }
}

function runsText(command: Command): boolean {
  const words = wordsOf(command)
  const [program] = words
  if (program === undefined) return false
  if (!isPlain(program) || /^(?:let|declare|typeset|local)$/.test(program.value)) return true
  if (runsArguments(baseName(program.value)) && !words.every(isPlain)) return true
  const at = words.findIndex(({ value }) => readsProgram(value))
  if (at === -1) return false
  // Up to its file, or to its code behind `-c`: what follows are arguments.
  const after = words.slice(at + 1)
  const operand = after.findIndex(({ value }) => !/^[-+]/.test(value))
  return !after.slice(0, operand === -1 ? after.length : operand + 1).every(isPlain)
}

/** `echo {x} | sh`: quoted or not, what comes out of the pipe is a program for whoever reads it as one. */
function refuseCodeOnInput(script: ParsedScript, places: readonly Place[]): void {
  for (const pipeline of nodesOf(script)) {
    if (pipeline.type !== 'Pipeline') continue
    const last = pipeline.commands.findLastIndex(part => commandsOf(part).some(readsCode))
    const end = pipeline.commands[last]?.pos ?? pipeline.pos
    const place = places.find(({ pos }) => pos >= pipeline.pos && pos < end)
    if (place === undefined) continue
    throw new TemplateError(
      `{${place.name}} is piped into a command that runs its input as a program.`,
      place.pos,
    )
  }
}

/** Those for which every line of their input is a command. */
const LINES_ARE_COMMANDS = new Set(
  (
    'ssh parallel at batch crontab capsh setarch linux32 linux64 unshare nsenter chroot su newgrp sg script ' +
    'gdb lldb mysql psql sqlite3'
  ).split(' '),
)

/** A shell or an interpreter without a file, also behind a wrapper (`sudo sh`, `docker exec -i web sh`). */
function readsCode(command: Command): boolean {
  const words = wordsOf(command).map(({ value }) => value)
  const at = words.findIndex(readsProgram)
  const first = baseName(words[0] ?? '')
  const isRoot = first === 'sudo' && words.some(word => /^-\w*[si]/.test(word))
  if (isRoot || LINES_ARE_COMMANDS.has(first) || (first === 'xargs' && (at !== -1 || startsItsInput(words))))
    return true
  if (readsFileOption(first))
    return /(?: -f ?| --(?:make)?file[= ])(?:-|\/dev\/stdin)(?: |$)/.test(words.join(' '))
  if (at === -1) return false
  const input = isShell(words[at] ?? '')
    ? /^-(?:\w*s)?$|^\/dev\/(?:stdin|fd\/0)$/
    : /^-$|^\/dev\/(?:stdin|fd\/0)$/
  // `-o pipefail` is no file; and `-s`, `-` and `/dev/stdin` read the input whatever follows.
  const after = words.slice(at + 1).filter((_, index, all) => !/^[-+][oO]$/.test(all[index - 1] ?? ''))
  return after.every(word => /^[-+]/.test(word)) || after.some(word => input.test(word))
}

/** `xargs sudo` and `xargs -I% %`, but not `xargs wc -l`. */
function startsItsInput(words: readonly string[]): boolean {
  const takesNext =
    /^(?:-\w*[adEIJLnPRsS]|--(?:arg-file|delimiter|max-(?:args|chars|procs)|process-slot-var))$/
  const started = words.find(
    (word, index) => index > 0 && !word.startsWith('-') && !takesNext.test(words[index - 1] ?? ''),
  )
  if (started === undefined) return false
  const at = words.findIndex(word => /^-\w*I/.test(word))
  const replaced = words[at]?.replace(/^-\w*?I/, '') || words[at + 1]
  return isWrapper(baseName(started)) || (at !== -1 && started.includes(replaced ?? ''))
}

/**
 * `echo {x} > f && sh f`: of a line with a value, no command runs a file that another one names. A file that none of them
 * names may still come from a value; nobody can tell.
 */
function refuseSteps(script: ParsedScript, { name }: Place): void {
  const nodes = nodesOf(script, true)
  const run = new Set([
    ...nodes.flatMap(node => (node.type === 'Command' ? filesRunBy(node) : [])),
    ...(commandsOf(script).some(readsCode) ? inputsIn(nodes) : []),
  ])
  const others = new Set(
    nodes.flatMap(node => (node.type === 'Word' && !run.has(node) ? [baseName(node.value)] : [])),
  )
  for (const word of run) {
    const parts = word.value.split('/').filter(part => !/^\.{0,2}$/.test(part))
    if (!parts.some(part => others.has(part))) continue
    throw new TemplateError(
      `'${word.value}' is run by one command and named by another, so that {${name}} could be run. Write a script instead.`,
      word.pos,
    )
  }
}

/** Its program if that is a file, what a wrapper starts, and the file that a shell or an interpreter is given. */
function filesRunBy(command: Command): Word[] {
  const words = wordsOf(command)
  const [program] = words
  if (program === undefined) return []
  const isOperand = ({ value }: Word): boolean => !/^[-+]/.test(value)
  if (runsArguments(baseName(program.value))) return words.slice(1).filter(isOperand)
  const after = words.slice(words.findIndex(({ value }) => readsProgram(value)) + 1)
  const file = after.length === words.length ? undefined : after.find(isOperand)
  const given = words.filter((_, index) => /^(?:-f|--file|--makefile)$/.test(words[index - 1]?.value ?? ''))
  return [
    ...(program.value.includes('/') ? [program] : []),
    ...(file === undefined ? [] : [file]),
    ...(readsFileOption(baseName(program.value)) ? given : []),
  ]
}

/** What goes into commands that run their input: from a file, or through a pipe. */
function inputsIn(nodes: readonly SyntaxNode[]): Word[] {
  return nodes.flatMap(node => {
    if (node.type === 'Redirect' && node.operator.startsWith('<')) return node.target ?? []
    if (node.type !== 'Pipeline') return []
    const last = node.commands.findLastIndex(part => commandsOf(part).some(readsCode))
    return node.commands.slice(0, Math.max(last, 0)).flatMap(part => commandsOf(part).flatMap(wordsOf))
  })
}

function wordsOf({ name, suffix }: Command): Word[] {
  return [name, ...suffix].filter((node): node is Word => node?.type === 'Word')
}

/** Nothing is put in by the shell, but for the home folder. */
function isPlain({ text, parts = [] }: Word): boolean {
  if (/^"?\$(?:HOME|\{HOME\})\/[\w./-]+"?$/.test(text)) return true
  return parts.every(
    part =>
      /^(?:Literal|SingleQuoted|AnsiCQuoted)$/.test(part.type) ||
      (part.type === 'DoubleQuoted' && part.parts.every(inner => inner.type === 'Literal')),
  )
}
