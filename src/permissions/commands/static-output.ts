/**
 * What a command certainly prints, when it is as plain as `echo rm` or `printf '\x72m'`. Used only to look into
 * disguises (`$(echo rm) -rf /`, `echo cm0gLXJmIC8= | base64 -d | sh`), never to call anything safe.
 */
import type { Command, ParsedScript, Word } from 'unbash'
import type { Arg } from './args.ts'
import { programName, seen } from './args.ts'
import type { Scope } from './state.ts'

type Resolve = (word: Word, scope: Scope) => Arg[]

export function staticOutput(
  script: ParsedScript | undefined,
  scope: Scope,
  resolve: Resolve,
): string | null {
  const statement = script?.commands[0]
  if (script === undefined || statement === undefined || script.commands.length !== 1 || scope.depth > 20)
    return null
  const inner: Scope = { ...scope, depth: scope.depth + 1 }
  const node = statement.command
  const commands = node.type === 'Pipeline' ? node.commands : [node]
  let text: string | null = null
  for (const command of commands) {
    if (command.type !== 'Command' || command.name === undefined) return null
    text = commandOutput(commandArgs(command, inner, resolve), text, inner)
    if (text === null) return null
  }
  return text?.replace(/\n+$/, '') ?? null
}

export function commandArgs(command: Command, scope: Scope, resolve: Resolve): Arg[] {
  const words = command.name === undefined ? [] : [command.name]
  for (const arg of command.args) if (arg.type === 'Word') words.push(arg)
  return words.flatMap(word => resolve(word, scope))
}

/** Output of one stage, given what it reads. */
export function commandOutput(args: Arg[], stdin: string | null, scope: Scope): string | null {
  const [program = '', ...words] = args.map(seen)
  const flags = words.filter(word => word.startsWith('-'))
  const operands = words.filter(word => !word.startsWith('-'))
  switch (programName(program)) {
    case 'echo':
      return echoText(words)
    case 'printf':
      return printfText(words)
    case 'pwd':
      return scope.cwds?.[0] ?? null
    case 'which':
    case 'command':
    case 'type':
      return operands.at(-1) ?? null
    case 'tee':
      return stdin
    case 'cat':
      return operands.length === 0 || operands[0] === '-' ? stdin : null
    case 'base64':
      return stdin !== null && flags.length > 0 ? Buffer.from(stdin, 'base64').toString('utf8') : null
    default:
      return null
  }
}

function echoText(words: string[]): string {
  const flags = /^-[neE]+$/
  let at = 0
  while (flags.test(words[at] ?? '')) at += 1
  const escapes = words.slice(0, at).some(word => word.includes('e'))
  const text = words.slice(at).join(' ')
  return escapes ? unescapeText(text) : text
}

function printfText(words: string[]): string {
  const [format = '', ...values] = words[0] === '--' ? words.slice(1) : words
  let used = 0
  const text = unescapeText(format).replace(/%[-0-9.]*([sbdqc%])/g, (_, kind: string) => {
    if (kind === '%') return '%'
    const value = values[used++] ?? ''
    return kind === 'b' ? unescapeText(value) : value
  })
  return used < values.length && used > 0 ? `${text}${values.slice(used).join('')}` : text
}

function unescapeText(text: string): string {
  return text
    .replace(/\\x([0-9a-fA-F]{1,2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\0?([0-7]{1,3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8) & 255))
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', '\t')
}
